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
    "ArmChair": (0.90, 0.92, 0.90),
    "Bed": (1.60, 0.92, 2.08),
    "Cart": (0.75, 0.85, 0.45),
    "Chair": (0.48, 0.98, 0.52),
    "CoffeeTable": (1.10, 0.44, 0.65),
    "CounterBase": (1.40, 0.87, 0.62),
    "CounterTop": (1.40, 0.91, 0.65),
    "Desk": (1.35, 0.78, 0.65),
    "DiningTable": (1.60, 0.80, 0.95),
    "DogBed": (0.95, 0.18, 0.80),
    "Dresser": (1.05, 0.97, 0.50),
    "Footstool": (0.32, 0.30, 0.28),
    "Ottoman": (0.85, 0.43, 0.52),
    "Shelf": (0.80, 0.25, 0.25),
    "ShelvingUnit": (0.95, 1.48, 0.40),
    "SideTable": (0.50, 0.66, 0.45),
    "Sofa": (2.10, 0.92, 0.95),
    "Stool": (0.38, 0.76, 0.38),
    "TVStand": (1.40, 0.55, 0.45),
    "Box": (0.50, 0.32, 0.44),
    "Cabinet": (0.42, 0.70, 0.42),
    "CoffeeMachine": (0.26, 0.44, 0.32),
    "Drawer": (0.48, 0.19, 0.45),
    "Fridge": (0.86, 1.87, 0.76),
    "GarbageCan": (0.39, 0.54, 0.39),
    "LaundryHamper": (0.49, 0.74, 0.50),
    "Microwave": (0.61, 0.35, 0.38),
    "Safe": (0.50, 0.50, 0.50),
    "StoveBurner": (0.22, 0.03, 0.22),
    "StoveKnob": (0.07, 0.07, 0.05),
    "Toaster": (0.33, 0.21, 0.20),
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
    "Bed": _DIRTY,
    "Box": _OPEN,
    "Cabinet": (*_OPEN, ("open left", Look(openness=1.0, hinge="left"))),
    "CoffeeMachine": _ON + _BROKEN,
    "Drawer": _OPEN,
    "Fridge": _OPEN,
    "LaundryHamper": _OPEN[1:],
    "Microwave": _OPEN + _ON,
    "Safe": _OPEN,
    "StoveBurner": _ON,
    "StoveKnob": _ON,
    "Toaster": _ON,
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
