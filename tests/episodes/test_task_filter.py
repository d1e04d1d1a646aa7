"""`--kinds` and `--rooms`: which tasks are taken, of samples and of files."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import inhabit
from inhabit.cli import main
from inhabit.envs.core import TaskError, UnknownNameError
from inhabit.envs.registry import Registration, find, names
from inhabit.episodes.playing.tasks import gather

TOY = find("toy")
UNDECLARED = dataclasses.replace(
    TOY, kinds=lambda settings: (), rooms=lambda settings: {}, room_of=lambda task: None
)


def test_a_sample_holds_the_kinds_and_rooms_that_are_asked_for() -> None:
    every = inhabit.tasks("toy", 200, seed=1)
    few = inhabit.tasks("toy", 9, seed=1, kinds=["put_two", "put"], rooms=["kitchen"])
    fit = [t for t in every if t.kind != "put_away" and t.scene["room"] == "kitchen"]
    assert list(few) == fit[:9]
    assert inhabit.tasks("toy", 4, seed=1, kinds=["put_two", "put"], rooms=["kitchen"]) == few[:4]


@pytest.mark.slow
def test_a_room_type_stands_for_its_rooms() -> None:
    for task in inhabit.tasks("thor_nav", 3, rooms=["FloorPlan1", "FloorPlan201"]):
        assert task.scene["room"] in ("FloorPlan1", "FloorPlan201")
    found = inhabit.tasks("alfred", 1, rooms=["bedroom"], kinds=["look_at_obj_in_light"])
    assert len(found) == 1
    for task in found:
        assert task.kind == "look_at_obj_in_light"
        assert str(task.scene["room"]).startswith("FloorPlan3")
    number = int(found[0].id.rsplit("-", 1)[1])
    assert inhabit.tasks("alfred", number + 1)[number] == found[0]


def test_a_file_is_filtered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(t.model_dump_json() + "\n" for t in inhabit.tasks("toy", 6)))
    found = inhabit.tasks("toy", source=str(file), kinds=["put_away"])
    assert [task.id for task in found] == ["toy-0-1", "toy-0-4"]
    words = ["run", "toy", "--agent", "expert", "--tasks", str(file), "--kinds", "put_two, put"]
    with pytest.raises(SystemExit):
        main([*words, "--set", "in_process=true", "--out", str(tmp_path / "run")])
    rows = inhabit.read_run(tmp_path / "run").episodes()
    assert {row["kind"] for row in rows} == {"put_two", "put"} and len(rows) == 4


@pytest.mark.parametrize("registration", [TOY, UNDECLARED], ids=["declared", "undeclared"])
def test_an_unknown_kind_names_the_nearest(registration: Registration) -> None:
    with pytest.raises(UnknownNameError, match=r"no task kind of toy 'put_tow'.*put_two"):
        _gather(registration, kinds=["put_tow"])


def test_too_few_tasks_are_an_error_and_no_endless_search() -> None:
    with pytest.raises(UnknownNameError, match=r"no room of alfred 'FloorPlan31'\. Did you mean"):
        inhabit.tasks("alfred", 1, rooms=["FloorPlan31"])
    with pytest.raises(TaskError, match="name no room: leave 'hall' out"):
        _gather(UNDECLARED, rooms=["hall"])
    with pytest.raises(TaskError, match=r"0 of [0-9]+ sampled tasks"):
        inhabit.tasks("minedojo", 1, kinds=["techtree"], rooms=["desert"])


@pytest.mark.parametrize(
    "env", [pytest.param(n, marks=pytest.mark.slow if n == "alfworld" else ()) for n in names()]
)
def test_declared_kinds_are_those_of_samples(env: str) -> None:
    registration = find(env)
    settings = registration.settings()
    if not (kinds := registration.kinds(settings)):
        pytest.skip("It declares none.")
    rooms = {room for group in registration.rooms(settings).values() for room in group}
    for task in inhabit.tasks(env, 6):
        assert task.kind in kinds
        assert registration.room_of(task) in rooms


def _gather(registration: Registration, **chosen: list[str]) -> None:
    gather(registration, registration.settings(), n=1, seed=0, source=None, **chosen)
