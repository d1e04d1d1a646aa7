"""A usual size and the telling states of every kind: for contact sheets and tests."""

from __future__ import annotations

from collections.abc import Mapping

from envs.render.mesh import Vector
from envs.render.shapes.look import Look

_OPEN = ("half open", Look(openness=0.5)), ("open", Look(openness=1.0))
_FILLED = ("water", Look(filled="water")), ("coffee", Look(filled="coffee"))
_DIRTY = (("dirty", Look(dirty=True)),)
_BROKEN = (("broken", Look(broken=True)),)
_ON = (("on", Look(on=True)),)
_COOKED = (("cooked", Look(cooked=True)),)
_SLICED = (("sliced", Look(sliced=True)),)

SIZES: Mapping[str, Vector] = {
    "Apple": (0.11, 0.11, 0.11),
    "AppleSliced": (0.02, 0.10, 0.10),
    "Bottle": (0.10, 0.25, 0.10),
    "Bowl": (0.19, 0.09, 0.19),
    "Bread": (0.15, 0.14, 0.29),
    "BreadSliced": (0.14, 0.14, 0.02),
    "ButterKnife": (0.02, 0.006, 0.24),
    "Cup": (0.11, 0.15, 0.11),
    "Egg": (0.06, 0.07, 0.06),
    "EggCracked": (0.11, 0.03, 0.10),
    "Fork": (0.03, 0.02, 0.25),
    "Glassbottle": (0.08, 0.24, 0.08),
    "Kettle": (0.21, 0.19, 0.19),
    "Knife": (0.04, 0.015, 0.32),
    "Ladle": (0.10, 0.06, 0.33),
    "Lettuce": (0.19, 0.16, 0.20),
    "LettuceSliced": (0.03, 0.13, 0.13),
    "Mug": (0.12, 0.10, 0.09),
    "Pan": (0.28, 0.05, 0.46),
    "PepperShaker": (0.06, 0.11, 0.06),
    "Plate": (0.25, 0.022, 0.25),
    "Pot": (0.33, 0.16, 0.27),
    "Potato": (0.12, 0.08, 0.09),
    "PotatoSliced": (0.02, 0.08, 0.09),
    "SaltShaker": (0.06, 0.11, 0.06),
    "SoapBottle": (0.10, 0.22, 0.10),
    "Spatula": (0.08, 0.03, 0.32),
    "Spoon": (0.04, 0.02, 0.21),
    "SprayBottle": (0.07, 0.25, 0.11),
    "Tomato": (0.12, 0.10, 0.12),
    "TomatoSliced": (0.02, 0.09, 0.10),
    "WineBottle": (0.085, 0.33, 0.085),
}
"""Metres; close to the medians of the 120 rooms of iTHOR, in an object's own frame."""

LOOKS: Mapping[str, tuple[tuple[str, Look], ...]] = {
    "Apple": _SLICED,
    "Bottle": _FILLED[:1] + _BROKEN,
    "Bowl": _FILLED + _DIRTY + _BROKEN,
    "Bread": _SLICED + _COOKED,
    "Cup": _FILLED + _DIRTY + _BROKEN,
    "Egg": _BROKEN + _COOKED + (("fried", Look(cooked=True, broken=True)),),
    "Glassbottle": _FILLED[:1],
    "Kettle": _OPEN[1:] + _FILLED[:1],
    "Lettuce": _SLICED,
    "Mug": _FILLED + _DIRTY + _BROKEN,
    "Pan": _DIRTY,
    "Plate": _DIRTY + _BROKEN,
    "Pot": _FILLED[:1] + _DIRTY,
    "Potato": _SLICED + _COOKED,
    "PotatoSliced": _COOKED,
    "SoapBottle": (("used up", Look(used_up=True)),),
    "SprayBottle": (("used up", Look(used_up=True)),),
    "Tomato": _SLICED,
    "WineBottle": (("wine", Look(filled="wine")), *_BROKEN),
}
"""(name, look) beside the plain one."""
