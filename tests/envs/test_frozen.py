"""Sets of tasks that never change."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from inhabit.envs import tasksets
from inhabit.envs.core import TaskError, UnknownNameError
from inhabit.envs.registry import find
from inhabit.episodes.playing.tasks import gather

VALUES = "values-v1"


@pytest.mark.parametrize("name", sorted(tasksets.SETS.keys() - {VALUES}))
def test_a_set_has_two_hundred_tasks_of_every_kind(name: str) -> None:
    registration = find(name.rpartition("-")[0])
    settings = registration.settings()
    tasks = gather(registration, settings, n=None, seed=0, source=name)
    assert len(tasks) == 200 == len({task.id for task in tasks})
    assert all(task.reference_cost for task in tasks)
    assert min(Counter(task.kind for task in tasks).values()) >= 14
    assert gather(registration, settings, n=3, seed=7, source=name) == tasks[:3]


def test_the_set_of_values_asks_in_words_about_houses_and_traffic() -> None:
    registration = find("pca_bench")
    tasks = gather(registration, registration.settings(), n=None, seed=0, source=VALUES)
    kinds = Counter(task.kind for task in tasks)
    assert kinds.keys() == {"autonomous_driving", "domestic_robot"} and min(kinds.values()) >= 10
    places = Counter(task.scene.get("answer") for task in tasks)
    assert max(places.values()) < len(tasks) / 2
    assert all(task.scene["reason"] and task.scene["key_concepts"] for task in tasks)


def test_a_set_is_for_its_own_environment() -> None:
    registration = find("toy")
    with pytest.raises(TaskError, match="'alfred'"):
        gather(registration, registration.settings(), n=1, seed=0, source="alfred-v1")
    with pytest.raises(UnknownNameError, match=r"'alfred-v2'\. Did you mean: alfred-v1"):
        gather(registration, registration.settings(), n=1, seed=0, source="alfred-v2")


def test_a_set_that_was_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tasksets.find("alfred-v1")
    assert file is not None
    changed = tmp_path / file.name
    shutil.copy(file, changed)
    with changed.open("a") as stream:
        stream.write("\n")
    monkeypatch.setattr(tasksets, "_FOLDER", tmp_path)
    with pytest.raises(TaskError, match="differs from the frozen"):
        tasksets.find("alfred-v1")


def test_no_other_name_is_a_set() -> None:
    assert tasksets.find("../alfred-v1") is None
