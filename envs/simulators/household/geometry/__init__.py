"""Geometry of objects and rooms: boxes, frames, fronts and outlines."""
