"""Replays a recorded trajectory of ALFRED in a simulator, step by step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.episode.build import build
from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.language.verbs import Mask, choose, decode
from inhabit.envs.alfred.scenes.scene import (
    AlfredScene,
    LowStep,
    RecordedThing,
    conditions,
    present,
)
from inhabit.envs.alfred.thor.body import AgentBody, AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.geometry import grid
from inhabit.envs.simulators.household.rooms.ithor import SCENES, load
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
from inhabit.envs.simulators.household.simulator import Simulator

By = Literal["id", "mask"]
MOVES = {"MoveAhead": 0, "MoveRight": 90, "MoveBack": 180, "MoveLeft": 270}
_TURNS = {"RotateRight": 90, "RotateLeft": -90}
_NODS = {"LookDown": 15, "LookUp": -15}
_AHEAD = {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}
_STEP = 0.25
_AFLOAT = 0.05
"""An object this many metres above the one below it is floating."""
_LAST_ACTS = ("PutObject", "ToggleObjectOn", "ToggleObjectOff")
"""The interactions with which ALFRED's tasks end."""


@dataclass(frozen=True, slots=True, eq=False)
class Interaction:
    """One interaction of the expert and its result here."""

    step: LowStep
    meant: ThorObject | None
    """The counterpart of the object."""
    chosen: ThorObject | None
    """The object that was used here."""
    refusal: str
    """The simulator's error; empty if the interaction succeeded."""
    fresh: bool
    """Whether the object is still where the scene put it: THOR's physics has not moved it."""
    shown: Mask | None = None
    """The mask of the object in our image, (300, 300)."""
    frame: NDArray[np.uint8] | None = None
    """Our image of a refused interaction, (300, 300, 3)."""


@dataclass(slots=True)
class ReplayTrace:
    """The result of re-executing a trajectory."""

    interactions: list[Interaction] = field(default_factory=list)
    moves: int = 0
    blocked: int = 0
    solved_at_start: bool = False
    solved_before_last_act: bool = False
    solved: bool = False
    placed: int = 0
    """Number of objects that can be picked up."""
    resting: int = 0
    """Number of them that rested on or in something at the start."""

    @property
    def refused(self) -> Interaction | None:
        """The first refused interaction."""
        return next((one for one in self.interactions if one.refusal), None)


def replay(
    body: AgentBody, scene: AlfredScene, *, by: By = "id", walk: bool = False, show: bool = False
) -> ReplayTrace:
    """Re-execute a recorded scene from the expert's poses.

    Args:
        body: in a running simulator.
        scene: of a task that was read with its steps.
        by: whether an object is chosen by its id, or by the expert's mask alone.
        walk: whether the expert's moves are executed, and those that are blocked counted.
        show: whether our masks are kept, and an image of what was refused.

    Raises:
        SceneError: the scene cannot be built, or brings no steps.
    """
    if scene.recording is None or not scene.recording.steps:
        raise SceneError("recording.steps is empty. Read the trajectory with its steps.")
    actor = _Actor(build(body, scene, seed=0), by, show)
    story, steps = ReplayTrace(), scene.recording.steps
    story.placed, story.resting = resting(body.world)
    story.solved_at_start = actor.solved
    last = max((i for i, s in enumerate(steps) if s.action in _LAST_ACTS), default=-1)
    poses = list(_poses(scene, steps))
    actor.stand(poses[0])
    for i, step in enumerate(steps):
        if step.thing is None:
            if walk and step.action in MOVES:
                story.moves += 1
                story.blocked += not body.tell(step.action, blind=True)
            actor.stand(poses[i + 1], at_once=walk)
            continue
        if i == last:
            story.solved_before_last_act = actor.solved
        story.interactions.append(actor.handle(step, step.thing))
    story.solved = actor.solved
    return story


def _poses(scene: AlfredScene, steps: Sequence[LowStep]) -> Iterator[AgentPose]:
    """The expert's pose before the first step and after each step."""
    start = scene.start
    assert start is not None and start.y is not None
    x, z, turn, horizon = start.x, start.z, int(start.rotation), start.horizon
    yield AgentPose(x, start.y, z, turn, horizon)
    for step in steps:
        if step.action in MOVES:
            right, ahead = _AHEAD[(turn + MOVES[step.action]) % 360]
            x, z = x + _STEP * right, z + _STEP * ahead
        turn = (turn + _TURNS.get(step.action, 0)) % 360
        horizon += _NODS.get(step.action, 0)
        yield AgentPose(x, start.y, z, turn, horizon)


