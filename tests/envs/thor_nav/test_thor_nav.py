"""Navigation to an object: the contract, files of others, the expert, and blocked starts."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Reason, SceneError, Task, TaskError
from inhabit.envs.thor_nav import ThorNavSettings
from inhabit.envs.thor_nav.env import ThorNav
from inhabit.envs.thor_nav.tasks import read, sample
from inhabit.episodes.playing.poses import pose_of, things_of

SMALL = ThorNavSettings(width=64, height=64)


@functools.cache
def two_tasks() -> tuple[Task, ...]:
    """Sampled once."""
    return tuple(sample(2, 0, SMALL))


class TestThorNav(EnvContract):
    def make(self) -> Env:
        return ThorNav(SMALL)

    def tasks(self) -> Sequence[Task]:
        return two_tasks()


def record(**changes: Any) -> dict[str, Any]:
    """A task of VAGEN's form."""
    return {
        "targetObjectType": "Toaster",
        "targetObjectIds": "Toaster|-01.84|+00.90|+00.13",
        "target_position": {"x": -1.84, "y": 0.9, "z": 0.13},
        "agentPose": {
            "position": {"x": 1.4, "y": 0.9, "z": -0.9},
            "rotation": 90.0,
            "horizon": 0.0,
        },
        "scene": "FloorPlan1",
        "object_to_hide": [],
        "instruction": "navigate to the Toaster in the room and be as close as possible to it",
        **changes,
    }


def saved(folder: Path, *records: dict[str, Any]) -> str:
    file = folder / "base.json"
    file.write_text(json.dumps({"tasks": records}))
    return str(file)


def solve(env: ThorNav, task: Task) -> int:
    """How many actions the expert takes; each succeeds."""
    env.reset(task, seed=0)
    plan = env.plan()
    for action in plan:
        outcome = env.act(action)
        assert outcome.reason is None
    assert outcome.over and env.progress() == (1, 1)
    return len(plan)


def test_a_file_of_theirs_is_read_and_solved(tmp_path: Path) -> None:
    (task,) = read(saved(tmp_path, record()), SMALL)
    assert task.goal.startswith("navigate to the Toaster") and task.max_steps == 20
    assert 5 <= solve(ThorNav(SMALL), task) <= 15


@pytest.mark.parametrize("step", [0.25, 0.3])
def test_the_expert_solves_what_is_sampled(step: float) -> None:
    settings = ThorNavSettings(width=64, height=64, step=step)
    env = ThorNav(settings)
    for task in sample(8, 1, settings):
        assert solve(env, task) <= task.max_steps


def test_random_play_seldom_arrives() -> None:
    env, draw, solved = ThorNav(SMALL), random.Random(0), 0
    for task in sample(10, 2, SMALL):
        env.reset(task, seed=0)
        for _ in range(task.max_steps):
            if env.act(draw.choice(env.vocabulary())).over:
                solved += 1
                break
    assert solved <= 4


def test_asking_changes_nothing() -> None:
    env = ThorNav(SMALL)
    env.reset(next(iter(sample(1, 3, SMALL))), seed=0)
    before, frame = env.digest(), env.observe().rgb
    env.plan(), env.admissible()
    assert env.digest() == before and (env.observe().rgb == frame).all()


def test_a_map_of_the_walk_can_be_drawn() -> None:
    env = ThorNav(SMALL)
    (task,) = sample(1, 3, SMALL)
    env.reset(task, seed=0)
    pose, (target,) = pose_of(env.state()), things_of(env.state())
    assert pose is not None
    assert (pose.x, pose.z) == (round(task.scene["x"], 3), round(task.scene["z"], 3))
    assert target.name == task.scene["target"]
    env.act(env.plan()[0])
    assert pose_of(env.state()) != pose


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Move_Forward.", "move forward"),
        ("Move forward by 0.25", "move forward"),
        ("Move leftward by 0.25", "move left"),
        ("Rotate to the right by 90 degrees.", "turn right"),
        ("Tilt the camera downward by 30 degrees.", "look down"),
        ("moveahead", "move forward"),
        ("moveback", "move backward"),
        ("rotateleft", "turn left"),
        ("lookup", "look up"),
    ],
)
def test_the_benchmarks_words_are_understood(said: str, meant: str) -> None:
    found = ThorNav(SMALL).parse(said)
    assert found is not None
    assert found.text == meant


def test_other_words_are_no_action() -> None:
    assert ThorNav(SMALL).parse("teleport to {0}") is None
    assert ThorNav(SMALL).parse("don't rotate right") is None


def test_a_blocked_step_is_said() -> None:
    env = ThorNav(SMALL)
    env.reset(next(iter(sample(1, 4, SMALL))), seed=0)
    forward = env.vocabulary()[0]
    outcomes = [env.act(forward) for _ in range(40)]
    assert outcomes[-1].reason is Reason.BLOCKED
    assert outcomes[-1].feedback == "Last action is not executed successfully."


def test_a_start_where_nobody_can_stand_is_refused(tmp_path: Path) -> None:
    pose = {"position": {"x": 900.0, "y": 0.9, "z": 0.5}, "rotation": 0.0, "horizon": 0.0}
    (task,) = read(saved(tmp_path, record(agentPose=pose)), SMALL)
    with pytest.raises(SceneError, match="Teleport"):
        ThorNav(SMALL).reset(task, seed=0)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"scene": 3}, r"tasks\.0\.scene"),
        ({"target_position": {"x": 1}}, r"tasks\.0\.target_position\.z"),
        ({"instruction": ""}, r"tasks\.0\.instruction"),
        ({"agentPose": {"position": {"x": float("nan"), "z": 0}, "rotation": 0}}, "agentPose"),
    ],
)
def test_a_file_of_another_form_is_named(
    tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    with pytest.raises(TaskError, match=named):
        read(saved(tmp_path, record(**changes)), SMALL)
    with pytest.raises(TaskError, match="nowhere"):
        read(str(tmp_path / "nowhere.json"), SMALL)


def test_a_copy_that_begins_anew_leaves_the_original_alone() -> None:
    first, second = two_tasks()
    with ThorNav(SMALL) as env:
        env.reset(first, seed=0)
        before = env.digest()
        with env.fork() as copy:
            copy.reset(second, seed=0)
            copy.act(copy.vocabulary()[4])
            assert env.digest() == before != copy.digest()


def test_no_episode_runs_after_a_reset_that_failed() -> None:
    task = two_tasks()[0]
    with ThorNav(SMALL) as env:
        env.reset(task, seed=0)
        with pytest.raises(SceneError, match="in the way"):
            env.reset(task.model_copy(update={"scene": {**task.scene, "x": 50.0}}), seed=0)
        with pytest.raises(SceneError, match="No episode is running"):
            env.progress()
        env.reset(task, seed=0)


def test_samples_begin_farther_away_than_where_they_are_solved() -> None:
    settings = SMALL.model_copy(update={"success": 2.0})
    with ThorNav(settings) as env:
        for task in sample(8, 0, settings):
            env.reset(task, seed=0)
            assert env.progress() == (0, 1)
            assert env.plan()
    with pytest.raises(TaskError, match="success=10"):
        next(sample(1, 0, SMALL.model_copy(update={"success": 10.0})))
