"""Chooses common materials for matching furniture: a dresser with its drawers, a kitchen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random

import numpy as np

from inhabit.envs.simulators.household.drawing.carcass import carcass
from inhabit.envs.simulators.household.geometry.boxes import Box
from inhabit.envs.simulators.household.geometry.frames import into, out_of
from inhabit.envs.simulators.household.geometry.fronts import CARCASSES
from inhabit.envs.simulators.household.geometry.outline import Outline
from inhabit.envs.simulators.household.state.world import SimObject
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector
from inhabit.envs.simulators.render.shapes.finishes import (
    COUNTERS,
    FRONTS,
    METALS,
    WHITEWOOD,
    WOODS,
    shade,
)
from inhabit.envs.simulators.render.solids import box

_FITTED = frozenset({"Cabinet", "Drawer", "Shelf"})
_PANELLED = frozenset({"Dresser", "TVStand"})
_BOARD = 0.02
_WITHIN = 0.97
"""Fraction of a rack's width and depth that its boards have."""
_AT_WALL = 0.3
"""A front nearer to a wall than this, in metres, cannot be seen."""
_WOODS = tuple(dict.fromkeys((*FRONTS, *WOODS, WHITEWOOD)))


class Joinery:
    """The woods and metals of one room."""

    def __init__(self, things: Iterable[SimObject], seed: int) -> None:
        """Choose the materials.

        Args:
            things: of the room.
            seed: chooses.
        """
        things = tuple(things)
        self._owners = {thing.id: _owner(thing, things) for thing in things}
        self._framed = {owner for owner in self._owners.values() if owner is not None}
        self._seed = seed

    @property
    def stone(self) -> Material:
        """The material of all worktops."""
        return Random(f"stone {self._seed}").choice(COUNTERS)

    @property
    def front(self) -> Material:
        """The material of all fitted furniture."""
        return self._choice(None)[0]

    def board(self, thing: SimObject, things: Mapping[str, SimObject]) -> Mesh | None:
        """A shelf of a rack, as wide and deep as the rack; None if it belongs to none."""
        owner = self._owners.get(thing.id)
        if thing.kind != "Shelf" or owner is None or owner not in things:
            return None
        if things[owner].kind != "ShelvingUnit":
            return None
        around, wood = things[owner].box, self._choice(owner)[0]
        x, _, z = (2 * around.half * _WITHIN).tolist()
        slab = box((x, _BOARD, z), wood)
        middle = around.center.copy()
        middle[1] = thing.box.low[1] - _BOARD / 2
        return into(thing.box, out_of(Box(middle, around.half, around.axes), slab))

    def framed(self, thing: SimObject) -> bool:
        """Whether its drawers, doors or boards are objects of their own."""
        return thing.id in self._framed

    def frame(self, thing: SimObject, surface: float, size: Vector) -> Mesh:
        """The frame that holds the drawers, doors or boards of a piece of furniture.

        Args:
            thing: the furniture.
            surface: height of its top over its bottom, metres.
            size: of the box to fill, metres.
        """
        wood = self._choice(thing.id)[0]
        return carcass(size, surface, wood, panelled=thing.kind in _PANELLED)

    def finish(self, thing: SimObject, mesh: Mesh) -> Mesh:
        """A piece of furniture in the materials of the unit it belongs to."""
        if thing.kind not in _FITTED and thing.kind not in CARCASSES:
            return mesh
        owner = thing.id if thing.kind in CARCASSES else self._owners.get(thing.id)
        wood, metal = self._choice(owner)
        return replace(mesh, palette=tuple(_swapped(m, wood, metal) for m in mesh.palette))

    def _choice(self, owner: str | None) -> tuple[Material, Material]:
        choose = Random(f"joinery {owner} {self._seed}")
        return choose.choice(FRONTS), choose.choice(METALS)


def _swapped(material: Material, wood: Material, metal: Material) -> Material:
    """Replace a mesh's wood, its shades, or metal by another."""
    if material in METALS:
        return metal
    for old in _WOODS:
        factor = material.color[0] / old.color[0]
        if material == old or material == shade(old, factor):
            return shade(wood, factor)
    return material


def _owner(thing: SimObject, things: Iterable[SimObject]) -> str | None:
    """The smallest piece of furniture that a part is built into."""
    if thing.kind not in _FITTED:
        return None
    around = [
        (float(other.box.half.prod()), other.id)
        for other in things
        if other.kind in CARCASSES and other.box.holds(thing.box.center, 0.05)
    ]
    return min(around, default=(0.0, None))[1]


def quarters(things: Mapping[str, SimObject], outline: Outline) -> Mapping[str, float]:
    """Degrees by which furniture is rotated within its box, inferred from its surroundings.

    A bed's head is where its pillows are; a dresser's front is where its drawers' are; what has
    its front at a wall and its back in the room was built the other way round.
    """
    turns = {}
    for thing in things.values():
        if thing.kind == "Bed":
            pillows = [things[i].box.center for i in thing.contents if things[i].kind == "Pillow"]
            head = sum(float(thing.box.to_own(center)[2]) for center in pillows)
            turns[thing.id] = 180.0 if head < 0 else 0.0
        elif thing.kind in CARCASSES:
            turns[thing.id] = _front(thing, things.values(), outline)
    return {name: turn for name, turn in turns.items() if turn}


def _front(thing: SimObject, things: Iterable[SimObject], outline: Outline) -> float:
    votes: dict[float, int] = {}
    for part in things:
        if part.kind in ("Cabinet", "Drawer") and _owner(part, (thing,)) is not None:
            x, _, z = thing.box.axes.T @ part.box.axes[:, 2]
            quarter = float(round(np.degrees(np.arctan2(x, z)) / 90.0) * 90 % 360)
            votes[quarter] = votes.get(quarter, 0) + 1
    if votes:
        return max(votes, key=lambda quarter: (votes[quarter], -quarter))
    ahead = thing.box.center + thing.box.axes[:, 2] * (thing.box.half[2] + _AT_WALL)
    behind = thing.box.center - thing.box.axes[:, 2] * (thing.box.half[2] + _AT_WALL)
    walled = not outline.holds(float(ahead[0]), float(ahead[2]))
    return 180.0 if walled and outline.holds(float(behind[0]), float(behind[2])) else 0.0
