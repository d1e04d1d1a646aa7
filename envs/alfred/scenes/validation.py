"""Validates a scene against the objects of its room, before a simulator starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from inhabit.envs.alfred.language.naming import ObjectNames, split_name
from inhabit.envs.alfred.scenes.scene import (
    AlfredGoal,
    AlfredScene,
    ObjectState,
    StartPose,
    nearest,
)
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.thor.routes import STEP, cell
from inhabit.envs.alfred.world.states import STATES
from inhabit.envs.core import SceneError


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
    _check_goal(scene, world)
    if scene.held is not None:
        known.thing("held", scene.held, "pickupable")
    if scene.condition is not None:
        known.thing("condition.object", scene.condition.object, "dirtyable")
    for i, disturbance in enumerate(scene.disturbances):
        for moved in disturbance.placements:
            known.thing(f"disturbances.{i}.object", moved.object, "pickupable")
            known.thing(f"disturbances.{i}.receptacle", moved.receptacle, "receptacle")
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
    best = min(places, key=lambda p: ((p[0] - here[0]) ** 2 + (p[1] - here[1]) ** 2, p))
    if best != here:
        x, z = (c * STEP for c in best)
        raise SceneError(
            f"start: nobody can stand at x={start.x:g}, z={start.z:g}; nearest: x={x:g}, z={z:g}."
        )


def _check_goal(scene: AlfredScene, world: ThorObjects) -> None:
    for goal in scene.goals:
        _check_types(scene, goal, world)


def _check_types(scene: AlfredScene, goal: AlfredGoal, world: ThorObjects) -> None:
    wanted = {"object": "pickupable", "movable": "pickupable", "toggle": "toggleable"}
    for name, needed in {**wanted, "parent": "receptacle"}.items():
        type = getattr(goal, name)
        known = sorted({t.type for t in world if t.record[needed]})
        if type is not None and type not in known:
            raise SceneError(
                f"goal.{name}: {scene.room} has no {type!r} that is {needed}; "
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
