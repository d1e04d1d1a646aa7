"""The slices of an object: new objects with ids of their own, in its place."""

from __future__ import annotations

from typing import Any

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import Box, angles, box_metadata, xyz
from inhabit.envs.simulators.household.state.world import SimObject, World
from inhabit.envs.simulators.household.types.things import those

_COOKABLE = those("cooks")
_CUT = 0.06
"""Gap between slices, as a fraction of a slice's thickness."""


def cut(world: World, thing: SimObject) -> list[SimObject]:
    """Replace an object by its slices; an egg by its contents.

    The whole stays on THOR's list with `isSliced` (an egg with `isBroken` too), but it is nowhere.
    """
    parents = thing.parents
    world.link(thing.id, ())
    if thing.kind == "Egg":
        kind, boxes, first = "EggCracked", [_spilled(thing.box)], 0
        world.change(thing, isSliced=True, isBroken=thing["breakable"])
    else:
        count = world.rules.slices[thing.kind]
        kind, boxes = f"{thing.kind}Sliced", _slabs(thing, count)
        first = world.rules.first_slice
        world.change(thing, isSliced=True)
    world.vanish(thing)
    made = []
    for number, box in enumerate(boxes, first):
        piece = _piece(thing, kind, number, box, len(boxes))
        if world.rules.names_as_in_thor and kind != "EggCracked":
            piece["name"] = f"{thing['assetId'] or thing.kind}_Slice_{number + 1}"
        made.append(world.add(piece, box))
        world.link(piece["objectId"], parents)
    return made


def _slabs(thing: SimObject, count: int) -> list[Box]:
    """Equal slabs across the longest horizontal side."""
    box = thing.box
    level = [axis for axis in range(3) if axis != box.up]
    along = max(level, key=lambda axis: (round(float(box.half[axis]), 4), axis))
    thick = box.half[along] / count
    half = box.half.copy()
    half[along] = thick * (1 - _CUT)
    places = (2 * np.arange(count) + 1 - count) * thick
    return [Box(box.center + box.axes[:, along] * place, half, box.axes) for place in places]


def _spilled(box: Box) -> Box:
    half = np.array((0.06, 0.012, 0.06))
    center = box.center.copy()
    center[1] = box.low[1] + half[1]
    return Box(center, half, np.eye(3))


def _piece(thing: SimObject, kind: str, number: int, box: Box, count: int) -> dict[str, Any]:
    return {
        **thing.metadata,
        "assetId": "",
        "breakable": False,
        "cookable": kind in _COOKABLE,
        "isBroken": False,
        "isPickedUp": False,
        "isSliced": False,
        "mass": thing["mass"] / count,
        "name": f"{thing['name']}_{kind}_{number}",
        "objectId": f"{thing.id}|{kind}_{number}",
        "objectType": kind,
        "parentReceptacles": None,
        "position": xyz(box.center),
        "rotation": angles(box.axes),
        "sliceable": False,
        **box_metadata(box, oriented=True),
    }
