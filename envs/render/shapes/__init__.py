"""Household objects from numbers: `shape("Mug", size, Look(), seed=3)` is a mug of that size."""

from envs.render.shapes.look import Look
from envs.render.shapes.registry import KINDS, shape

__all__ = ["KINDS", "Look", "shape"]
