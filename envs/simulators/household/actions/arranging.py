"""Actions that put objects into other poses, of this release and an older one."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from inhabit.envs.simulators.household.actions.arguments import ActionFunction, Refusal, Vector
from inhabit.envs.simulators.household.actions.states import toggle_at_random
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import (
    Array,
    Box,
    Cell,
    box_metadata,
    rotation,
    vector,
    xyz,
)
from inhabit.envs.simulators.household.geometry.grid import reachable
from inhabit.envs.simulators.household.placement import placing
from inhabit.envs.simulators.household.placement.surfaces import HANGERS, allowed, capacity, surface
from inhabit.envs.simulators.household.rooms import ithor
from inhabit.envs.simulators.household.rooms.as_in_thor import RENAMED, rotation_today
from inhabit.envs.simulators.household.state.world import SimObject, World
from inhabit.envs.simulators.household.types.things import ENCLOSING

_BEYOND_THE_WALLS = 0.5
"""Metres that a pose may lie outside the room; walls are only inferred from objects."""
_UNMOVED = 1e-3
"""Metres, and the same for axes of a box, within which a pose counts as that of the room."""
_BEST_LEFT = HANGERS | {"CoffeeMachine", "StoveBurner", "Toaster"}
"""Receptacles on which nothing is spawned."""


class ObjectPose(BaseModel):
    """The requested pose of an object."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, strict=True)

    object_name: str
    """The object's `name`. A repeated name requests a copy."""
    position: Vector
    """Position in metres."""
    rotation: Vector = Vector()
    """Rotation in degrees."""


class Duplicates(BaseModel):
    """The requested number of objects of a type."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, strict=True)

    object_type: str
    count: int


def set_object_poses(
    house: House, *, object_poses: list[ObjectPose], skip_moveable: bool = False
) -> None:
    """Move objects to the requested poses, ignoring collisions.

    As in THOR, what is not listed and can be moved is disabled, what can be placed is placed, and
    the action fails if a pose could not be used. In scenes of `inhabit`'s own tasks, what is not
    listed stays as it is.
    """
    if house.world.rules.disables_unlisted and object_poses:
        _disable_others(house, {pose.object_name for pose in object_poses}, skip_moveable)
    if faults := lay(house, object_poses):
        raise Refusal(" ".join(faults), undone=False)


def _disable_others(house: House, named: set[str], skip_moveable: bool) -> None:
    kept = house.world.in_hands
    for thing in list(house.world.things.values()):
        loose = thing["pickupable"] or (thing["moveable"] and not skip_moveable)
        if loose and thing.present and thing["name"] not in named and thing.id not in kept:
            house.world.disable(thing)
    house.world.cells = walkable(house.world)


def lay(house: House, object_poses: Sequence[ObjectPose]) -> Sequence[str]:
    """Move objects to poses; what is not listed stays. Returns why each could not that was not.

    Furniture opens as in AI2-THOR then, from which such poses come.
    """
    world = house.world
    world.open_forwards()
    by_name = {
        str(thing["name"]): thing.id
        for thing in world.things.values()
        if thing.present or (world.rules.finds_disabled and thing.away is None)
    }
    used: set[str] = set()
    placed: list[str] = []
    faults: list[str] = []
    for number, pose in enumerate(object_poses):
        if fault := _fault(world, pose, by_name):
            faults.append(fault)
            continue
        id = by_name[pose.object_name]
        if id in used:
            id = copy(world, world.things[id], xyz_of(pose.position), number).id
        used.add(id)
        thing = world.things[id]
        if not thing.present:
            continue  # in pieces, or hidden
        axes = rotation(pose.rotation.model_dump())
        if thing["objectOrientedBoundingBox"] is None:
            axes = thing.box.axes
        center = np.array(xyz_of(pose.position)) - axes @ thing.pivot
        _carry_unlisted(world, thing, Box(center, thing.box.half, axes), {*by_name, *used})
        placed.append(id)
    for id in placed:
        world.link(id, ())
    recorded = _recorded_parents(world) if world.rules.lies_in_all_around else {}
    for id in placed:
        if id in recorded:
            world.link(id, recorded[id])
            continue
        own = {id, *world.within(id)}
        placing.rest(world, id, placing.support(world, world.things[id].box, ignoring=own))
    if any(not world.things[id]["pickupable"] for id in placed):
        world.cells = walkable(world)
    return faults


def _recorded_parents(world: World) -> Mapping[str, Sequence[str]]:
    """What objects are on or in that lie, as what holds them, where the room's own data has them.

    AI2-THOR's shapes hold things that ours do not, such as a ladle over the edge of a counter.
    """
    unmoved = {
        id
        for id, box in world.room.placed.items()
        if (thing := world.things.get(id)) is not None
        and thing.present
        and np.allclose(thing.box.center, box.center, atol=_UNMOVED)
        and np.allclose(thing.box.axes, box.axes, atol=_UNMOVED)
    }
    parents = {made["objectId"]: made["parentReceptacles"] or () for made in world.room.objects}
    return {id: parents[id] for id in unmoved if unmoved.issuperset(parents[id])}


def walkable(world: World) -> frozenset[Cell]:
    """The grid cells after furniture has moved: the room's own cells and the changed ones."""
    room = world.room
    before = reachable(room.solids(room.placed), room.outline)
    after = reachable(world.solids(), room.outline)
    return (room.cells | (after - before)) - (before - after)