class _Actor:
    """Executes the expert's interactions."""

    def __init__(self, episode: EpisodeState, by: By, show: bool) -> None:
        self._episode = episode
        self._by = by
        self._show = show
        self._touched: set[str] = set()
        self._slices: dict[tuple[str, int | None], str] = {}
        self._pose: AgentPose | None = None

    @property
    def solved(self) -> bool:
        """Whether ALFRED's goal holds now."""
        met, total = conditions(self._episode.goal, self._episode.world, self._episode.history)
        return met == total

    def stand(self, pose: AgentPose, *, at_once: bool = False) -> None:
        """Move to the expert's pose: before the next interaction, unless `at_once`."""
        self._pose = pose
        if at_once:
            self._take_up_pose()

    def _take_up_pose(self) -> None:
        if self._pose is not None:
            self._episode.body.place(self._pose, blind=True, masks=True)
            self._pose = None

    def handle(self, step: LowStep, recorded: RecordedThing) -> Interaction:
        """Execute an interaction. A refused one is forced, so that the rest can be tested."""
        self._take_up_pose()
        meant, mask = self._meant(recorded), decode(step.mask)
        chosen = meant
        if self._by == "mask" and step.mask:
            chosen = choose(self._episode.body, mask, step.action)
        shown = drawn(self._episode.body, meant.id) if self._show and meant is not None else None
        fresh = meant is not None and recorded.slice is None and meant.id not in self._touched
        refusal = self._do(step, recorded, chosen)
        frame = None
        if refusal:
            frame = self._episode.body.frame if self._show else None
            self._force(step, recorded, meant)
        return Interaction(step, meant, chosen, refusal, fresh, shown, frame)

    def _meant(self, recorded: RecordedThing) -> ThorObject | None:
        whole = self._episode.recorded_ids.get(recorded)
        if whole is None:
            return None
        taken = {number: id for (cut, number), id in self._slices.items() if cut == whole}
        return present(self._episode.world, recorded, whole, taken)

    def _do(self, step: LowStep, recorded: RecordedThing, chosen: ThorObject | None) -> str:
        """Try an interaction. Returns the error, or an empty string."""
        if chosen is None:
            by_id = self._by == "id" or not step.mask
            return "it has no counterpart" if by_id else "the mask shows no such thing"
        # ALFRED's own generator puts objects by force, and THOR's physics makes room for them.
        put = {"forceAction": True, "putNearXY": True} if step.action == "PutObject" else {}
        if self._episode.do(step.action, chosen, **put):
            self._note(step, recorded, chosen)
            return ""
        code, message = self._episode.body.error
        return code or message

    def _force(self, step: LowStep, recorded: RecordedThing, meant: ThorObject | None) -> None:
        """Force a refused interaction, so that the rest of the plan can be tested."""
        if step.action == "PutObject":
            if self._episode.held is not None:
                self._episode.body.tell("DropHandObject", blind=True, forceAction=True)
        elif meant is not None and self._episode.do(step.action, meant, forceAction=True):
            self._note(step, recorded, meant)

    def _note(self, step: LowStep, recorded: RecordedThing, thing: ThorObject) -> None:
        if step.action in ("PickupObject", "SliceObject"):
            self._touched.add(thing.id)
        whole = self._episode.recorded_ids.get(recorded)
        if step.action == "PickupObject" and recorded.slice is not None and whole is not None:
            self._slices[whole, recorded.slice] = thing.id


def drawn(body: AgentBody, id: str) -> Mask:
    """The mask of an object in the current image, (H, W)."""
    index, names = body.instances()
    return index == names.index(id) if id in names else np.zeros(index.shape, np.bool_)


def resting(world: ThorObjects) -> tuple[int, int]:
    """The number of objects that can be picked up, and how many rest on or in something."""
    placed = [t for t in world if t.pickupable and not t.held]
    return len(placed), sum(_rests(thing, world) for thing in placed)


