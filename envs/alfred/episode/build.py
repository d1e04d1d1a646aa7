"""The start of an episode, and a snapshot of its objects."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import JsonValue

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.language.verbs import ObjectNames, preposition, split_name, word
from inhabit.envs.alfred.scenes.layout import lay_out, put_directly
from inhabit.envs.alfred.scenes.scene import AlfredScene, ObjectState, Placement, StartPose
from inhabit.envs.alfred.thor.body import STEP, AgentBody, AgentPose, Grid, cell
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.thor.session import Views
from inhabit.envs.alfred.world.kinds import TREATMENTS
from inhabit.envs.alfred.world.settings import Unnumbered
from inhabit.envs.alfred.world.things import STATES
from inhabit.envs.core import SceneError, SceneObject


def build(
    body: AgentBody,
    scene: AlfredScene,
    *,
    seed: int,
    teleport: bool = False,
    filming: bool = False,
    unnumbered: Unnumbered = "used",
) -> EpisodeState:
    """Load the room and apply the scene.

    Args:
        body: in a running simulator.
        scene: checked.
        seed: of the place to start from, where the scene leaves it open.
        teleport: whether the agent is moved at once instead of walking.
        filming: whether what it sees on its way is kept.
        unnumbered: which of several things in view a name without a number means.

    Raises:
        SceneError: the simulator rejects a part of it, which the message names.
    """
    body.reset(scene.room)
    if scene.spawn_seed is not None:
        _must(
            body.tell("InitialRandomSpawn", randomSeed=scene.spawn_seed, placeStationary=True),
            "spawn_seed",
            body,
        )
    recorded_ids = lay_out(body, scene.recording) if scene.recording is not None else {}
    names = ObjectNames(body.world)
    for i, placement in enumerate(scene.placements):
        _place(body, names, placement, f"placements.{i}")
    for i, state in enumerate(scene.states):
        _set(body, names, state, f"states.{i}")
    grid = _grid(body)
    _stand(body, scene.start, grid, seed)
    if scene.held is not None:
        id = _id(names, scene.held)
        _must(body.tell("PickupObject", objectId=id, forceAction=True), "held", body)
    episode = EpisodeState(
        body,
        scene.goal,
        names,
        grid,
        Views(body),
        teleport=teleport,
        filming=filming,
        unnumbered=unnumbered,
        recorded_ids=recorded_ids,
        also=scene.also,
        in_order=scene.in_order,
        disturbances=scene.disturbances,
    )
    _check_condition(scene, body, names)
    episode.see()
    return episode


def disturb(episode: EpisodeState) -> None:
    """Count an action, and bring about the disturbances that are due after it."""
    if not episode.disturbances:
        return
    episode.actions += 1
    due = [one for one in episode.disturbances if one.after <= episode.actions]
    episode.disturbances = tuple(d for d in episode.disturbances if d not in due)
    body, names = episode.body, episode.names
    for one in due:
        for placement in one.placements:
            thing = _id(names, placement.object)
            if thing in body.world and not body.world[thing].held:
                put_directly(body, thing, _id(names, placement.receptacle))
        for i, state in enumerate(one.states):
            with suppress(SceneError):
                _set(body, names, state, f"disturbances.states.{i}")
    if due:
        episode.views.forget()
        episode.see()


def _check_condition(scene: AlfredScene, body: AgentBody, names: ObjectNames) -> None:
    """Check that the goal is the one that the condition decides for."""
    if scene.condition is None:
        return
    dirty = body.world[_id(names, scene.condition.object)].record["isDirty"]
    if scene.goal != (scene.condition.dirty if dirty else scene.condition.clean):
        raise SceneError(
            f"goal: {scene.condition.object!r} is {'dirty' if dirty else 'clean'}, and then the "
            "condition asks for the other goal."
        )


def _must(done: bool, field: str, body: AgentBody) -> None:
    if not done:
        raise SceneError(
            f"{field}: rejected by the simulator: {body.error[1] or 'no reason given'}"
        )


def _id(names: ObjectNames, name: str) -> str:
    squeezed, number = split_name(name)
    id = names.id(squeezed, number) if number is not None else None
    if id is None:
        raise SceneError(f"The simulator's scene has no object {name!r}.")
    return id


def _place(body: AgentBody, names: ObjectNames, placement: Placement, field: str) -> None:
    thing, holder = _id(names, placement.object), _id(names, placement.receptacle)
    why = put_directly(body, thing, holder)
    if why is not None:
        raise SceneError(f"{field}: {placement.object} in {placement.receptacle}: {why}")


def _set(body: AgentBody, names: ObjectNames, state: ObjectState, field: str) -> None:
    id = _id(names, state.object)
    # Sliced last: the whole is gone then.
    for row in sorted(STATES, key=lambda row: row.name == "sliced"):
        wanted = getattr(state, row.name)
        if row.sets and wanted is not None and bool(_record(body, id)[row.reads]) != wanted:
            action = row.sets if wanted else row.clears
            done = body.tell(action, objectId=id, forceAction=True)
            _must(done, f"{field}.{row.name}", body)
    done = True
    if state.filled == "empty" and _record(body, id)["isFilledWithLiquid"]:
        done = body.tell("EmptyLiquidFromObject", objectId=id, forceAction=True)
    elif state.filled is not None and state.filled != "empty":
        pour: dict[str, Any] = {"fillLiquid": state.filled, "forceAction": True}
        done = body.tell("FillObjectWithLiquid", objectId=id, **pour)
    _must(done, f"{field}.filled", body)


def _record(body: AgentBody, id: str) -> Mapping[str, Any]:
    if id not in body.world:
        raise SceneError(f"states: {id!r} is in pieces by then.")
    return body.world[id].record


def _grid(body: AgentBody) -> Grid:
    places = body.ask("GetReachablePositions") or ()
    return Grid(cell(place["x"], place["z"]) for place in places)


def _stand(body: AgentBody, start: StartPose | None, grid: Grid, seed: int) -> None:
    """Place the agent. A recorded pose is moved to the nearest grid cell."""
    if not grid.places:
        raise SceneError("start: this room has no position where the agent can stand.")
    if start is None:
        start = _anywhere(grid, seed)
    height = body.pose.y if start.y is None else start.y
    x, z = min(grid.places, key=lambda p: (math.dist(p, (start.x / STEP, start.z / STEP)), p))
    pose = AgentPose(x * STEP, height, z * STEP, start.rotation, start.horizon)
    _must(body.place(pose), "start", body)


def _anywhere(grid: Grid, seed: int) -> StartPose:
    rng = random.Random(f"alfred start {seed}")
    x, z = rng.choice(sorted(grid.places))
    return StartPose(x=x * STEP, z=z * STEP, rotation=rng.choice((0, 90, 180, 270)))


_STATES = (
    "isOpen",
    "openness",
    "isToggled",
    "isSliced",
    "isBroken",
    "isDirty",
    "isCooked",
    "isUsedUp",
    "isFilledWithLiquid",
    "fillLiquid",
    "temperature",
    "isPickedUp",
)


def state(episode: EpisodeState) -> Mapping[str, JsonValue]:
    """Agent, objects and memory. Positions in metres to three decimals, angles in degrees."""
    pose, memory = episode.body.pose, episode.memory
    named: dict[str, JsonValue] = {}
    if episode.unnumbered == "used":
        named = {
            "used": memory.used if memory.used != memory.focus else None,
            "sent": memory.sent,
            "refused": [key for key in memory.refused if key.startswith("go to ")],
        }
    return {
        "room": episode.body.room,
        "agent": {
            "position": [round(pose.x, 3), round(pose.y, 3), round(pose.z, 3)],
            "rotation": round(pose.rotation, 1),
            "horizon": round(pose.horizon, 1),
        },
        "objects": [_object(episode, thing) for thing in episode.world],
        **{one.done: [*sorted(episode.history.of(one))] for one in TREATMENTS},
        "seen": list(memory.seen),
        "visited": list(memory.visited),
        "focus": memory.focus,
        **{name: value for name, value in named.items() if value},
        "searched": [list(place) for place in memory.searched],
    }


def _object(episode: EpisodeState, thing: ThorObject) -> JsonValue:
    record = thing.record
    rotation = record["rotation"]
    return {
        "id": thing.id,
        "name": episode.names.all().get(thing.id),
        "type": thing.type,
        "position": [round(c, 3) for c in thing.position],
        "rotation": [round(float(rotation[axis]) % 360, 1) for axis in "xyz"],
        "visible": thing.visible,
        "parents": sorted(thing.parents),
        "contents": sorted(thing.contents),
        **{name: record[name] for name in _STATES},
    }


def things(episode: EpisodeState) -> Sequence[SceneObject]:
    """Every named object, in the order of naming."""
    world, pixels = episode.world, episode.body.in_view()
    return [
        # People call the whole sink so, not its basin alone.
        _thing(episode, world[id], name, pixels.get(id, 0) + pixels.get(_around(id), 0))
        for id, name in episode.names.all().items()
        if id in world
    ]


def _around(id: str) -> str:
    """The id of the sink or bathtub that a basin is a part of; empty for other things."""
    outer, _, part = id.rpartition("|")
    return outer if part in ("SinkBasin", "BathtubBasin") else ""


def _thing(episode: EpisodeState, record: ThorObject, name: str, pixels: int) -> SceneObject:
    support = None if record.held else _support(episode, record)
    return SceneObject(
        name=name,
        kind=word(record.type),
        states={
            state.name: bool(record.record[state.reads])
            for state in STATES
            if record.record[state.needs]
        },
        support=support,
        inside=support is not None and preposition(support) == "in",
        held=record.held,
        pixels=pixels,
    )


def _support(episode: EpisodeState, record: ThorObject) -> str | None:
    """The innermost named receptacle of an object."""
    around = episode.world.around(record)
    return next((episode.names.of(outer.id) for outer in around if outer.id in episode.names), None)
