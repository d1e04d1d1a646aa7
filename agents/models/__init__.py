"""Backends: local transformers, vLLM, chat endpoints, scripted models."""
