"""How near a simulator comes to the recordings: verdicts, and tables of them."""

from __future__ import annotations

import html
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Self

import numpy as np
from fidelity_replay import Interaction, ReplayTrace, replay
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.language.verbs import SIDE, Mask, decode, overlap
from inhabit.envs.alfred.scenes.scene import AlfredScene
from inhabit.envs.alfred.tasks.trajectories import read_task
from inhabit.envs.alfred.thor.session import SharedSimulator
from inhabit.envs.alfred.world.settings import AlfredSettings, Cells
from inhabit.envs.core import SceneError, Task, TaskError
from inhabit.envs.simulators.household.geometry.grid import (
    BESIDE,
    recorded_folder,
    recorded_layout,
    region,
)
from inhabit.envs.simulators.household.rooms import ithor
from inhabit.envs.simulators.household.rooms.ithor import Room
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
        cells: Cells = "computed" if recorded_folder() is None else "recorded"
        settings = AlfredSettings(cells=cells, wire="pipes" if catalog is None else "none")
        self._session = SharedSimulator("embedded", settings, catalog=catalog)
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


def center(mask: Mask) -> tuple[float, float] | None:
    """The center of a mask's bounding box, in pixels (right, down); None if the mask is empty."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return None
    return float(columns[0] + columns[-1]) / 2, float(rows[0] + rows[-1]) / 2


def edge(mask: Mask) -> Mask:
    """The contour of a mask."""
    inside = mask.copy()
    for axis in (0, 1):
        for shift in (-1, 1):
            inside &= np.roll(mask, shift, axis)
    return mask & ~inside


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


_PER_CAUSE = 6
"""Images per cause, at most."""
_HEAD = """<!doctype html><meta charset="utf-8"><title>Fidelity</title>
<style>body{font:15px/1.5 sans-serif;max-width:1000px;margin:2em auto}figure{display:inline-block;
margin:4px;width:300px;vertical-align:top}figcaption{font-size:12px;overflow-wrap:anywhere}</style>
<h1>What failed, by its cause</h1>
<p>Our picture at the expert's pose; in red, the outline of what the expert pointed at in real
AI2-THOR 2.1; in blue, ours of what it meant.</p>
"""


def write(verdicts: Sequence[TrajectoryVerdict], out: Path) -> None:
    """Write `index.html` and its images.

    Args:
        verdicts: of `FidelityCheck`.
        out: made if it isn't there.
    """
    out.mkdir(parents=True, exist_ok=True)
    failures: dict[str, list[TrajectoryVerdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.by_id != SOLVED:
            failures[f"by id: {verdict.by_id}"].append(verdict)
        elif verdict.by_mask != SOLVED:
            failures[f"by mask: {verdict.by_mask}"].append(verdict)
    page = [_HEAD]
    number = 0
    for cause, those in sorted(failures.items(), key=lambda item: (-len(item[1]), item[0])):
        page.append(f"<h2>{html.escape(cause)} ({len(those)})</h2>")
        for verdict in those[:_PER_CAUSE]:
            image = ""
            if verdict.picture is not None:
                number += 1
                Image.fromarray(verdict.picture).save(out / f"{number:03}.png")
                image = f'<img src="{number:03}.png" width="300" height="300" alt="">'
            name = html.escape(verdict.trajectory)
            page.append(f"<figure>{image}<figcaption>{name}</figcaption></figure>")
    (out / "index.html").write_text("\n".join(page), encoding="utf-8")


_SHOWN_CAUSES = 12


@dataclass(frozen=True, slots=True)
class Bound:
    """A required and a desired value."""

    what: str
    floor: float
    aim: float
    least: bool = True
    """Whether the bounds are minima (or maxima)."""

    def holds(self, value: float) -> bool:
        """Whether a value meets the required bound."""
        return value >= self.floor if self.least else value <= self.floor


BOUNDS: Mapping[str, Bound] = {
    "plans_by_id": Bound("low-level plans accepted and goal met, objects by id", 0.94, 0.98),
    "plans_walked": Bound("the same, and no move blocked", 0.88, 0.95),
    "plans_by_mask": Bound("the same, objects by the expert's mask", 0.70, 0.85),
    "plans_by_skill": Bound("high-level plans executed by our skills", 0.95, 0.99),
    "negative_controls": Bound("goals met at the start or too early", 0.01, 0.0, False),
    "camera_error_px": Bound("median distance of box centres, small objects", 1.2, 0.5, False),
    "mask_median": Bound("mask IoU of untouched objects, median", 0.75, 0.85),
    "mask_mean": Bound("the same, mean", 0.65, 0.75),
    "mask_none": Bound("masks without any overlap", 0.022, 0.01, False),
    "mask_type_median": Bound("median over types of their median mask IoU", 0.60, 0.72),
    "moves_blocked": Bound("share of the expert's moves that are blocked", 0.01, 0.004, False),
    "trajectories_blocked": Bound("trajectories with a blocked move", 0.10, 0.04, False),
    "reachable_mean": Bound("IoU of computed and real cells, mean", 0.75, 0.85),
    "reachable_min": Bound("the same in the worst room", 0.35, 0.60),
    "resting": Bound("objects that rest on or in something", 0.96, 0.99),
    "visible_f1": Bound("`visible` in frames of AI2-THOR 5, F1", 0.90, 0.96),
    "frame_ms": Bound("ms per 300x300 frame with shadows", 30.0, 15.0, False),
    "reset_ms": Bound("ms per reset of a room of 90 objects", 100.0, 40.0, False),
}


def figures(verdicts: Sequence[TrajectoryVerdict]) -> dict[str, float | None]:
    """The figures from trajectories; None where nothing was measured."""
    played = [v for v in verdicts if v.moves or v.seen]
    seen = [one for verdict in verdicts for one in verdict.seen]
    types: dict[str, list[float]] = {}
    for one in seen:
        types.setdefault(one.type, []).append(one.overlap)
    overlaps = [one.overlap for one in seen]
    offs = [one.off for one in seen if one.off is not None]
    controls = [met for verdict in played for met in verdict.controls]
    walked = [v.by_id == SOLVED and not v.blocked for v in verdicts]
    return {
        "plans_by_id": _mean([v.by_id == SOLVED for v in verdicts]),
        "plans_walked": _mean(walked),
        "plans_by_mask": _mean([v.by_mask == SOLVED for v in verdicts]),
        "plans_by_skill": _mean([v.by_skill == SOLVED for v in verdicts if v.by_skill]),
        "negative_controls": _mean(controls),
        "camera_error_px": median(math.hypot(*off) for off in offs) if offs else None,
        "camera_bias_px": _bias(offs) if offs else None,
        "mask_median": median(overlaps) if overlaps else None,
        "mask_mean": _mean(overlaps),
        "mask_none": _mean([overlap == 0 for overlap in overlaps]),
        "mask_type_median": median(map(median, types.values())) if types else None,
        "moves_blocked": _share(played, "blocked", "moves"),
        "trajectories_blocked": _mean([v.blocked > 0 for v in played]),
        "resting": _share(played, "resting", "placed"),
    }


def causes(verdicts: Sequence[TrajectoryVerdict]) -> dict[str, dict[str, int]]:
    """For each way of re-execution, the outcomes and their counts, most frequent first."""
    return {
        way: dict(Counter(getattr(v, way) for v in verdicts if getattr(v, way)).most_common())
        for way in ("by_id", "by_mask", "by_skill")
    }


def lines(
    values: Mapping[str, float | None], why: Mapping[str, Mapping[str, int]]
) -> Iterator[str]:
    """The table as text."""
    for key, bound in BOUNDS.items():
        value = values.get(key)
        sign = ">=" if bound.least else "<="
        shown = "   -   " if value is None else f"{value:7.3f}"
        mark = " " if value is None or bound.holds(value) else "!"
        yield f"{key:21} {shown} {mark} {sign} {bound.floor:<6g} aim {bound.aim:<6g} {bound.what}"
    for way, found in why.items():
        for cause, count in [c for c in found.items() if c[0] != SOLVED][:_SHOWN_CAUSES]:
            yield f"    {way:9} {count:4} {cause}"


def _bias(offs: Sequence[tuple[float, float]]) -> float:
    """Length of the median offset. It is the camera's share, since shapes deviate to all sides."""
    return math.hypot(median(x for x, _ in offs), median(y for _, y in offs))


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _share(verdicts: Sequence[TrajectoryVerdict], part: str, whole: str) -> float | None:
    total = sum(getattr(v, whole) for v in verdicts)
    return sum(getattr(v, part) for v in verdicts) / total if total else None


