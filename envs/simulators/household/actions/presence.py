"""Which objects there are: removed, hidden, left out, spawned, and their meshes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue, ValidationError

from inhabit.envs.core import SceneError, UnavailableError
from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    Vector,
    demand,
    target,
)
from inhabit.envs.simulators.household.actions.arranging import copy, walkable
from inhabit.envs.simulators.household.actions.handling import pick_up
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import Box, xyz
from inhabit.envs.simulators.household.placement import placing
from inhabit.envs.simulators.household.rooms import procedural
from inhabit.envs.simulators.household.rooms.templates import assets
from inhabit.envs.simulators.household.state.world import SimObject


def remove(house: House, *, object_id: str) -> None:
    """Take a thing out of the scene for good; metadata lists it no longer."""
    thing = _there(house, object_id)
    house.world.remove(thing.id)
    _walk_anew(house, thing)


def disable(house: House, *, object_id: str) -> None:
    """Take a thing out of the scene and off every list, until it is enabled."""
    thing = _there(house, object_id)
    if thing.away is None:
        house.world.disable(thing)
        _walk_anew(house, thing)


def enable(house: House, *, object_id: str) -> None:
    """Bring back what was disabled, where it was."""
    thing = _known(house, object_id)
    if thing.away is not None:
        house.world.enable(thing)
        _walk_anew(house, thing)


def hide(house: House, *, object_id: str, hide_contained: bool = True) -> None:
    """Hide an object and, with `hideContained`, its contents; metadata goes on listing them."""
    thing = _there(house, object_id)
    for name in (object_id, *(house.world.within(object_id) if hide_contained else ())):
        if house.world.things[name].away is None:
            house.world.vanish(house.world.things[name])
    _walk_anew(house, thing)


def unhide(house: House, *, object_id: str) -> None:
    """Show what was hidden."""
    thing = _known(house, object_id)
    if thing["isSliced"]:
        raise Refusal(f"{object_id} is in pieces and can't be shown.")
    if thing.away is None:
        house.world.reappear(thing)
        _walk_anew(house, thing)


def unhide_all(house: House) -> None:
    """Show all that was hidden."""
    for thing in list(house.world.things.values()):
        if not thing.present and not thing["isSliced"]:
            unhide(house, object_id=thing.id)


def _known(house: House, object_id: str) -> SimObject:
    thing = house.world.things.get(object_id)
    if thing is None:
        raise Refusal(f"No object of id {object_id} found in scene.")
    return thing


def _there(house: House, object_id: str) -> SimObject:
    thing = _known(house, object_id)
    if thing.kind == "Floor":
        raise Refusal("The floor can't be taken away.")
    if object_id in house.world.in_hands:
        raise Refusal(f"{object_id} is in an agent's hand.")
    return thing


def _walk_anew(house: House, thing: SimObject) -> None:
    """What can't be picked up stands in the way while it is there."""
    if not thing["pickupable"]:
        house.world.cells = walkable(house.world)


def set_filter(house: House, *, object_ids: list[str]) -> None:
    """List only these things in the metadata from now on."""
    house.settings = replace(house.settings, listed=frozenset(object_ids))


def set_filter_by_type(
    house: House, *, object_types: list[str], allow_contains: bool = False
) -> None:
    """List only things of these types."""
    found = (
        thing.id
        for thing in house.world.things.values()
        if thing.kind in object_types
        or (allow_contains and any(kind in thing.kind for kind in object_types))
    )
    house.settings = replace(house.settings, listed=frozenset(found))


def reset_filter(house: House) -> None:
    """List everything again."""
    house.settings = replace(house.settings, listed=None)


def geometry(
    house: House, *, object_id: str, triangles: bool = False, normals: bool = False
) -> JsonValue:
    """The mesh that is drawn for an object, in the world: our own shape, without `uv`."""
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


