"""Builds a scene in the simulator: recorded layouts, placed objects, and checks of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inhabit.envs.alfred.language.verbs import ObjectNames, split_name
from inhabit.envs.alfred.scenes.scene import (
    AlfredGoal,
    AlfredScene,
    ObjectState,
    RecordedThing,
    Recording,
    StartPose,
    counterpart,
    counterparts,
    moved,
    nearest,
)
from inhabit.envs.alfred.thor.body import STEP, AgentBody, cell
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.world.things import STATES
from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.rooms.as_in_thor import rotation_today


def put_directly(body: AgentBody, thing: str, holder: str) -> str | None:
    """Put an object in or on a receptacle. A closed receptacle is opened and closed again.

    Args:
        body: whose hand is empty; it needs to be nowhere near.
        thing: THOR's id.
        holder: THOR's id.

    Returns:
        None, or the simulator's words for why it cannot be done; then the object lies on the floor
        before the agent, if it could be picked up at all.
    """
    if not body.tell("PickupObject", blind=True, objectId=thing, forceAction=True):
        return body.error[1]
    shut = body.world[holder].shut
    if shut:
        body.tell("OpenObject", blind=True, objectId=holder, forceAction=True)
    why = None
    if not body.tell(
        "PutObject", blind=True, objectId=holder, forceAction=True, placeStationary=True
    ):
        why = body.error[1] or "no reason given"
        body.tell("DropHandObject", blind=True, forceAction=True)
    if shut:
        body.tell("CloseObject", blind=True, objectId=holder, forceAction=True)
    return why


def within_reach(body: AgentBody, thing: str) -> bool:
    """Whether the agent can interact with an object from some cell, with its receptacle open."""
    shut = body.world.shut_in(body.world[thing])
    if shut is not None:
        body.tell("OpenObject", blind=True, objectId=shut.id, forceAction=True)
    poses = body.ask("GetInteractablePoses", objectId=thing, standings=[True], maxPoses=1)
    if shut is not None:
        body.tell("CloseObject", blind=True, objectId=shut.id, forceAction=True)
    return bool(poses)


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


def check(
    scene: AlfredScene, records: Iterable[Mapping[str, Any]], places: Iterable[tuple[int, int]]
) -> None:
    """Check the names and positions in a scene.

    Args:
        scene: whose fields are right by themselves.
        records: what is in its room, as in THOR's `metadata.objects`.
        places: where one can stand there, in steps of the grid.

    Raises:
        SceneError: a name or type that the room lacks, or an object that cannot be or hold that.
    """
    world = ThorObjects(records)
    known = _Known(scene.room, world)
    for goal in scene.goals:
        _check_types(scene, goal, world)
    if scene.held is not None:
        known.thing("held", scene.held, "pickupable")
    if scene.condition is not None:
        known.thing("condition.object", scene.condition.object, "dirtyable")
    for i, disturbance in enumerate(scene.disturbances):
        for placement in disturbance.placements:
            known.thing(f"disturbances.{i}.object", placement.object, "pickupable")
            known.thing(f"disturbances.{i}.receptacle", placement.receptacle, "receptacle")
        for state in disturbance.states:
            known.state(f"disturbances.{i}", state)
    for i, placement in enumerate(scene.placements):
        known.thing(f"placements.{i}.object", placement.object, "pickupable")
        known.thing(f"placements.{i}.receptacle", placement.receptacle, "receptacle")
        if placement.object == placement.receptacle:
            raise SceneError(f"placements.{i}: {placement.object!r} can't be in itself.")
    for i, state in enumerate(scene.states):
        known.state(f"states.{i}", state)
    if scene.start is not None:
        _check_start(scene.start, places)


def _check_start(start: StartPose, places: Iterable[tuple[int, int]]) -> None:
    here = cell(start.x, start.z)
    best = min(
        places, key=lambda p: ((p[0] - here[0]) ** 2 + (p[1] - here[1]) ** 2, p), default=None
    )
    if best is None:
        raise SceneError("start: this room has no position where the agent can stand.")
    if best != here:
        x, z = (c * STEP for c in best)
        raise SceneError(
            f"start: nobody can stand at x={start.x:g}, z={start.z:g}; nearest: x={x:g}, z={z:g}."
        )


def _check_types(scene: AlfredScene, goal: AlfredGoal, world: ThorObjects) -> None:
    wanted = {"object": "pickupable", "movable": "pickupable", "toggle": "toggleable"}
    for name, needed in {**wanted, "parent": "receptacle"}.items():
        type = getattr(goal, name)
        known = sorted({t.type for t in world if t.record[needed]})
        if type is not None and type not in known:
            raise SceneError(
                f"goal.{name}: {scene.room} has no {needed} {type!r}; "
                f"nearest: {nearest(type, known)}."
            )


class _Known:
    """The names of a room, to resolve the names in a scene."""

    def __init__(self, room: str, world: ThorObjects) -> None:
        self._room, self._world, self._names = room, world, ObjectNames(world)

    def state(self, field: str, wanted: ObjectState) -> None:
        """Check that an object can have these states."""
        for state in STATES:
            if getattr(wanted, state.name) is not None:
                self.thing(f"{field}.{state.name}", wanted.object, state.needs)

    def thing(self, field: str, name: str, needed: str) -> ThorObject:
        """The object of that name, if it has the required property."""
        squeezed, number = split_name(name)
        id = self._names.id(squeezed, number) if number is not None else None
        fitting = [n for i, n in self._names.all().items() if self._world[i].record[needed]]
        if id is None:
            raise SceneError(
                f"{field}: {self._room} has no {name!r}; nearest: {nearest(name, fitting)}."
            )
        if not self._world[id].record[needed]:
            raise SceneError(
                f"{field}: {name!r} is not {needed}; nearest that is: {nearest(name, fitting)}."
            )
        return self._world[id]