class Fold(BaseModel):
    """Rooms, and the collision shapes fitted to all other rooms."""

    model_config = ConfigDict(frozen=True)

    rooms: frozenset[str]
    shapes: dict[str, tuple[float, float]]


class LeftOutRooms(Catalog):
    """iTHOR's rooms with their recorded grids, each under the fold that leaves it out.

    Cells that are only known from the experts' paths are not used.
    """

    def __init__(self, file: Path) -> None:
        """Read the folds.

        Args:
            file: from `scripts/fit_bodies --out`.

        Raises:
            SceneError: the file cannot be read, or has no such content.
        """
        super().__init__()
        try:
            folds = TypeAdapter(list[Fold]).validate_json(file.read_bytes())
        except (OSError, ValidationError) as error:
            raise SceneError(f"Can't read the folds in {file}: {error}") from error
        self._shapes = {room: fold.shapes for fold in folds for room in fold.rooms}

    def load(self, scene: str) -> Room:
        """Load a room by its name, with or without THOR's "_physics".

        Raises:
            SceneError: there is no such room, no fold leaves it out, or it has no recorded grid.
        """
        room = ithor.load(scene)
        known, shapes = recorded_layout(room.name), self._shapes.get(room.name)
        if known is None or shapes is None:
            raise SceneError(f"{room.name} has no recorded grid, or no fold leaves it out.")
        cells = region(known, room.furniture(), room.outline, shapes, beside=BESIDE)
        return replace(room, cells=cells)
