"""Furniture that belongs together: one wood for a dresser and its drawers, one for a kitchen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from random import Random

from envs.household.boxes import Box
from envs.household.world import Thing
from envs.render.material import Material
from envs.render.mesh import Mesh, join
from envs.render.shapes.finishes import COUNTERS, FRONTS, FURNITURE, METALS, shade
from envs.render.solids import box

_FITTED = frozenset({"Cabinet", "Drawer", "Shelf"})
_OWNERS = frozenset({"CoffeeTable", "Desk", "Dresser", "ShelvingUnit", "SideTable", "TVStand"})
_WOODS = tuple(dict.fromkeys((*FRONTS, *FURNITURE)))


class Joinery:
    """The woods and metals of one room."""

    def __init__(self, things: Iterable[Thing], seed: int) -> None:
        """Choose them.

        Args:
            things: of the room.
            seed: chooses.
        """
        things = tuple(things)
        self._owners = {thing.id: _owner(thing, things) for thing in things}
        self._racks = {
            owner for part, owner in self._owners.items() if part.startswith("Shelf|") and owner
        }
        self._seed = seed

    @property
    def stone(self) -> Material:
        """Of all worktops."""
        return Random(f"stone {self._seed}").choice(COUNTERS)

    @property
    def front(self) -> Material:
        """Of all that is fitted."""
        return self._choice(None)[0]

    def finish(self, thing: Thing, mesh: Mesh) -> Mesh:
        """A piece of furniture in the woods and metals of what it belongs to."""
        if thing.kind not in _FITTED and thing.kind not in _OWNERS:
            return mesh
        owner = thing.id if thing.kind in _OWNERS else self._owners.get(thing.id)
        wood, metal = self._choice(owner)
        if thing.kind == "ShelvingUnit" and thing.id in self._racks:
            return _rack(thing.box, wood)
        return replace(mesh, palette=tuple(_swapped(m, wood, metal) for m in mesh.palette))

    def _choice(self, owner: str | None) -> tuple[Material, Material]:
        choose = Random(f"joinery {owner} {self._seed}")
        return choose.choice(FRONTS), choose.choice(METALS)


def _swapped(material: Material, wood: Material, metal: Material) -> Material:
    """One of a mesh's materials, if it is a wood or a shade of one, or a metal, made another."""
    if material in METALS:
        return metal
    for old in _WOODS:
        factor = material.color[0] / old.color[0]
        if material == old or material == shade(old, factor):
            return shade(wood, factor)
    return material


def _owner(thing: Thing, things: Iterable[Thing]) -> str | None:
    """The smallest piece of furniture that a part is built into."""
    if thing.kind not in _FITTED:
        return None
    around = [
        (float(other.box.half.prod()), other.id)
        for other in things
        if other.kind in _OWNERS and other.box.holds(thing.box.center, 0.05)
    ]
    return min(around, default=(0.0, None))[1]


def _rack(around: Box, wood: Material) -> Mesh:
    """A shelving unit without boards, for they are things of their own: sides, back and top."""
    x, y, z = (2 * around.half).tolist()
    wall = 0.02
    sides = [box((wall, y, z), wood).shifted(k * (x - wall) / 2) for k in (-1, 1)]
    back = box((x, y, wall / 2), shade(wood, 0.85)).shifted(z=(wall / 2 - z) / 2)
    top = box((x, wall, z), wood).shifted(y=(y - wall) / 2)
    return join([*sides, back, top])


def beds_turned(things: Mapping[str, Thing]) -> frozenset[str]:
    """Ids of the beds whose head is at their back, as the pillows on them tell."""
    turned = set()
    for bed in things.values():
        if bed.kind == "Bed":
            pillows = [things[i].box.center for i in bed.contents if things[i].kind == "Pillow"]
            if sum(float(bed.box.to_own(center)[2]) for center in pillows) < 0:
                turned.add(bed.id)
    return frozenset(turned)
