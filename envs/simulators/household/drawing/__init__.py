"""Builds the renderer's stage from the world."""
