"""Actions of appearance: randomize and restore materials, colours and light."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field

from inhabit.envs.simulators.household.actions.arguments import ActionFunction, Number, Refusal
from inhabit.envs.simulators.household.drawing.picture import Randomization
from inhabit.envs.simulators.household.episode.house import House

Range = Annotated[list[Number], Field(min_length=2, max_length=2)]
"""Minimum and maximum."""


def randomize_materials(house: House, *, random_seed: int | None = None) -> None:
    """Randomize all materials; without a seed, use the next variant."""
    salt = house.randomization.materials + 1 if random_seed is None else 1 + abs(random_seed)
    house.randomization = replace(house.randomization, materials=salt)


def randomize_colors(house: House) -> None:
    """Randomize all colours, and the materials with them."""
    randomize_materials(house)


def reset_materials(house: House) -> None:
    """Restore the original materials."""
    house.randomization = replace(house.randomization, materials=0)


def randomize_lighting(
    house: House,
    *,
    brightness: Range | None = None,
    randomize_color: bool = True,
    hue: Range | None = None,
    saturation: Range | None = None,
    random_seed: int = 0,
) -> None:
    """Randomize the brightness and, optionally, the colour of the light.

    Args:
        house: where.
        brightness: factor, by default 0.5 to 1.5.
        randomize_color: whether the colour changes too.
        hue: 0 to 1, by default any.
        saturation: 0 to 1, by default 0.1 to 0.4. THOR's default is 0.5 to 1; of its lamps there
            are many, and here is one.
        random_seed: chooses.
    """
    choose = np.random.default_rng([abs(random_seed), 0x11647])
    factor = _from(choose, brightness or [0.5, 1.5], "brightness", 10.0)
    tone = _from(choose, hue or [0.0, 1.0], "hue", 1.0)
    strength = _from(choose, saturation or [0.1, 0.4], "saturation", 1.0)
    color = colorsys.hsv_to_rgb(tone, strength, 1.0) if randomize_color else Randomization().color
    house.randomization = replace(house.randomization, brightness=factor, color=color)


def _from(choose: np.random.Generator, limits: list[float], name: str, most: float) -> float:
    low, high = limits
    if not 0.0 <= low <= high <= most:
        raise Refusal(f"{name} must be a range within 0 to {most:g}; got {limits}.")
    return float(choose.uniform(low, high))


def reset_lighting(house: House) -> None:
    """Restore the original light."""
    house.randomization = Randomization(materials=house.randomization.materials)


ACTIONS: Mapping[str, ActionFunction] = {
    "RandomizeMaterials": randomize_materials,
    "ResetMaterials": reset_materials,
    "RandomizeLighting": randomize_lighting,
    "ResetLighting": reset_lighting,
    "RandomizeColors": randomize_colors,
    "ResetColors": reset_materials,
}
