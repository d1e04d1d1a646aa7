"""Rebuilds ALFRED's recorded scenes in the current simulator, object by object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inhabit.envs.alfred.scenes.counterparts import counterpart, counterparts, moved
from inhabit.envs.alfred.scenes.object_placement import put_directly, within_reach
from inhabit.envs.alfred.scenes.scene import RecordedThing, Recording
from inhabit.envs.alfred.thor.body import AgentBody
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.rooms.old_release import rotation_today

_TABLES = ("CoffeeTable", "Desk", "DiningTable", "Dresser", "SideTable")
_LEAST, _MOST = 0.025, 0.2
"""Metres by which a table may be higher or lower than in the recording."""
_ALIKE = 0.02
"""Objects within this many metres are at the same height."""


def lay_out(body: AgentBody, recording: Recording) -> Mapping[RecordedThing, str]:
    """Move every object to its recorded pose, switch lamps, and make objects dirty and empty.

    Returns:
        The plan's object references and their THOR ids in this scene.

    Raises:
        SceneError: the simulator refuses it.
    """
    names: dict[str, list[str]] = {}
    for thing in body.world:
        if thing.pickupable:
            names.setdefault(thing.type, []).append(str(thing.record["name"]))
    poses: list[Mapping[str, Any]] = []
    used: dict[str, int] = {}
    for pose in dict.fromkeys(recording.poses):  # Some list an object twice, in the same place.
        same = names.get(pose.type)
        if same:
            number = used[pose.type] = used.get(pose.type, 0) + 1
            poses.append(
                {
                    "objectName": same[(number - 1) % len(same)],
                    "position": dict(zip("xyz", pose.position, strict=True)),
                    "rotation": rotation_today(pose.type, pose.rotation),
                }
            )
    poses += _furniture(body, recording)
    if not body.tell("SetObjectPoses", objectPoses=poses, placeStationary=True):
        raise SceneError(f"recording.poses: rejected by the simulator: {body.error[1]}")
    _adjust_tables(body)
    for thing in body.world:
        if thing.toggleable and thing.type in recording.lamps_on and not thing.on:
            body.tell("ToggleObjectOn", objectId=thing.id, forceAction=True)
        if thing.toggleable and thing.type in recording.lamps_off and thing.on:
            body.tell("ToggleObjectOff", objectId=thing.id, forceAction=True)
    if recording.dirty_and_empty:
        _soil(body)
    things = list(body.world)
    meant = counterparts((step.thing for step in recording.plan), things)
    brought: set[str] = set()
    for step in recording.plan:
        id = meant.get(step.thing)
        if id is not None and id not in brought:  # Later on it is held by something else.
            brought.add(id)
            holder = counterpart(step.holder, things) if step.holder is not None else None
            _bring_to_light(body, body.world[id], holder)
    return meant


def _furniture(body: AgentBody, recording: Recording) -> Sequence[Mapping[str, Any]]:
    """Poses for the appliances of the plan that have moved since THOR 2.1."""
    found = {}
    for step in recording.plan:
        thing = moved(step.thing, list(body.world))
        if thing is not None:
            found[thing.id] = {
                "objectName": thing.record["name"],
                "position": dict(zip("xyz", step.thing.position, strict=True)),
                "rotation": thing.record["rotation"],
            }
    return list(found.values())


def _adjust_tables(body: AgentBody) -> None:
    """Adjust the height of tables that differ from THOR 2.1, inferred from the objects on them."""
    shifts = {table.id: shift for table in body.world if (shift := _shift(body.world, table))}
    if not shifts:
        return
    poses, world = [], body.world
    for thing in world:
        on = thing.pickupable and any(_is_over(world, thing, world[id]) for id in shifts)
        if on or thing.id in shifts:
            x, y, z = thing.position
            at = {"x": x, "y": y + shifts.get(thing.id, 0.0), "z": z}
            name, turn = thing.record["name"], thing.record["rotation"]
            poses.append({"objectName": name, "position": at, "rotation": turn})
    body.tell("SetObjectPoses", objectPoses=poses, placeStationary=True)


def _shift(world: ThorObjects, table: ThorObject) -> float:
    """Metres by which most objects on a table are above its top."""
    if table.type not in _TABLES or not table.record["moveable"]:
        return 0.0
    gaps = sorted(_gap(t, table) for t in world if t.pickupable and _is_over(world, t, table))
    if not gaps:
        return 0.0
    middle = gaps[len(gaps) // 2]
    agree = sum(abs(gap - middle) < _ALIKE for gap in gaps)
    return middle if _LEAST < abs(middle) < _MOST and 2 * agree > len(gaps) else 0.0


def _gap(thing: ThorObject, table: ThorObject) -> float:
    """Metres from a table's top to the bottom of an object."""
    return thing.center[1] - thing.size[1] / 2 - table.center[1] - table.size[1] / 2


def _is_over(world: ThorObjects, thing: ThorObject, table: ThorObject) -> bool:
    """Whether an object is on a table, or floats above one that has become lower."""
    if thing.id in table.contents:
        return True
    afloat = all(id in world and world[id].type == "Floor" for id in thing.parents)
    above = table.reach(thing.center[0], thing.center[2]) == 0.0
    return afloat and above and 0.0 < _gap(thing, table) < _MOST


def _bring_to_light(body: AgentBody, thing: ThorObject, recorded: ThorObject | None) -> None:
    """Put an object of the plan on its recorded receptacle if it is not reachable now.

    Where the receptacle allows it, the object keeps its recorded column.
    A sofa that has become higher since AI2-THOR 2.1 would have swallowed what lay on it.
    """
    if not thing.pickupable:
        return
    shut = body.world.shut_in(thing)
    astray = shut is not None and recorded is not None and shut.id != recorded.id
    if not astray and within_reach(body, thing.id):
        return
    for holder in (recorded, *body.world.around(thing)):
        stowed = (
            holder is not None
            and holder.receptacle
            and put_directly(body, thing.id, holder.id) is None
        )
        if not stowed:
            continue
        put = body.world[thing.id]
        if holder is not None and holder.reach(thing.position[0], thing.position[2]) == 0.0:
            _set_down(body, put, (thing.position[0], put.position[1], thing.position[2]))
            if within_reach(body, thing.id):
                return
            _set_down(body, put, put.position)
        if within_reach(body, thing.id):
            return
    _set_down(body, thing, thing.position)


def _set_down(body: AgentBody, thing: ThorObject, place: tuple[float, float, float]) -> None:
    """Move an object, with the rotation that it has in `thing`."""
    pose = {
        "objectName": thing.record["name"],
        "rotation": thing.record["rotation"],
        "position": dict(zip("xyz", place, strict=True)),
    }
    body.tell("SetObjectPoses", objectPoses=[pose])


def _soil(body: AgentBody) -> None:
    for thing in body.world:
        if thing.record["dirtyable"] and not thing.record["isDirty"]:
            body.tell("DirtyObject", objectId=thing.id, forceAction=True)
        if thing.record["isFilledWithLiquid"]:
            body.tell("EmptyLiquidFromObject", objectId=thing.id, forceAction=True)
