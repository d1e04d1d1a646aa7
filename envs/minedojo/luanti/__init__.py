"""Luanti as the world: one process per scene, driven over one connection."""
