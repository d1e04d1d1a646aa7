"""Navigation tasks: files of EB-Navigation and VAGEN, and sampled ones; their shortest walks."""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import dist
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from inhabit.envs.core import Task, TaskError
from inhabit.envs.scene_plan import ScenePlan
from inhabit.envs.simulators.household.geometry.boxes import STEP
from inhabit.envs.simulators.household.rooms import ithor
from inhabit.envs.simulators.household.rooms.ithor import Metadata, Room
from inhabit.envs.simulators.household.rooms.user_rooms import plan_view
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.types.things import those
from inhabit.envs.thor_nav import ThorNavSettings


class NavScene(BaseModel):
    """One navigation task, as EmbodiedBench and VAGEN write it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    room: str
    """Name of a room, such as "FloorPlan1"."""
    x: float
    """Start position, in metres."""
    z: float
    """Start position, in metres."""
    rotation: float = 0.0
    """Start rotation about the vertical, in degrees; 0 looks along +z."""
    horizon: float = Field(default=0.0, ge=-30.0, le=60.0)
    """Start pitch of the camera, in degrees; positive looks down."""
    target: str
    """THOR's objectId of the target; for the record: success is measured to the position."""
    target_x: float
    """Position of the target, in metres."""
    target_z: float
    """Position of the target, in metres."""
    hidden: tuple[str, ...] = ()
    """THOR's objectIds of objects that are taken out of the room first."""


_GOAL = "navigate to the {kind} in the room and be as close as possible to it"
_TARGETS = those("target")
"""Types of sampled targets."""
_FARTHEST_FROM_CELL = 0.9
"""Distance from a sampled target to a cell, as a share of that within which it is reached."""
_WALK = (0.5, 2.5)
"""Metres between a sampled start and where its target is reached."""
_DRAWS = 2000
"""Targets that are drawn for a task at most."""


