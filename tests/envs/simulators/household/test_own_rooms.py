"""Rooms from a user's files, and what is said of files that are none."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.rooms.ithor import load
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog, read
from inhabit.envs.simulators.household.simulator import Simulator


def saved(folder: Path, name: str, objects: list[dict[str, Any]]) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"sceneName": "FloorPlan401_physics", "objects": objects}))
    return path


@pytest.fixture
def bathroom() -> list[dict[str, Any]]:
    return [dict(o) for o in load("FloorPlan401").objects]


def test_a_saved_scene_is_the_room_that_it_was(
    tmp_path: Path, bathroom: list[dict[str, Any]]
) -> None:
    saved(tmp_path, "my bathroom", bathroom)
    catalog = Catalog(tmp_path)
    assert catalog.names[-1] == "my bathroom"
    simulator = Simulator("my bathroom", catalog=catalog)
    assert simulator.scene == "my bathroom"
    assert list(simulator.things) == [o["objectId"] for o in bathroom]
    assert catalog.load("my bathroom").cells == load("FloorPlan401").cells
    assert simulator.frame().rgb is not None
    assert simulator.act({"action": "Reset", "sceneName": "FloorPlan1"}).success
    assert simulator.act({"action": "Reset", "sceneName": "my bathroom"}).success


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"objectType": None}, "objects.0.objectType"),
        ({"assetId": ...}, "AI2-THOR 5.0.0"),
        ({"objectOrientedBoundingBox": {"cornerPoints": [[0.0]]}}, "cornerPoints"),
        ({"objectOrientedBoundingBox": {"cornerPoints": [[0.0, 1.0]] * 8}}, "cornerPoints"),
        ({"objectOrientedBoundingBox": {"cornerPoints": [[math.nan] * 3] * 8}}, "finite"),
        ({"openness": math.nan}, "openness"),
        ({"objectId": ["Bed"]}, "no objectId"),
    ],
)
def test_a_file_of_another_release_is_refused_with_its_field(
    tmp_path: Path, bathroom: list[dict[str, Any]], change: dict[str, Any], words: str
) -> None:
    for key, value in change.items():
        if value is ...:
            del bathroom[0][key]
        else:
            bathroom[0][key] = value
    with pytest.raises(SceneError, match=words):
        read(saved(tmp_path, "broken", bathroom))


def test_folders_and_files_that_are_no_rooms_are_named(
    tmp_path: Path, bathroom: list[dict[str, Any]]
) -> None:
    with pytest.raises(SceneError, match="no folder"):
        Catalog(tmp_path / "nowhere")
    with pytest.raises(SceneError, match="no rooms"):
        Catalog(tmp_path)
    for text in ("{", "[" * 100_000, "1" * 5_000):
        (tmp_path / "text.json").write_text(text)
        with pytest.raises(SceneError, match="Can't read"):
            read(tmp_path / "text.json")
    with pytest.raises(SceneError, match="type Floor"):
        read(saved(tmp_path, "air", [o for o in bathroom if o["objectType"] != "Floor"]))
    house = {"proceduralParameters": {}, "rooms": [], "walls": [], "objects": [{"id": "Bed|1"}]}
    (tmp_path / "house.json").write_text(json.dumps(house))
    with pytest.raises(SceneError, match=r"house\.json: .*schema: rooms"):
        read(tmp_path / "house.json")


@pytest.mark.parametrize("name", ["FloorPlan1", "FloorPlan1_physics", "hut_physics", "Procedural"])
def test_a_file_with_a_name_of_ai2thors_is_refused(
    tmp_path: Path, bathroom: list[dict[str, Any]], name: str
) -> None:
    saved(tmp_path, name, bathroom)
    with pytest.raises(SceneError, match="name of an iTHOR room"):
        Catalog(tmp_path)


def test_what_a_file_links_to_and_does_not_hold_is_forgotten(
    tmp_path: Path, bathroom: list[dict[str, Any]]
) -> None:
    bathroom[0]["receptacleObjectIds"] = ["Mug|+00.00|+00.00|+00.00"]
    room = read(saved(tmp_path, "one", bathroom))
    assert room.objects[0]["receptacleObjectIds"] == []


def test_what_a_file_calls_sliceable_is_sliced_whatever_its_type(
    tmp_path: Path, bathroom: list[dict[str, Any]]
) -> None:
    soap = next(o for o in bathroom if o["objectType"] == "SoapBar")
    soap |= {"objectType": "Cheese", "sliceable": True}
    saved(tmp_path, "larder", bathroom)
    simulator = Simulator("larder", catalog=Catalog(tmp_path))
    ask = {"action": "SliceObject", "objectId": soap["objectId"], "forceAction": True}
    assert simulator.act(ask).success
    assert [thing.kind for thing in simulator.things.values()].count("CheeseSliced") > 1


def test_a_worktop_that_stands_in_a_dresser_is_drawn(tmp_path: Path) -> None:
    objects = [dict(o) for o in load("FloorPlan402").objects]
    counter = next(o for o in objects if o["objectType"] == "CounterTop")
    box = counter["axisAlignedBoundingBox"] | {"size": {"x": 4.0, "y": 3.0, "z": 4.0}}
    dresser = counter | {
        "objectType": "Dresser",
        "objectId": "Dresser",
        "axisAlignedBoundingBox": box,
    }
    saved(tmp_path, "odd", [*objects, dresser | {"objectOrientedBoundingBox": None}])
    simulator = Simulator("odd", catalog=Catalog(tmp_path))
    assert counter["objectId"] in simulator.frame().names