def _fault(world: World, pose: ObjectPose, by_name: Mapping[str, str]) -> str:
    """Why a thing can't be placed so; empty if it can be."""
    if pose.object_name not in by_name:
        return f"No Pickupable or Moveable object of name {pose.object_name} found in scene."
    thing = world.things[by_name[pose.object_name]]
    if not (thing["pickupable"] or thing["moveable"]):
        return f"{pose.object_name} can't be moved."
    if thing.id in world.in_hands:
        return f"{pose.object_name} is in an agent's hand."
    outline = world.room.outline
    if not outline.holds(pose.position.x, pose.position.z, -_BEYOND_THE_WALLS):
        return (
            f"{pose.object_name} would be outside the room, at {xyz_of(pose.position)}: "
            f"x is {outline.low[0]:.2f} to {outline.high[0]:.2f}, "
            f"z is {outline.low[1]:.2f} to {outline.high[1]:.2f}."
        )
    return ""


def xyz_of(value: Vector) -> tuple[float, float, float]:
    """A vector of a request as numbers."""
    return value.x, value.y, value.z


def _carry_unlisted(world: World, thing: SimObject, box: Box, listed: set[str]) -> None:
    """Move an object with its contents, except those with a pose of their own."""
    turn, old = box.axes @ thing.box.axes.T, thing.box.center
    for inner in world.within(thing.id):
        if world.things[inner]["name"] not in listed and inner not in listed:
            world.move(inner, world.things[inner].box.about(turn, old, box.center))
    world.move(thing, box, posed=True)


def copy(
    world: World,
    thing: SimObject,
    position: tuple[float, float, float],
    number: int,
    suffix: str = "copy",
) -> SimObject:
    """A copy of an object at a position, without a parent.

    Args:
        world: where.
        thing: to be copied.
        position: metres.
        number: of the copy, in AI2-THOR's name and id of it.
        suffix: of its name.
    """
    name, id = f"{thing['name']}_{suffix}_{number}", f"{thing.id}_copy_{number}"
    if not world.rules.names_as_in_thor:
        name, id = _own_name(world, thing, position)
    if id in world.things and world.things[id].away is not None:
        world.remove(id)  # a copy of an earlier arrangement
    while id in world.things:
        name, id = f"{name}_{number}", f"{id}_{number}"
    box = thing.box.moved(np.array(position) - vector(thing["position"]))
    metadata = {
        **thing.metadata,
        **box_metadata(box, thing["objectOrientedBoundingBox"] is not None),
        "name": name,
        "objectId": id,
        "isPickedUp": False,
        "parentReceptacles": None,
        "receptacleObjectIds": [] if thing["receptacle"] else None,
        "position": xyz(position),
    }
    return world.add(metadata, box)


def _own_name(
    world: World, thing: SimObject, position: tuple[float, float, float]
) -> tuple[str, str]:
    """Name and id of a copy in the tasks of `inhabit`."""
    number = sum(str(o["name"]).startswith(f"{thing['name']}_copy") for o in world.things.values())
    x, y, z = position
    id = f"{thing.kind}|{x:+06.2f}|{y:+06.2f}|{z:+06.2f}"
    while id in world.things:
        id += f"|{number + 1}"
    return f"{thing['name']}_copy{number + 1}", id


