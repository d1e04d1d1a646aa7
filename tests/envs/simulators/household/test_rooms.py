import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

from inhabit.envs.core import SceneError, UnavailableError
from inhabit.envs.simulators.household.geometry.boxes import STEP
from inhabit.envs.simulators.household.geometry.grid import neighbours
from inhabit.envs.simulators.household.rooms import ithor
from inhabit.envs.simulators.household.types import things

FLOORS = {"FloorPlan1": 0.0, "FloorPlan3": 0.223, "FloorPlan21": -0.031, "FloorPlan221": 0.098}
"""From the heights at which ALFRED's agent stood, less THOR's 0.901."""


def test_all_rooms_have_a_place_to_stand_and_everything_thor_lists() -> None:
    loaded = [ithor.load(scene) for scene in ithor.SCENES]
    assert len(loaded) == 120
    assert sum(len(room.objects) for room in loaded) == 5670
    for room in loaded:
        assert len(room.cells) >= 20, room.name
        assert len(room.boxes) == len(room.objects)
        assert room.outline.floor < room.outline.ceiling


def test_cells_hang_together_and_keep_off_the_walls() -> None:
    for scene in ithor.SCENES[::7]:
        room = ithor.load(scene)
        reached, queue = set(), [min(room.cells)]
        while queue:
            cell = queue.pop()
            if cell not in reached:
                reached.add(cell)
                queue += [n for n in neighbours(cell) if n in room.cells]
        assert reached == room.cells
        assert all(room.outline.holds(x * STEP, z * STEP, 0.2) for x, z in room.cells)


def test_floors_are_as_high_as_thors() -> None:
    for scene, height in FLOORS.items():
        assert ithor.load(scene).outline.floor == pytest.approx(height, abs=0.002)


def test_links_hold_on_both_sides() -> None:
    for scene in ithor.SCENES[::7]:
        things = {o["objectId"]: o for o in ithor.load(scene).objects}
        for name, thing in things.items():
            for parent in thing["parentReceptacles"] or ():
                assert name in things[parent]["receptacleObjectIds"]
            for inner in thing["receptacleObjectIds"] or ():
                assert name in things[inner]["parentReceptacles"]


def test_physics_suffix_is_thors_other_name_for_a_room() -> None:
    assert ithor.load("FloorPlan7_physics").name == "FloorPlan7"


@pytest.mark.parametrize("name", ["FloorPlan31", "FloorPlan_Train1_1", "kitchen {0}", ""])
def test_an_unknown_room_is_named_with_the_nearest(name: str) -> None:
    with pytest.raises(SceneError) as error:
        ithor.load(name)
    assert repr(name) in str(error.value)
    assert "FloorPlan" in str(error.value)


def test_a_missing_package_is_named_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "site-packages" not in p])
    monkeypatch.delitem(sys.modules, "procthor", raising=False)
    with pytest.raises(UnavailableError, match="pip install procthor"):
        ithor.load("FloorPlan1")


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inhabit").write_text("a file in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UnavailableError, match="XDG_CACHE_HOME"):
        ithor.load("FloorPlan1")


@pytest.mark.slow
def test_processes_that_race_for_an_empty_cache_find_the_same_rooms(tmp_path: Path) -> None:
    code = (
        "from inhabit.envs.simulators.household.rooms import ithor\n"
        "print(len(ithor.load('FloorPlan230').cells))"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    answers = {racer.communicate(timeout=PATIENCE)[0] for racer in racers}
    assert answers == {f"{len(ithor.load('FloorPlan230').cells)}\n".encode()}
    assert [p.name.startswith("rooms-") for p in (tmp_path / "inhabit").iterdir() if p.is_dir()]
    assert not list((tmp_path / "inhabit").glob(".rooms-*"))


def test_habits_are_what_the_rooms_show() -> None:
    habits = ithor.habits()
    assert "CounterTop" in habits["Apple"]
    assert "Toilet" not in habits["Apple"]


def test_rooms_are_prepared_anew_when_types_get_other_fronts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = ithor._version.__wrapped__(1)
    assert ithor._version.__wrapped__(1) == before
    desk = things.THINGS["Desk"].model_copy(update={"traits": ()})
    monkeypatch.setattr(things, "THINGS", {**things.THINGS, "Desk": desk})
    assert ithor._version.__wrapped__(1) != before
