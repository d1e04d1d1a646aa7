"""What objects look like and how large they are, and more of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import ActionFunction, Number
from inhabit.envs.simulators.household.actions.arranging import copy, walkable
from inhabit.envs.simulators.household.actions.handling import pick_up
from inhabit.envs.simulators.household.actions.targets import demand, target
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import Box, xyz


def geometry(
    house: House,
    *,
    object_id: str,
    triangles: bool = False,
    uv: bool = False,
    normals: bool = False,
) -> JsonValue:
    """The mesh that is drawn for an object, in the world: our own shape, without `uv`."""
    del uv
    thing = target(house, object_id, force=True)
    house.look(house.camera(), (1, 1))  # brings the drawing up to date
    shape = house.picture.shape(thing.id)
    if shape is None:
        return []
    mesh, places, facing = shape
    made: dict[str, JsonValue] = {"name": str(thing["name"]), "vertices": _points(places)}
    if triangles:
        made["triangles"] = [int(corner) for corner in mesh.faces.ravel()]
    if normals:
        made["normals"] = _points(facing)
    return [made]


def scale(
    house: House,
    *,
    object_id: str,
    scale: Number,
    scale_over_seconds: Number = 1.0,
    force_action: bool = False,
) -> JsonValue:
    """Make an object larger or smaller; the middle of its base stays."""
    del scale_over_seconds
    thing = target(house, object_id, force=force_action)
    demand(scale > 0.0, f"scale must be > 0; it is {scale:g}.")
    demand(thing.kind != "Floor", "The floor can't be scaled.")
    center = thing.box.center.copy()
    center[1] += (scale - 1.0) * thing.box.reach[1]
    house.world.resize(thing, Box(center, thing.box.half * scale, thing.box.axes))
    if not thing["pickupable"]:
        house.world.cells = walkable(house.world)
    return None


def create(
    house: House,
    *,
    object_type: str,
    randomize_object_appearance: bool = False,
    object_variation: int = 0,
) -> JsonValue:
    """Put one more object of a type that the room has into the agent's hand."""
    del randomize_object_appearance, object_variation
    world = house.world
    alike = [t for t in world.listed().values() if t.kind == object_type and t["pickupable"]]
    demand(bool(alike), f"The room has no {object_type} that can be picked up, to be copied.")
    demand(house.agent.held is None, "Agent hand has something in it already!", "InventoryFull")
    first = alike[0]
    number = sum(other.kind == object_type for other in world.things.values())
    x, y, z = (float(first["position"][axis]) for axis in "xyz")
    made = copy(world, first, (x, y, z), number)
    pick_up(house, object_id=made.id, force_action=True)
    return made.id


def _points(values: NDArray[np.float32]) -> list[JsonValue]:
    return [dict(xyz(value)) for value in values]


ACTIONS: Mapping[str, ActionFunction] = {
    "GetInSceneAssetGeometry": geometry,
    "ScaleObject": scale,
    "CreateObject": create,
}
