"""Scenes: which rooms exist, how a scene is described, checked and built."""
