"""ALFRED's files, read, refused and acted."""

from __future__ import annotations

import logging
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.scenes.scene import AlfredScene, counterpart
from inhabit.envs.alfred.tasks.trajectories import read, thing_of
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import SceneError, TaskError
from inhabit.envs.simulators.household.rooms.ithor import load
from tests.envs.alfred.trajectories_for_tests import trajectory, write

DATA = Path(os.environ.get("INHABIT_DATA", "../shared/data")) / "alfred" / "valid_seen.tar.xz"


def test_a_trajectory_is_a_task(tmp_path: Path) -> None:
    write(tmp_path, trajectory())
    (task,) = read(tmp_path)
    assert task.id == "a/trial_1" and task.kind == "pick_and_place_simple"
    assert task.goal == "Chill the {mug}." and task.reference_cost == 6
    scene = AlfredScene.model_validate(task.scene)
    assert scene.recording is not None and scene.recording.dirty_and_empty
    verbs = [step.verb for step in scene.recording.plan]
    assert verbs == ["pick up", "open", "put", "close"]
    (other,) = read(tmp_path, AlfredSettings(annotator=1))
    assert other.goal == "Put a mug in the fridge"


def test_a_basin_of_a_tall_sink_is_found_by_the_place_in_its_id() -> None:
    id = "Sink|-00.46|-00.01|+03.05|SinkBasin"
    found = counterpart(thing_of(id), [ThorObject.of(o) for o in load("FloorPlan426").objects])
    assert found is not None and found.id == id


def test_its_plan_is_acted_through_our_skills(tmp_path: Path) -> None:
    write(tmp_path, trajectory())
    (task,) = read(tmp_path)
    with Alfred(settings=AlfredSettings(expert="recorded", wire="none")) as env:
        env.reset(task, seed=0)
        for _ in range(15):
            plan = env.plan()
            assert plan, "The recorded plan ended too early."
            outcome = env.act(plan[0])
            assert outcome.reason is None, outcome.feedback
            if outcome.over:
                break
        assert env.progress() == (1, 1)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        (("task_type",), "juggle", "task_type"),
        (("scene", "init_action", "x"), "left", "scene.init_action.x"),
        (("scene", "floor_plan"), "FloorPlan999", "'FloorPlan999'"),
        (("scene", "object_poses", 0, "objectName"), "Mug", "object_poses.0.objectName"),
        (("plan", "low_actions", 1, "api_action", "objectId"), "Mug|up", "'Mug|up'"),
        (("turk_annotations", "anns"), [], "turk_annotations.anns"),
        (("pddl_params", "mrecep_target"), None, "pddl_params.mrecep_target"),
    ],
)
def test_a_bad_file_is_named_with_its_field(
    tmp_path: Path, field: tuple[str | int, ...], value: object, told: str
) -> None:
    content = trajectory()
    part: Any = content
    for key in field[:-1]:
        part = part[key]
    part[field[-1]] = value
    path = write(tmp_path, content)
    with pytest.raises(TaskError) as error:
        list(read(tmp_path))
    assert str(path) in str(error.value) and told in str(error.value)


@pytest.mark.parametrize("content", ["", "{", "[]", '"\ud800"'])
def test_a_broken_file_can_be_left_out(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "bad" / "traj_data.json"
    path.parent.mkdir()
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    write(tmp_path, trajectory(), "good")
    with pytest.raises(TaskError, match="bad"):
        list(read(tmp_path))
    with caplog.at_level(logging.WARNING):
        assert [task.id for task in read(tmp_path, AlfredSettings(bad_files="skip"))] == ["good"]
    assert str(path) in caplog.text


def test_a_mask_does_not_mean_the_floor(tmp_path: Path) -> None:
    content = trajectory()
    put = content["plan"]["low_actions"][4]
    put["discrete_action"] = {"args": {"mask": [[0, 90_000]]}}
    content["plan"]["low_actions"] = [put]
    write(tmp_path, content)
    (task,) = read(tmp_path, AlfredSettings(replay="mask"))
    with Alfred(settings=AlfredSettings(replay="mask", wire="none")) as env:
        for x, z in ((-1.0, 1.0), (0.5, 1.5)):
            scene = {**task.scene, "start": {"x": x, "z": z, "horizon": 60}}
            env.reset(task.model_copy(update={"scene": scene}), seed=0)
            assert all("floor" not in action.text for action in env.plan())
    with Alfred(settings=AlfredSettings(replay="mask", wire="none", width=400)) as env:
        env.reset(task, seed=0)
        with pytest.raises(SceneError, match="needs images of 300x300 pixels"):
            env.plan()


def test_no_folder_and_nothing_in_it(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no folder"):
        list(read(tmp_path / "nowhere"))
    with pytest.raises(TaskError, match="no traj_data"):
        list(read(tmp_path))


def test_ids_of_the_old_version() -> None:
    basin = thing_of("Sink|-00.31|+00.00|-02.08|SinkBasin")
    assert (basin.type, basin.position, basin.slice) == ("SinkBasin", (-0.31, 0.0, -2.08), None)
    piece = thing_of("Apple|+01.00|+00.90|-00.20|AppleSliced_3")
    assert (piece.type, piece.slice) == ("AppleSliced", 3)
    assert thing_of("Glassbottle|+01.00|+00.90|-00.20").type == "Bottle"
    with pytest.raises(SceneError, match="not an object id"):
        thing_of("Mug")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if not DATA.is_file():
        pytest.skip(f"ALFRED's trajectories are not here: {DATA} (or set INHABIT_DATA)")
    folder = tmp_path_factory.mktemp("alfred")
    with tarfile.open(DATA) as archive:
        members = [m for m in archive if m.name.endswith("traj_data.json")][::12]
        archive.extractall(folder, members=members, filter="data")
    yield folder


def test_theirs_are_read(theirs: Path) -> None:
    tasks = list(read(theirs))
    assert len(tasks) >= 20 and len({task.kind for task in tasks}) == 7


@pytest.mark.slow
def test_their_plans_succeed_through_our_skills(theirs: Path) -> None:
    solved = 0
    tasks = list(read(theirs))
    with Alfred(settings=AlfredSettings(expert="recorded")) as env:
        for task in tasks:
            env.reset(task, seed=0)
            assert env.progress()[0] < env.progress()[1]
            for _ in range(60):
                plan = env.plan()
                if not plan or env.act(plan[0]).over:
                    break
            met, total = env.progress()
            solved += met == total
    assert solved / len(tasks) >= 0.85


def test_the_sentences_of_the_steps_follow_the_goal_where_they_are_asked_for(
    tmp_path: Path,
) -> None:
    file = trajectory()
    file["turk_annotations"]["anns"][0]["high_descs"] = ["Turn. ", "Take it\nup.", " "]
    write(tmp_path, file)
    goals = [
        next(read(tmp_path, AlfredSettings(goal="steps", annotator=annotator))).goal
        for annotator in (0, 1)
    ]
    assert goals == ["Chill the {mug}.\nTurn.\nTake it up.", "Put a mug in the fridge"]
