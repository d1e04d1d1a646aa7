"""Household objects from numbers: `shape("Mug", size, Look(), seed=3)` is a mug of that size.

A new kind is a builder in the file of its family, named in that file's `KINDS` with its usual size
and its telling states; `scripts/contact_sheet` shows it, and the tests then hold it to
what holds of all.
"""

from inhabit.envs.simulators.render.shapes.finishes import Look
from inhabit.envs.simulators.render.shapes.registry import FORMS, KINDS, shape

__all__ = ["FORMS", "KINDS", "Look", "shape"]
