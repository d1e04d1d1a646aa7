"""EB-ALFRED's split files over ALFRED's trajectories."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from inhabit.envs.alfred import REGISTRATION
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import TaskError
from tests.envs.alfred.trajectories_for_tests import trajectory, write

DATA = Path(os.environ.get("INHABIT_DATA", "../shared/data")) / "alfred" / "valid_seen.tar.xz"
THEIRS = {
    "base": [
        "pick_clean_then_place_in_recep-Ladle-None-DiningTable-4/trial_T20190909_164840_568811",
        "pick_two_obj_and_place-ToiletPaper-None-Toilet-408/trial_T20190909_080302_174780",
    ],
    "common_sense": [
        "look_at_obj_in_light-Pillow-None-FloorLamp-223/trial_T20190906_201007_149137",
    ],
}
"""A few of the trials that EmbodiedBench's own file names."""


def entry(task: str, instruction: str = "Cool a mug.", **changes: Any) -> dict[str, Any]:
    return {"task": task, "repeat_idx": 0, "instruction": instruction, **changes}


def split_file(folder: Path, content: object) -> str:
    file = folder / "splits.json"
    file.write_text(json.dumps(content))
    return str(file)


@pytest.fixture
def trials(tmp_path: Path) -> AlfredSettings:
    """One trial as ALFRED releases it, and one as EB-ALFRED's data has it."""
    folder = tmp_path / "json_2.1.0"
    write(folder, trajectory(), "valid_seen/kind-1/trial_A")
    path = folder / "kind-2" / "trial_B" / "pp" / "ann_1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(trajectory()))
    return AlfredSettings(trajectories=str(folder))


def test_every_set_is_read_in_its_order(tmp_path: Path, trials: AlfredSettings) -> None:
    file = split_file(
        tmp_path,
        {
            "base": [entry("kind-2/trial_B", " First. "), entry("kind-1/trial_A", "Second.")],
            "spatial": [entry("kind-1/trial_A", "Third.")],
        },
    )
    tasks = list(REGISTRATION.read(file, trials))
    assert [task.goal for task in tasks] == ["First.", "Second.", "Third."]
    assert [task.id for task in tasks] == [
        "base/0/kind-2/trial_B",
        "base/1/kind-1/trial_A",
        "spatial/0/kind-1/trial_A",
    ]
    assert {task.max_steps for task in tasks} == {30}
    (only,) = REGISTRATION.read(file, trials.model_copy(update={"eval_set": "spatial"}))
    assert only == tasks[2]


def test_a_trial_is_played_with_the_actions_of_embodied_bench(
    tmp_path: Path, trials: AlfredSettings
) -> None:
    file = split_file(tmp_path, {"base": [entry("kind-1/trial_A")]})
    theirs = {"find": "oracle", "navigation": "teleport", "wire": "none"}
    settings = trials.model_copy(update=theirs)
    (task,) = REGISTRATION.read(file, settings)
    with Alfred(settings=settings) as env:
        env.reset(task, seed=0)
        for text in ("find a mug", "pick up the mug", "find a fridge", "open the fridge"):
            action = env.parse(text)
            assert action is not None, text
            assert env.act(action).reason is None, text
        put = env.parse("put the mug in the fridge")
        assert put is not None
        outcome = env.act(put)
        assert outcome.over and env.progress() == (1, 1)


@pytest.mark.parametrize(
    ("content", "changes", "named"),
    [
        ({"base": [entry("kind-1/trial_A")]}, {"trajectories": ""}, "--set trajectories=FOLDER"),
        ({"base": [entry("kind-1/trial_A")]}, {"eval_set": "easy"}, "no set 'easy'. It has: base"),
        ({"base": [entry("kind-9/trial_Z")]}, {}, "base.0.task: found no trial 'kind-9/trial_Z'"),
        ({"base": [entry("../kind-1/trial_A")]}, {}, r"found no trial '\.\./kind-1/trial_A'"),
        ({"base": [entry("kind-1/trial_A", "")]}, {}, "base.0.instruction"),
        ({"base": [entry(3)]}, {}, "base.0.task"),  # type: ignore[arg-type]
        (["base"], {}, r"Input should .* go into a \.jsonl file"),
    ],
)
def test_a_file_that_can_not_be_read_is_named(
    tmp_path: Path, trials: AlfredSettings, content: object, changes: dict[str, str], named: str
) -> None:
    file = split_file(tmp_path, content)
    with pytest.raises(TaskError, match=named):
        list(REGISTRATION.read(file, trials.model_copy(update=changes)))


def test_missing_trials_can_be_left_out(tmp_path: Path, trials: AlfredSettings) -> None:
    file = split_file(tmp_path, {"base": [entry("kind-9/trial_Z"), entry("kind-1/trial_A")]})
    (task,) = REGISTRATION.read(file, trials.model_copy(update={"bad_files": "skip"}))
    assert task.id == "base/1/kind-1/trial_A"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_file(), reason="ALFRED's trajectories are not beside the project.")
def test_trials_that_their_file_names_are_solved_by_the_expert(tmp_path: Path) -> None:
    with tarfile.open(DATA) as archive:
        wanted = {name for names in THEIRS.values() for name in names}
        members = [m for m in archive if any(name in m.name for name in wanted)]
        archive.extractall(tmp_path, members=members, filter="data")
    content = {name: [entry(task) for task in tasks] for name, tasks in THEIRS.items()}
    settings = AlfredSettings(
        trajectories=str(tmp_path), find="oracle", navigation="teleport", wire="none", width=64
    )
    tasks = list(REGISTRATION.read(split_file(tmp_path, content), settings))
    assert len(tasks) == 3
    with Alfred(settings=settings) as env:
        for task in tasks:
            env.reset(task, seed=0)
            for _ in range(task.max_steps):
                if env.act(env.plan()[0]).over:
                    break
            met, total = env.progress()
            assert met == total, task.id
