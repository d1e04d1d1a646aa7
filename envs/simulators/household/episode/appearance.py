"""The colour and the material of a thing in words, as it is drawn."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from colorsys import rgb_to_hsv

import numpy as np

from inhabit.envs.simulators.household.episode.house import House, Settings
from inhabit.envs.simulators.household.rooms.ithor import Room
from inhabit.envs.simulators.household.rooms.shared import Shared
from inhabit.envs.simulators.render.material import Color, Material, Pattern
from inhabit.envs.simulators.render.mesh import Mesh
from inhabit.envs.simulators.render.shapes.finishes import BRASS, CHROME, STEEL

_MOST = 0.5
"""Share of a surface from which on its colour or material is that of the thing."""
_WOODEN = (Pattern.WOOD, Pattern.PLANKS)
_BLACK, _WHITE = 0.26, 0.83
"""Values (HSV) up to which a colour is black or dark, and from which on it is white."""
_PALE, _STRONG, _RED = 0.13, 0.22, 0.5
"""Saturations (HSV) up to which a colour is white, grey or black, from which on it has a name, and
from which on it is red."""
_BROWN = 14, 44, 0.75
"""Hues in degrees, and the highest value, of brown."""
_HUES = ((14, "red"), (52, ""), (68, "yellow"), (82, ""), (175, "green"), (188, ""), (255, "blue"),
         (263, ""), (300, "purple"), (346, ""), (361, "red"))  # fmt: skip
"""Upper bounds in degrees, and the name; "" between two names."""


def appearances(room: Room) -> Mapping[str, Sequence[str]]:
    """What the things of a room look like at first.

    Returns:
        Object id -> adjectives that hold, such as ("brown", "wooden"); none for a thing of many
        colours, or whose colour lies between two names.
    """
    house = House(room, Settings(), 0, itertools.count(), Shared())
    meshes = house.picture.meshes(house.world)
    return {id: adjectives(mesh) for id, mesh in meshes.items()}


def adjectives(mesh: Mesh) -> Sequence[str]:
    """The adjectives for a mesh: a colour, and "wooden" or "metal"."""
    corners = mesh.vertices[mesh.faces]
    sides = corners[:, 1:] - corners[:, :1]
    areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    total = float(areas.sum())
    found: dict[str, float] = {}
    for at, material in enumerate(mesh.palette):
        share = float(areas[mesh.materials == at].sum()) / total if total else 0.0
        for word in {_named(material.color), _made_of(material)} - {""}:
            found[word] = found.get(word, 0.0) + share
    return sorted(word for word, share in found.items() if share >= _MOST)


def _made_of(material: Material) -> str:
    if material.pattern in _WOODEN:
        return "wooden"
    return "metal" if material in (STEEL, CHROME, BRASS) else ""


def _named(color: Color) -> str:
    """The name of a colour; "" if people would not agree on one."""
    turn, saturation, value = rgb_to_hsv(*color)
    hue = 360 * turn
    if value <= _BLACK:
        return "black" if saturation < _STRONG else "dark"
    if saturation <= _PALE:
        return "white" if value >= _WHITE else "gray"
    if saturation < _STRONG:
        return ""
    if _BROWN[0] <= hue < _BROWN[1]:
        return "brown" if value < _BROWN[2] else ""
    name = next(name for bound, name in _HUES if hue < bound)
    return "" if name == "red" and saturation < _RED else name
