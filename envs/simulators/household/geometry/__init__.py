"""Boxes and frames: the shapes of things and of the room."""
