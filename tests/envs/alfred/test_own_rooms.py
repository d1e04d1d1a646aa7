"""Tasks in rooms of one's own, and the rule of cells that a run names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inhabit.envs.alfred import REGISTRATION
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.tasks.sampling import sample
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.alfred.world.things import ROOMS, Kind, Rooms, kind_of
from inhabit.envs.core import SceneError, Task, TaskError, UnavailableError
from inhabit.envs.simulators.household.rooms import ithor
from inhabit.envs.simulators.household.rooms.ithor import load


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two rooms as scripts/record_room saves them."""
    for scene, name in (("FloorPlan402", "guest {bath}"), ("FloorPlan303", "attic")):
        objects = load(scene).objects
        (tmp_path / f"{name}.json").write_text(json.dumps({"objects": objects}))
    return tmp_path


def test_tasks_are_drawn_in_a_folder_of_rooms_and_can_be_solved(folder: Path) -> None:
    settings = AlfredSettings(rooms=str(folder), wire="none")
    tasks = list(REGISTRATION.sample(2, 1, settings))
    assert tasks == list(sample(2, 1, AlfredSettings(rooms=str(folder))))
    assert {str(task.scene["room"]) for task in tasks} <= {"guest {bath}", "attic"}
    assert not any("heat" in task.kind for task in tasks), "there is no kitchen"
    with Alfred("embedded", settings) as env:
        env.reset(tasks[0], seed=0)
        assert env.vocabulary()
        for _ in range(60):
            plan = env.plan()
            if not plan or env.act(plan[0]).over:
                break
        met, total = env.progress()
    assert met == total


def test_a_task_in_a_room_that_is_not_there_is_refused(folder: Path) -> None:
    task = next(iter(sample(1, 1, AlfredSettings(rooms=str(folder)))))
    with Alfred("embedded") as env, pytest.raises(SceneError, match="there is no room"):
        env.reset(task, seed=0)


def test_bad_folders_are_told_in_words(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="no folder"):
        list(sample(1, 0, AlfredSettings(rooms=str(tmp_path / "nowhere"))))
    bare = tmp_path / "bare"
    bare.mkdir()
    floor = [o for o in load("FloorPlan303").objects if o["objectType"] in ("Floor", "Window")]
    (bare / "empty.json").write_text(json.dumps({"objects": floor}))
    with pytest.raises((TaskError, SceneError), match="bare"):
        list(sample(1, 0, AlfredSettings(rooms=str(bare))))
    (folder / "attic.json").write_text('{"objects": 3}')
    with pytest.raises(SceneError, match=r"attic\.json is not a room"):
        list(sample(1, 0, AlfredSettings(rooms=str(folder))))


def test_a_room_where_nobody_can_stand_is_told_in_words(tmp_path: Path) -> None:
    objects = [dict(o) for o in load("FloorPlan303").objects]
    for one in objects:
        if one["objectType"] == "Bed":  # It fills the room.
            box = {"center": {"x": 0, "y": 1, "z": 0}, "size": {"x": 30, "y": 2, "z": 30}}
            one |= {"axisAlignedBoundingBox": box, "objectOrientedBoundingBox": None}
    (tmp_path / "full.json").write_text(json.dumps({"objects": objects}))
    goal = {"type": "pick_and_place_simple", "object": "Pillow", "parent": "Bed"}
    scene = {"room": "full", "goal": goal, "start": {"x": 0, "z": 0}}
    task = Task(id="x", env="alfred", kind="pick_and_place_simple", goal="-", scene=scene)
    settings = AlfredSettings(rooms=str(tmp_path), wire="none")
    with Alfred(settings=settings) as env, pytest.raises(SceneError, match="no position where"):
        env.reset(task, seed=0)


def test_the_kind_of_a_room_is_told_from_what_is_in_it() -> None:
    for name in list(ROOMS)[::13]:
        assert kind_of(o["objectType"] for o in load(name).objects) == ROOMS[name]
    assert kind_of(["Box"]) == Kind.LIVING_ROOM


def test_tasks_do_not_depend_on_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert AlfredSettings().cells == "computed"
    first = list(sample(2, 3))
    monkeypatch.setattr(ithor, "recorded_cells", lambda room: frozenset({(0, 0)}))
    assert list(sample(2, 3)) == first
    monkeypatch.setattr(ithor, "recorded_folder", lambda: None)
    with pytest.raises(UnavailableError, match="cells=computed"):
        Rooms(cells="recorded").load("FloorPlan1")
