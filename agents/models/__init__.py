"""Backends of planners: local transformers, scripted models, chat endpoints."""
