"""Compares one ALFRED trajectory with the embedded household."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.fidelity.replay import Interaction, ReplayTrace, replay
from inhabit.envs.alfred.language.masks import SIDE, center, decode, edge, overlap
from inhabit.envs.alfred.scenes.scene import AlfredScene
from inhabit.envs.alfred.tasks.trajectories import read_task
from inhabit.envs.alfred.thor.session import Session
from inhabit.envs.alfred.world.rooms import Cells
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import SceneError, Task, TaskError
from inhabit.envs.simulators.household.navigation import recorded_grids
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog

SOLVED = "solved"
_NO_GOAL = "the goal does not hold"
_LONGEST = 80
"""Maximum number of high-level actions for a plan."""
_RED, _BLUE = (255, 0, 0), (0, 90, 255)
_SMALL = 40
"""A mask of at most this many pixels across is that of a small object."""


@dataclass(frozen=True, slots=True)
class SeenThing:
    """A mask of the expert and ours."""

    type: str
    overlap: float
    """Intersection over union."""
    off: tuple[float, float] | None
    """Offset in pixels (right, down) from their center to ours, for small objects fully in view."""


@dataclass(slots=True)
class TrajectoryVerdict:
    """The result of a trajectory. Each cause is "solved" or the first failure."""

    trajectory: str
    by_id: str = ""
    by_mask: str = ""
    by_skill: str = ""
    """Empty if this was not tested."""
    moves: int = 0
    blocked: int = 0
    controls: tuple[bool, bool] = (False, False)
    """Whether the goal held before the first interaction, and before the last one."""
    seen: list[SeenThing] = field(default_factory=list)
    placed: int = 0
    resting: int = 0
    picture: NDArray[np.uint8] | None = None
    """Our image of the first refused interaction, with both masks outlined."""


class FidelityCheck:
    """Re-executes trajectories in simulators of its own."""

    def __init__(self, *, skills: bool = True, catalog: Catalog | None = None) -> None:
        """Start no simulator yet.

        Args:
            skills: whether the high-level plans are tried too, which takes most of the time.
            catalog: other rooms than those with recorded cells, for the low-level plans.
        """
        cells: Cells = "computed" if recorded_grids.folder() is None else "recorded"
        settings = AlfredSettings(cells=cells, wire="pipes" if catalog is None else "none")
        self._session = Session("embedded", settings, catalog=catalog)
        self._owner = self._session.join()
        recorded = AlfredSettings(expert="recorded", cells=cells)
        self._skilled = Alfred("embedded", recorded) if skills else None

    def judge(self, path: Path, folder: Path) -> TrajectoryVerdict:
        """Re-execute a trajectory by object ids, by masks, and through our skills.

        Args:
            path: of its `traj_data.json`.
            folder: that it is named from.
        """
        verdict = TrajectoryVerdict(path.parent.relative_to(folder).as_posix())
        try:
            task = read_task(path, folder, steps=True)
            scene = AlfredScene.model_validate(dict(task.scene))
            body = self._session.start(self._owner, scene.room)
            by_id = replay(body, scene, walk=True, show=True)
            by_mask = replay(body, scene, by="mask", show=True)
        except (TaskError, SceneError) as error:
            why = f"scene refused: {str(error).rpartition(': ')[2][:60]}"
            verdict.by_id = verdict.by_mask = verdict.by_skill = why
            return verdict
        verdict.by_id, verdict.by_mask = _cause(by_id), _cause(by_mask)
        verdict.moves, verdict.blocked = by_id.moves, by_id.blocked
        verdict.controls = by_id.solved_at_start, by_id.solved_before_last_act
        verdict.seen = list(_seen(by_id))
        verdict.placed, verdict.resting = by_id.placed, by_id.resting
        refused = by_id.refused or by_mask.refused
        verdict.picture = None if refused is None else _outlined(refused)
        if self._skilled is not None:
            verdict.by_skill = _by_skill(self._skilled, read_task(path, folder))
        return verdict

    def close(self) -> None:
        """Stop the simulators."""
        self._session.leave(self._owner)
        if self._skilled is not None:
            self._skilled.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _by_skill(env: Alfred, task: Task) -> str:
    """Execute the high-level plan through our skills."""
    env.reset(task, seed=0)
    first = ""
    for _ in range(_LONGEST):
        plan = env.plan()
        if not plan:
            break
        done = env.act(plan[0])
        if done.over:
            return SOLVED
        if done.reason is not None and not first:
            first = f"{plan[0].verb}: {done.reason.value}"
    return first or _NO_GOAL


def _cause(story: ReplayTrace) -> str:
    refused = story.refused
    if refused is not None:
        type = refused.step.thing.type if refused.step.thing is not None else ""
        return f"{refused.step.action} {type}: {refused.refusal[:60]}"
    return SOLVED if story.solved else _NO_GOAL


def _seen(story: ReplayTrace) -> Iterator[SeenThing]:
    for one in story.interactions:
        if one.fresh and one.step.mask and one.shown is not None and one.meant is not None:
            theirs = decode(one.step.mask)
            yield SeenThing(one.meant.type, overlap(one.shown, theirs), _off(one))


def _outlined(one: Interaction) -> NDArray[np.uint8] | None:
    """Our image with the expert's mask outlined in red and ours in blue."""
    if one.frame is None:
        return None
    picture = one.frame.copy()
    if one.shown is not None:
        picture[edge(one.shown)] = _BLUE
    picture[edge(decode(one.step.mask))] = _RED
    return picture


def _off(one: Interaction) -> tuple[float, float] | None:
    """Offset in pixels from the center of a small object in the expert's image to ours."""
    theirs = decode(one.step.mask)
    rows, columns = np.flatnonzero(theirs.any(axis=1)), np.flatnonzero(theirs.any(axis=0))
    if one.step.action != "PickupObject" or one.shown is None:
        return None
    whole = min(rows[0], columns[0]) > 0 and max(rows[-1], columns[-1]) < SIDE - 1
    small = max(rows[-1] - rows[0], columns[-1] - columns[0]) < _SMALL
    here, there = center(one.shown), center(theirs)
    if not (whole and small) or here is None or there is None:
        return None
    return here[0] - there[0], here[1] - there[1]