def initial_random_spawn(
    house: House,
    *,
    random_seed: int = 0,
    force_visible: bool = False,
    num_placement_attempts: int = 5,
    allow_floor: bool = False,
    excluded_receptacles: list[str] | None = None,
    excluded_object_ids: list[str] | None = None,
    receptacle_object_ids: list[str] | None = None,
    object_ids: list[str] | None = None,
    num_duplicates_of_type: list[Duplicates] | None = None,
    num_repeats: list[Duplicates] | None = None,
    randomize_open: bool = False,
) -> None:
    """Spawn every pickupable object at random on the receptacles where its type occurs.

    Objects that fit nowhere after this many attempts stay where they are, and so does furniture.
    `numRepeats` is an older name of `numDuplicatesOfType`.
    """
    if randomize_open:
        toggle_at_random(house, state_change="CanOpen", random_seed=random_seed)
    world, habits = house.world, ithor.habits()
    choose = np.random.default_rng([random_seed & 0xFFFFFFFF, 0x5EED])
    for wanted in num_duplicates_of_type or num_repeats or ():
        _duplicate(world, wanted)
    excluded = {*(excluded_object_ids or ()), *world.in_hands}
    barred = {*(excluded_receptacles or ()), *_BEST_LEFT, *(() if allow_floor else ("Floor",))}
    movable = [
        thing.id
        for thing in world.things.values()
        if thing["pickupable"]
        and thing.present
        and thing.id not in excluded
        and (object_ids is None or thing.id in object_ids)
    ]
    for i in choose.permutation(len(movable)):
        thing = world.things[movable[i]]
        homes = [
            other
            for other in world.things.values()
            if other.kind in habits.get(thing.kind, ())
            and other.kind not in barred
            and other["receptacle"]
            and other.away is None
            and (receptacle_object_ids is None or other.id in receptacle_object_ids)
            and not other["pickupable"]
            and not (force_visible and other.kind in ENCLOSING)
        ]
        for _ in range(num_placement_attempts if homes else 0):
            if _strew(world, thing, homes[choose.integers(len(homes))], choose):
                break


def _duplicate(world: World, wanted: Duplicates) -> None:
    same = [t for t in world.things.values() if t.kind == wanted.object_type and t.present]
    if not same or not same[0]["pickupable"]:
        raise Refusal(f"There is no {wanted.object_type} here that could be picked up.")
    for number in range(wanted.count - len(same)):
        x, y, z = same[0].box.center.tolist()
        made = copy(world, same[0], (x, y, z), number, "random_copy")
        box, onto = placing.drop(world, made, made.box.center)
        placing.put(world, made.id, box, [onto.id])


def _strew(world: World, thing: SimObject, home: SimObject, choose: np.random.Generator) -> bool:
    """Put an object at random in or on a receptacle. False if it does not fit."""
    home = world.things[home.id]
    most = capacity(home.kind)
    if not allowed(thing.kind, home.kind) or (most is not None and len(home.contents) >= most):
        return False
    box = (
        placing.place_on_floor(world, thing, _anywhere(world, choose))
        if home.kind == "Floor"
        else placing.place(world, thing, surface(world, home), _on(world, home, choose))
    )
    if box is None:
        return False
    world.link(thing.id, ())
    placing.put(world, thing.id, box, [home.id])
    return True


def _on(world: World, home: SimObject, choose: np.random.Generator) -> Array:
    """A random point on a receptacle."""
    areas = surface(world, home).areas
    area = areas[choose.integers(len(areas))]
    return np.asarray(area.to_world(choose.uniform(-1.0, 1.0, 3) * area.half))


def _anywhere(world: World, choose: np.random.Generator) -> Array:
    outline = world.room.outline
    x, z = choose.uniform(outline.low, outline.high)
    return np.array((x, outline.floor, z))


ACTIONS: Mapping[str, ActionFunction] = {
    "SetObjectPoses": set_object_poses,
    "InitialRandomSpawn": initial_random_spawn,
}


_OLD_NAME = re.compile(r"([A-Za-z]+)_[0-9a-f]{8}")


def set_old_object_poses(house: House, *, object_poses: list[ObjectPose]) -> None:
    """Move objects to the requested poses; names of release 2.1.0 stand for their types.

    Of a type that has more objects than poses, the others leave the room, as in THOR. Types that no
    room of today's has at this place are left out.
    """
    named = {str(thing["name"]) for thing in house.world.things.values()}
    today = [pose for pose in object_poses if pose.object_name in named]
    old = [pose for pose in object_poses if pose.object_name not in named]
    by_type = _by_type(house.world)
    used: Counter[str] = Counter()
    for pose in dict.fromkeys(old):  # some lists have a pose twice
        type = _type(pose.object_name)
        if type is None:
            today.append(pose)  # refused with THOR's sentence
        elif same := by_type.get(type):
            today.append(_renamed(pose, type, same[used[type] % len(same)]))
            used[type] += 1
    for type, number in used.items():
        for thing in by_type[type][number:]:
            house.world.remove(thing.id)
    if faults := lay(house, today):
        raise Refusal(" ".join(faults), undone=False)


def _by_type(world: World) -> Mapping[str, Sequence[SimObject]]:
    found = defaultdict(list)
    for thing in world.things.values():
        if thing["pickupable"] and thing.present and thing.id != world.agent.held:
            found[thing.kind].append(thing)
    return found


def _type(name: str) -> str | None:
    """The type in a name of release 2.1.0; None if it is no such name."""
    match = _OLD_NAME.match(name)
    return RENAMED.get(match[1], match[1]) if match else None


def _renamed(pose: ObjectPose, type: str, thing: SimObject) -> ObjectPose:
    turned = rotation_today(type, xyz_of(pose.rotation))
    name = str(thing["name"])
    return ObjectPose(objectName=name, position=pose.position, rotation=Vector(**turned))