class _Point(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    x: float
    z: float


class _Pose(BaseModel):
    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    position: _Point
    rotation: float
    horizon: float = 0.0


class _Record(BaseModel):
    """A task of a released file."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)

    targetObjectType: str = Field(min_length=1)  # noqa: N815
    targetObjectIds: str  # noqa: N815
    target_position: _Point
    agentPose: _Pose  # noqa: N815
    scene: str
    object_to_hide: list[str] = []
    instruction: str = Field(min_length=1)


class _File(BaseModel):
    tasks: list[_Record] = Field(min_length=1)


def read(source: str, settings: ThorNavSettings) -> Sequence[Task]:
    """The tasks of a file of EB-Navigation's or VAGEN's form.

    Raises:
        TaskError: there is no such file, or it has another form. Names the file and the field.
    """
    path = Path(source)
    try:
        records = TypeAdapter(_File).validate_python(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TaskError(f"Can't read {path} as navigation tasks: {error}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise TaskError(f"{path}: {place or 'the file'}: {first['msg']}.") from error
    return [_task(f"{path.stem}-{i}", record, settings) for i, record in enumerate(records.tasks)]


def _task(name: str, record: _Record, settings: ThorNavSettings) -> Task:
    pose = record.agentPose
    scene = NavScene(
        room=record.scene,
        x=pose.position.x,
        z=pose.position.z,
        rotation=pose.rotation,
        horizon=min(max(pose.horizon, -30.0), 60.0),
        target=record.targetObjectIds,
        target_x=record.target_position.x,
        target_z=record.target_position.z,
        hidden=tuple(record.object_to_hide),
    )
    return _made(name, record.targetObjectType, record.instruction, scene, settings)


def _made(name: str, kind: str, goal: str, scene: NavScene, settings: ThorNavSettings) -> Task:
    return Task(
        id=name,
        env="thor_nav",
        kind=kind,
        goal=goal,
        scene=scene.model_dump(mode="json"),
        max_steps=settings.limit,
    )


def kinds(settings: ThorNavSettings) -> Sequence[str]:
    """The types of sampled targets."""
    return sorted(_TARGETS)


def rooms(settings: ThorNavSettings) -> Mapping[str, Sequence[str]]:
    """Every iTHOR room."""
    return {name: (name,) for name in ithor.SCENES}


def sample(n: int, seed: int, settings: ThorNavSettings) -> Iterator[Task]:
    """`n` tasks in iTHOR's rooms; the first k tasks do not depend on `n`.

    Raises:
        TaskError: no room is large or small enough for the distance of `success`.
    """
    within = settings.success
    for i in range(n):
        choose = random.Random(f"thor_nav {seed} {i}")
        rooms = (ithor.load(choose.choice(ithor.SCENES)) for _ in range(_DRAWS))
        drawn = (_drawn(room, choose, within) for room in rooms)
        made = next((one for one in drawn if one is not None), None)
        if made is None:
            raise TaskError(f"None of {_DRAWS} targets makes a task with success={within:g}.")
        kind, scene = made
        goal = _GOAL.format(kind=kind)
        yield _made(f"thor_nav-{seed}-{i}", kind, goal, scene, settings)


def _drawn(room: Room, choose: random.Random, within: float) -> tuple[str, NavScene] | None:
    """A target and a start from which it is some steps away; None if this room has no such."""
    targets = [one for one in room.objects if one["objectType"] in _TARGETS]
    if not targets:
        return None
    target = choose.choice(targets)
    goal = target["position"]["x"], target["position"]["z"]
    centers = [(column * STEP, row * STEP) for column, row in sorted(room.cells)]
    if not any(dist(center, goal) <= _FARTHEST_FROM_CELL * within for center in centers):
        return None
    low, high = (within + walk for walk in _WALK)
    starts = [center for center in centers if low <= dist(center, goal) <= high]
    return (target["objectType"], _scene(room, target, starts, choose)) if starts else None


def _scene(
    room: Room, target: Metadata, starts: Sequence[tuple[float, float]], choose: random.Random
) -> NavScene:
    x, z = choose.choice(starts)
    fields: dict[str, Any] = {"x": x, "z": z, "rotation": 90.0 * choose.randrange(4)}
    place = target["position"]
    return NavScene(
        room=room.name,
        target=target["objectId"],
        target_x=place["x"],
        target_z=place["z"],
        **fields,
    )


def scene_plan(task: Task, actions: Sequence[str | None]) -> ScenePlan | None:
    """The room of a task from above; see `Registration.scene_plan`."""
    return plan_view(task, lambda room: {o["objectId"]: o["objectType"] for o in room.objects})


MOVES: Mapping[str, str] = {
    "move forward": "MoveAhead",
    "move backward": "MoveBack",
    "move right": "MoveRight",
    "move left": "MoveLeft",
}
_MOST = 4000
"""Positions that a search visits, at most."""

Place = tuple[float, float]


class _Open(NamedTuple):
    """A position that is reached, ordered by the length of a walk through it, at least."""

    length: float
    order: int
    place: Place
    moves: tuple[str, ...]


@contextmanager
def restored(simulator: Simulator) -> Iterator[None]:
    """Restore the simulator's state at the end of the block."""
    token = simulator.act({"action": "Snapshot"}).value
    try:
        yield
    finally:
        for action in ("Restore", "Forget"):
            simulator.act({"action": action, "snapshot": token})


def shortest(
    simulator: Simulator, target: Place, *, step: float, within: float
) -> Sequence[str] | None:
    """The moves of a shortest walk to within some metres of a target; None if there is none.

    A* over the positions that steps reach, without turns: the agent also walks sideways.
    """

    def left(place: Place) -> float:
        return max(0.0, dist(place, target) - within) / step

    start = (simulator.agent.x, simulator.agent.z)
    queue, done, order = [_Open(left(start), 0, start, ())], set[Place](), 0
    with restored(simulator):
        while queue and len(done) < _MOST:
            here = heapq.heappop(queue)
            if dist(here.place, target) <= within:
                return here.moves
            if _key(here.place) in done:
                continue
            done.add(_key(here.place))
            for word, action in MOVES.items():
                there = _moved(simulator, here.place, action, step)
                if there is not None and _key(there) not in done:
                    order += 1
                    moves = (*here.moves, word)
                    heapq.heappush(queue, _Open(len(moves) + left(there), order, there, moves))
    return None


def _key(place: Place) -> Place:
    return round(place[0], 3), round(place[1], 3)


def _moved(simulator: Simulator, place: Place, action: str, step: float) -> Place | None:
    """Where a move from a place leads; None if it is blocked."""
    x, z = place
    simulator.act({"action": "Teleport", "x": x, "z": z, "forceAction": True})
    if not simulator.act({"action": action, "moveMagnitude": step}).success:
        return None
    return simulator.agent.x, simulator.agent.z