def scale(house: House, *, object_id: str, scale: Number, force_action: bool = False) -> None:
    """Make an object larger or smaller; the middle of its base stays."""
    thing = target(house, object_id, force=force_action)
    demand(scale > 0.0, f"scale must be > 0; it is {scale:g}.")
    demand(thing.kind != "Floor", "The floor can't be scaled.")
    center = thing.box.center.copy()
    center[1] += (scale - 1.0) * thing.box.reach[1]
    house.world.resize(thing, Box(center, thing.box.half * scale, thing.box.axes))
    if not thing["pickupable"]:
        house.world.cells = walkable(house.world)


def create(house: House, *, object_type: str) -> JsonValue:
    """Put one more object of a type that the room has into the agent's hand."""
    world = house.world
    alike = [
        thing
        for thing in world.listed().values()
        if thing.kind == object_type and thing["pickupable"]
        if thing.present and not thing["isBroken"]
    ]
    demand(bool(alike), f"The room has no {object_type} that can be picked up, to be copied.")
    demand(house.agent.held is None, "Agent hand has something in it already!", "InventoryFull")
    first = alike[0]
    number = sum(other.kind == object_type for other in world.things.values())
    x, y, z = (float(first["position"][axis]) for axis in "xyz")
    made = copy(world, first, (x, y, z), number)
    pick_up(house, object_id=made.id, force_action=True)
    return made.id


def spawn(
    house: House,
    *,
    asset_id: str,
    generated_id: str,
    position: Vector | None = None,
    rotation: Vector | None = None,
) -> JsonValue:
    """Add an object of one of procthor's assets, with the middle of its box at a position.

    Without a position it stands in the middle of the floor.
    """
    world, outline = house.world, house.world.room.outline
    demand(generated_id not in world.things, f"The id {generated_id!r} is taken already.")
    x, z = ((low + high) / 2 for low, high in zip(outline.low, outline.high, strict=True))
    at = position or Vector(x=x, y=outline.floor, z=z)
    try:
        item = procedural.Item(
            id=generated_id,
            assetId=asset_id,
            position=procedural.ThorVector(**at.model_dump()),
            rotation=procedural.ThorRotation(**(rotation or Vector()).model_dump()),
        )
        metadata, box = procedural.furnished(item)
    except (SceneError, UnavailableError) as error:
        raise Refusal(str(error)) from error
    except ValidationError as error:
        raise Refusal(f"The position or id is not valid: {error.errors()[0]['msg']}.") from error
    made = world.add(metadata, box)
    if position is None:
        made = world.move(made, box.moved(np.array((0.0, box.reach[1], 0.0))))
    if at.y >= outline.floor:  # programs keep below the floor what they place later
        placing.rest(world, made.id, placing.support(world, made.box, ignoring=[made.id]))
    if not made["pickupable"]:
        world.cells = walkable(world)
    return dict(made["axisAlignedBoundingBox"])


def asset_database(house: House) -> JsonValue:
    """Type, first property and size in metres of procthor's assets, by their ids."""
    try:
        found = assets()
    except UnavailableError as error:
        raise Refusal(str(error)) from error
    return {
        one.id: {
            "assetId": one.id,
            "type": one.kind,
            "primaryProperty": one.ability,
            "boundingBox": dict(zip("xyz", one.size, strict=True)),
        }
        for one in found.values()
    }


def _points(values: NDArray[np.float32]) -> list[JsonValue]:
    return [dict(xyz(value)) for value in values]


ACTIONS: Mapping[str, ActionFunction] = {
    "RemoveFromScene": remove,
    "DisableObject": disable,
    "EnableObject": enable,
    "HideObject": hide,
    "UnhideObject": unhide,
    "UnhideAllObjects": unhide_all,
    "SetObjectFilter": set_filter,
    "SetObjectFilterForType": set_filter_by_type,
    "ResetObjectFilter": reset_filter,
    "GetInSceneAssetGeometry": geometry,
    "ScaleObject": scale,
    "CreateObject": create,
    "SpawnAsset": spawn,
    "GetAssetDatabase": asset_database,
}