def _rests(thing: ThorObject, world: ThorObjects) -> bool:
    """Whether an object is in or on furniture, or touches the top of something."""
    if any(id in world and world[id].type != "Floor" for id in thing.parents):
        return True
    base = thing.center[1] - thing.size[1] / 2
    return any(
        abs(base - other.center[1] - other.size[1] / 2) < _AFLOAT
        for other in world
        if other.id != thing.id and other.reach(thing.center[0], thing.center[2]) == 0.0
    )


def grid_agreement() -> Mapping[str, float]:
    """Intersection over union of computed and recorded grid cells, by room.

    Known are those of ALFRED's layouts, and those that its experts walked on. Empty where the
    layouts are not installed.
    """
    found = {}
    for scene in SCENES:
        real = grid.recorded_cells(scene)
        if real is not None:
            ours = load(scene).cells
            found[scene] = len(ours & real) / len(ours | real)
    return found


_ROOM = "FloorPlan1"
_OBJECTS = 90
_FRAMES, _RESETS = 60, 8


def frame_ms() -> float:
    """Median milliseconds to render a 300x300 image with shadows, each from another pose."""
    simulator = Simulator(_ROOM)
    times = []
    for i in range(_FRAMES):
        simulator.act({"action": "RotateRight", "degrees": 30})
        if i % 12 == 11:
            simulator.act({"action": "MoveAhead"})
        begin = process_time()
        simulator.frame()
        times.append(process_time() - begin)
    return 1000 * median(times[5:])


def reset_ms() -> float:
    """Median milliseconds of a reset including visibility, in rooms of about 90 objects."""
    rooms = sorted(SCENES, key=lambda scene: abs(len(load(scene).objects) - _OBJECTS))[:2]
    simulator = Simulator(rooms[0])
    times = []
    for i in range(_RESETS):
        begin = process_time()
        simulator.act({"action": "Reset", "sceneName": rooms[(i + 1) % 2]})
        simulator.visibility()
        times.append(process_time() - begin)
    return 1000 * median(times[2:])


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two say that something is visible."""

    both: int = 0
    ours: int = 0
    """How often the household alone says so."""
    theirs: int = 0
    """How often real THOR alone says so."""

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(self.both + other.both, self.ours + other.ours, self.theirs + other.theirs)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, 0 to 1."""
        return 2 * self.both / max(1, 2 * self.both + self.ours + self.theirs)


def visible(folder: Path) -> Agreement:
    """What THOR and the household call visible in every frame of a folder.

    Args:
        folder: of `metadata` saved as JSON, a file for each frame.

    Raises:
        SceneError: there is no frame in it, or one cannot be read.
    """
    catalog = Catalog(folder)
    return sum((_in_frame(path, catalog) for path in frames(folder)), Agreement())


def frames(folder: Path) -> Iterable[Path]:
    """The frames of a folder, in the order of their names."""
    return sorted(folder.glob("*.json"))


def _in_frame(path: Path, catalog: Catalog) -> Agreement:
    metadata = json.loads(path.read_text(encoding="utf-8"))
    simulator = at_frame(path.stem, metadata, catalog)
    seen = simulator.visibility()
    pairs = [(o["visible"], seen[o["objectId"]].visible) for o in metadata["objects"]]
    return Agreement(
        sum(theirs and ours for theirs, ours in pairs),
        sum(ours and not theirs for theirs, ours in pairs),
        sum(theirs and not ours for theirs, ours in pairs),
    )


def at_frame(room: str, metadata: dict[str, Any], catalog: Catalog) -> Simulator:
    """A simulator in the room of a frame, its agent where the frame was taken.

    Raises:
        SceneError: the frame has no pose that the agent can take up.
    """
    simulator = Simulator(room, catalog=catalog)
    agent = metadata["agent"]
    start = {
        "action": "Initialize",
        "fieldOfView": metadata["fov"],
        "width": metadata["screenWidth"],
        "height": metadata["screenHeight"],
    }
    pose = {
        "action": "TeleportFull",
        **agent["position"],
        "rotation": agent["rotation"]["y"],
        "horizon": agent["cameraHorizon"],
        "standing": agent["isStanding"],
        "forceAction": True,
    }
    for request in (start, pose):
        reply = simulator.act(request)
        if not reply.success:
            raise SceneError(f"{room}: {reply.message}")
    return simulator
