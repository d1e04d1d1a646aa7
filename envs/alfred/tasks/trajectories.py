"""Reads ALFRED's own tasks from its `traj_data.json` files.

Shridhar et al. 2020 recorded them in AI2-THOR 2.1. Objects are carried over into the rooms of
AI2-THOR 5 by type and position; what was renamed between the versions is found by its place.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inhabit.envs.alfred.language.verbs import BY_ACTION
from inhabit.envs.alfred.scenes.scene import (
    AlfredGoal,
    AlfredScene,
    LowStep,
    RecordedPose,
    RecordedStep,
    RecordedThing,
    Recording,
    StartPose,
    counterpart,
)
from inhabit.envs.alfred.thor.body import STEP
from inhabit.envs.alfred.thor.objects import ThorObjects
from inhabit.envs.alfred.world.kinds import BY_NAME, KIND_NAMES
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.alfred.world.things import ROOMS, records
from inhabit.envs.core import SceneError, Task, TaskError
from inhabit.envs.simulators.household.rooms.as_in_thor import RENAMED

FILE = "traj_data.json"
MAX_STEPS = 50
_log = logging.getLogger(__name__)
_HOLDING = ("pick up", "slice")
"""Verbs for which ALFRED's planner records the receptacle."""


class _Loose(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Point(_Loose):
    x: float
    y: float
    z: float

    def triple(self) -> tuple[float, float, float]:
        return self.x, self.y, self.z


class _ObjectPose(_Loose):
    objectName: str = Field(pattern=r"^[A-Za-z]+_")  # noqa: N815
    position: _Point
    rotation: _Point


class _Toggle(_Loose):
    objectType: str  # noqa: N815
    isOn: bool  # noqa: N815


class _Init(_Loose):
    x: float
    y: float
    z: float
    rotation: float
    horizon: float


class _Scene(_Loose):
    floor_plan: str
    object_poses: tuple[_ObjectPose, ...]
    object_toggles: tuple[_Toggle, ...]
    dirty_and_empty: bool
    init_action: _Init


class PddlParams(_Loose):
    """What ALFRED's planner was asked for."""

    object_target: str
    parent_target: str
    mrecep_target: str
    toggle_target: str
    object_sliced: bool


class _ApiAction(_Loose):
    action: str
    objectId: str = ""  # noqa: N815
    receptacleObjectId: str = ""  # noqa: N815


class _Arguments(_Loose):
    mask: tuple[tuple[int, int], ...] | None = None


class _DiscreteAction(_Loose):
    args: _Arguments = _Arguments()


class _LowAction(_Loose):
    api_action: _ApiAction
    discrete_action: _DiscreteAction = _DiscreteAction()
    high_idx: int = Field(ge=0)


class _PlannerAction(_Loose):
    coordinateReceptacleObjectId: tuple[str, tuple[float, ...]] | None = None  # noqa: N815


class _HighAction(_Loose):
    planner_action: _PlannerAction


class _Plan(_Loose):
    high_pddl: tuple[_HighAction, ...]
    low_actions: tuple[_LowAction, ...]


class _Annotation(_Loose):
    task_desc: str = Field(min_length=1)
    high_descs: tuple[str, ...] = ()

    def goal(self, *, steps: bool) -> str:
        """The goal; with `steps`, what is said of each step follows on lines of their own."""
        said = [step.strip() for step in self.high_descs] if steps else []
        return "\n".join([self.task_desc.strip(), *(" ".join(s.split()) for s in said if s)])


class _Annotations(_Loose):
    anns: tuple[_Annotation, ...] = Field(min_length=1)


class Trajectory(_Loose):
    """The fields of a `traj_data.json` that are used."""

    task_id: str = Field(min_length=1)
    task_type: Literal[KIND_NAMES]  # type: ignore[valid-type]
    pddl_params: PddlParams
    scene: _Scene
    plan: _Plan
    turk_annotations: _Annotations


def read(source: str | Path, settings: AlfredSettings | None = None) -> Iterator[Task]:
    """Every trajectory below a folder as a task, in the order of their paths.

    Args:
        source: a folder as ALFRED unpacks it, or any part of it.
        settings: `annotator`, `goal`, `bad_files`, and `replay`, with which tasks hold the expert's
            low-level actions and masks.

    Raises:
        TaskError: there is no such folder, nothing in it, or (with `refuse`) a bad file.
    """
    settings, folder = settings or AlfredSettings(), Path(source)
    if not folder.is_dir():
        raise TaskError(
            f"Found no folder {str(folder)!r}. Pass a folder of ALFRED trajectories, or a .jsonl "
            "file of tasks."
        )
    paths = sorted(folder.rglob(FILE))
    if not paths:
        raise TaskError(f"Found no {FILE} below {str(folder)!r}.")
    for path in paths:
        try:
            yield read_task(
                path,
                folder,
                settings.annotator,
                steps=settings.replay != "off",
                sentences=settings.goal == "steps",
            )
        except TaskError as error:
            if settings.bad_files == "refuse":
                raise
            _log.warning("Left out: %s", error)


def read_task(
    path: Path,
    folder: Path,
    annotator: int = 0,
    *,
    steps: bool = False,
    sentences: bool = False,
) -> Task:
    """One trajectory as a task.

    Args:
        path: of its `traj_data.json`.
        folder: that the task's id is relative to.
        annotator: whose words are the goal.
        steps: whether the task holds the expert's low-level actions.
        sentences: whether the goal also says what the annotator wrote for each step.

    Raises:
        TaskError: names the file and what is wrong with it.
    """
    trajectory = load(path)
    try:
        scene = _scene(trajectory, steps)
    except (SceneError, ValidationError) as error:
        raise TaskError(f"{path}: {_first(error)}") from error
    wordings = trajectory.turk_annotations.anns
    inner = path.parent.relative_to(folder).as_posix()
    return Task(
        id=inner if inner != "." else path.parent.resolve().name,
        env="alfred",
        kind=trajectory.task_type,
        goal=wordings[annotator % len(wordings)].goal(steps=sentences),
        scene=scene.model_dump(mode="json", exclude_defaults=True),
        max_steps=max(MAX_STEPS, len(scene.recording.steps) if scene.recording else 0),
        reference_cost=len(trajectory.plan.low_actions),
    )


def load(path: Path) -> Trajectory:
    """A validated `traj_data.json`.

    Raises:
        TaskError: names the file and the field.
    """
    try:
        return Trajectory.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TaskError(f"Can't read {path}: {error}.") from error
    except ValidationError as error:
        raise TaskError(f"{path}: {_first(error)}") from error


def _first(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"])) or "the whole"
    return f"{field}: {first['msg']}."


def _scene(trajectory: Trajectory, steps: bool) -> AlfredScene:
    scene, init = trajectory.scene, trajectory.scene.init_action
    if scene.floor_plan not in ROOMS:
        raise SceneError(f"scene.floor_plan: there is no room {scene.floor_plan!r}.")
    plan = tuple(_steps(trajectory.plan))
    return AlfredScene(
        room=scene.floor_plan,
        goal=_goal(trajectory, plan),
        start=StartPose(
            x=init.x,
            y=init.y,
            z=init.z,
            rotation=round(init.rotation) % 360,
            horizon=init.horizon,
        ),
        recording=Recording(
            poses=tuple(map(_pose, scene.object_poses)),
            lamps_on=tuple(t.objectType for t in scene.object_toggles if t.isOn),
            lamps_off=tuple(t.objectType for t in scene.object_toggles if not t.isOn),
            dirty_and_empty=scene.dirty_and_empty,
            plan=plan,
            steps=tuple(map(_low_step, trajectory.plan.low_actions)) if steps else (),
        ),
    )


def _pose(pose: _ObjectPose) -> RecordedPose:
    type = pose.objectName.partition("_")[0]
    return RecordedPose(
        type=RENAMED.get(type, type),
        position=pose.position.triple(),
        rotation=pose.rotation.triple(),
    )


def _steps(plan: _Plan) -> Iterator[RecordedStep]:
    """The interactions among the expert's low-level actions."""
    for action in plan.low_actions:
        api = action.api_action
        if api.action not in BY_ACTION:
            continue
        verb = BY_ACTION[api.action].name
        thing = thing_of(api.receptacleObjectId if verb == "put" else api.objectId)
        high = plan.high_pddl[action.high_idx] if action.high_idx < len(plan.high_pddl) else None
        holder = _holder(high.planner_action) if verb in _HOLDING and high is not None else None
        yield RecordedStep.model_validate({"verb": verb, "thing": thing, "holder": holder})


def _low_step(action: _LowAction) -> LowStep:
    api = action.api_action
    id = api.receptacleObjectId if api.action == "PutObject" else api.objectId
    return LowStep(
        action=api.action,
        thing=thing_of(id) if api.action in BY_ACTION else None,
        mask=action.discrete_action.args.mask or (),
    )


def _holder(action: _PlannerAction) -> RecordedThing | None:
    """The recorded receptacle. Its coordinates are in grid steps."""
    if action.coordinateReceptacleObjectId is None:
        return None
    type, box = action.coordinateReceptacleObjectId
    if len(box) < 6:
        return None
    x, z, y = (box[i] * STEP for i in (0, 2, 4))
    return RecordedThing(type=RENAMED.get(type, type), position=(x, y, z))


def thing_of(id: str) -> RecordedThing:
    """Type and position in an object id of THOR 2.1, such as "Sink|-00.31|+00.00|-02.08|SinkBasin".

    Raises:
        SceneError: it is no such id.
    """
    type, *rest = id.split("|")
    try:
        x, y, z = map(float, rest[:3])
    except ValueError as error:
        raise SceneError(f"plan.low_actions: {id!r} is not an object id.") from error
    part, _, number = rest[3].partition("_") if len(rest) > 3 else (type, "", "")
    return RecordedThing(
        type=RENAMED.get(part, part),
        position=(x, y, z),
        slice=int(number) if number.isdigit() else None,
    )


def _goal(trajectory: Trajectory, plan: Sequence[RecordedStep]) -> AlfredGoal:
    """ALFRED's goal, with today's receptacle type."""
    params = trajectory.pddl_params
    type = trajectory.task_type
    parent, needs = params.parent_target or None, BY_NAME[type].needs
    puts = [s.thing for s in plan if s.verb == "put" and s.thing.type == parent]
    if parent is not None and puts:
        world = ThorObjects(records(trajectory.scene.floor_plan))
        found = counterpart(puts[-1], list(world))
        parent = found.type if found is not None else parent
    return AlfredGoal(
        type=type,
        object=RENAMED.get(params.object_target, params.object_target),
        parent=parent if "parent" in needs else None,
        movable=params.mrecep_target or None if "movable" in needs else None,
        toggle=params.toggle_target or None if "toggle" in needs else None,
        sliced=params.object_sliced,
    )
