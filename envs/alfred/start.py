"""Builds what a `Scene` says, by the client's actions alone: the same on Unity and embedded."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

from envs.alfred.body import Body, Pose
from envs.alfred.layout import lay_out
from envs.alfred.naming import Names, split_name
from envs.alfred.objects import Thing, World
from envs.alfred.routes import Grid, cell
from envs.alfred.scene import Placement, Scene, Start, State, nearest
from envs.alfred.situation import Situation
from envs.alfred.views import Views
from envs.core import SceneError

_STATES: Mapping[str, tuple[str, str, str]] = {
    "open": ("openable", "OpenObject", "CloseObject"),
    "on": ("toggleable", "ToggleObjectOn", "ToggleObjectOff"),
    "dirty": ("dirtyable", "DirtyObject", "CleanObject"),
    "broken": ("breakable", "BreakObject", ""),
    "cooked": ("cookable", "CookObject", ""),
    "sliced": ("sliceable", "SliceObject", ""),
}
"""State: what a thing must be for it, the action that brings it about, the one that undoes it."""


def check(scene: Scene, records: Iterable[Mapping[str, Any]]) -> None:
    """Hold the names in a scene against what its room has, before anything is started.

    Raises:
        SceneError: a name or type that the room lacks, or a thing that can't be or hold that.
    """
    world = World(records)
    known = _Known(scene.room, world)
    _check_goal(scene, world)
    if scene.held is not None:
        known.thing("held", scene.held, "pickupable")
    for i, placement in enumerate(scene.placements):
        known.thing(f"placements.{i}.object", placement.object, "pickupable")
        known.thing(f"placements.{i}.receptacle", placement.receptacle, "receptacle")
        if placement.object == placement.receptacle:
            raise SceneError(f"placements.{i}: {placement.object!r} can't be in itself.")
    for i, state in enumerate(scene.states):
        for name, (needed, *_) in _STATES.items():
            if getattr(state, name) is not None:
                known.thing(f"states.{i}.{name}", state.object, needed)
        if state.filled is not None:
            known.thing(f"states.{i}.filled", state.object, "canFillWithLiquid")


def _check_goal(scene: Scene, world: World) -> None:
    goal = scene.goal
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
    """The names of a room, to look up what a scene calls things."""

    def __init__(self, room: str, world: World) -> None:
        self._room, self._world, self._names = room, world, Names(world)

    def thing(self, field: str, name: str, needed: str) -> Thing:
        """The thing of that name, if it is what is needed."""
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


def build(
    body: Body, scene: Scene, *, seed: int, teleport: bool = False, filming: bool = False
) -> Situation:
    """Load the room and make it what the scene says.

    Args:
        body: in a running simulator.
        scene: checked.
        seed: of the place to start from, where the scene leaves it open.
        teleport: whether the agent is moved at once instead of walking.
        filming: whether what it sees on its way is kept.

    Raises:
        SceneError: the simulator refuses a part of it; the error says which.
    """
    body.reset(scene.room)
    if scene.spawn_seed is not None:
        _must(
            body.tell("InitialRandomSpawn", randomSeed=scene.spawn_seed, placeStationary=True),
            "spawn_seed",
            body,
        )
    if scene.recording is not None:
        lay_out(body, scene.recording)
    names = Names(body.world)
    for i, placement in enumerate(scene.placements):
        _place(body, names, placement, f"placements.{i}")
    for i, state in enumerate(scene.states):
        _set(body, names, state, f"states.{i}")
    grid = _grid(body)
    _stand(body, scene.start, grid, seed)
    if scene.held is not None:
        id = _id(names, scene.held)
        _must(body.tell("PickupObject", objectId=id, forceAction=True), "held", body)
    here = Situation(
        body,
        scene.goal,
        names,
        grid,
        Views(body),
        field_of_view=body.field_of_view,
        teleport=teleport,
        filming=filming,
    )
    here.see()
    return here


def _must(done: bool, field: str, body: Body) -> None:
    if not done:
        raise SceneError(f"{field}: the simulator refuses it: {body.error[1] or 'no reason given'}")


def _id(names: Names, name: str) -> str:
    squeezed, number = split_name(name)
    id = names.id(squeezed, number) if number is not None else None
    if id is None:
        raise SceneError(f"The simulator's room has no {name!r}.")
    return id


def _place(body: Body, names: Names, placement: Placement, field: str) -> None:
    thing, holder = _id(names, placement.object), _id(names, placement.receptacle)
    _must(body.tell("PickupObject", objectId=thing, forceAction=True), f"{field}.object", body)
    shut = body.world[holder].openable and not body.world[holder].open
    if shut:
        _must(body.tell("OpenObject", objectId=holder, forceAction=True), field, body)
    put = body.tell("PutObject", objectId=holder, forceAction=True, placeStationary=True)
    _must(put, f"{field}.receptacle", body)
    if shut:
        _must(body.tell("CloseObject", objectId=holder, forceAction=True), field, body)


def _set(body: Body, names: Names, state: State, field: str) -> None:
    id = _id(names, state.object)
    for name, (_, bring, undo) in _STATES.items():
        wanted = getattr(state, name)
        if wanted is not None and _is(body.world[id], name) != wanted:
            action = bring if wanted else undo
            done = body.tell(action, objectId=id, forceAction=True)
            _must(done, f"{field}.{name}", body)
    if state.filled == "empty":
        if body.world[id].record["isFilledWithLiquid"]:
            _must(body.tell("EmptyLiquidFromObject", objectId=id), f"{field}.filled", body)
    elif state.filled is not None:
        done = body.tell("FillObjectWithLiquid", objectId=id, fillLiquid=state.filled)
        _must(done, f"{field}.filled", body)


def _is(thing: Thing, state: str) -> bool:
    key = {"open": "isOpen", "on": "isToggled"}.get(state, f"is{state.capitalize()}")
    return bool(thing.record[key])


def _grid(body: Body) -> Grid:
    places = body.ask("GetReachablePositions") or ()
    return Grid(cell(place["x"], place["z"]) for place in places)


def _stand(body: Body, start: Start | None, grid: Grid, seed: int) -> None:
    if start is None:
        start = _anywhere(grid, seed)
    height = body.pose.y if start.y is None else start.y
    arrived = body.place(Pose(start.x, height, start.z, start.rotation, start.horizon))
    _must(arrived, "start", body)


def _anywhere(grid: Grid, seed: int) -> Start:
    draw = random.Random(f"alfred start {seed}")
    if not grid.places:
        raise SceneError("start: there is no place in this room where the agent can stand.")
    x, z = draw.choice(sorted(grid.places))
    return Start(x=x * 0.25, z=z * 0.25, rotation=draw.choice((0, 90, 180, 270)))
