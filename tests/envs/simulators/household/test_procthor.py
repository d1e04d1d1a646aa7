"""ProcTHOR houses through the client as it comes, and descriptions that break the schema."""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ai2thor.controller import Controller
from procthor_houses import small_house

from inhabit.envs.core import SceneError
from inhabit.envs.simulators.household.launcher import executable
from inhabit.envs.simulators.household.rooms import procedural, templates
from inhabit.envs.simulators.household.rooms.user_rooms import read
from inhabit.envs.simulators.household.simulator import Simulator


@pytest.fixture(scope="module")
def controller() -> Iterator[Controller]:
    made = Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_timeout=None,
        scene=small_house(),
        width=100,
        height=100,
        renderInstanceSegmentation=True,
    )
    yield made
    made.stop()


@pytest.mark.parametrize("number", range(10))
def test_a_house_is_loaded_drawn_and_walked_in(controller: Controller, number: int) -> None:
    house = small_house(number)
    event = controller.reset(scene=house)
    assert event.metadata["lastActionSuccess"], event.metadata["errorMessage"]
    assert event.metadata["sceneName"] == "Procedural"
    ids = {o["objectId"] for o in event.metadata["objects"]}
    assert {"Fridge|1|0", "DiningTable|1|1", "Mug|1|2", "Apple|1|3", "Bed|2|0"} <= ids
    event = controller.step("TeleportFull", **house["metadata"]["agent"])
    assert event.metadata["lastActionSuccess"], event.metadata["errorMessage"]
    assert any(name.startswith("wall|") for name in event.instance_masks)
    cells = controller.step("GetReachablePositions").metadata["actionReturn"]
    wide = max(p["x"] for w in house["walls"] for p in w["polygon"]) / 2
    for low, high in ((0.0, wide), (wide, 2 * wide)):
        assert sum(low < cell["x"] < high for cell in cells) > 50  # through the doorway
    path = controller.step("GetShortestPath", objectId="Bed|2|0").metadata["actionReturn"]
    assert path["corners"][-1]["x"] > wide
    pose = controller.step("GetInteractablePoses", objectId="Mug|1|2", maxPoses=1)
    controller.step("TeleportFull", **pose.metadata["actionReturn"][0])
    event = controller.step("PickupObject", objectId="Mug|1|2")
    assert event.metadata["inventoryObjects"][0]["objectType"] == "Mug"


def test_a_wall_without_a_doorway_can_not_be_passed(controller: Controller) -> None:
    house = small_house(door=False)
    controller.reset(scene=house)
    cells = controller.step("GetReachablePositions").metadata["actionReturn"]
    wide = max(p["x"] for w in house["walls"] for p in w["polygon"]) / 2
    assert len({cell["x"] < wide for cell in cells}) == 1


def test_a_house_in_a_file_is_a_room_of_the_users(tmp_path: Path) -> None:
    file = tmp_path / "house_7.json"
    file.write_text(json.dumps(small_house(7)))
    room = read(file)
    assert room.name == "house_7" and len(room.cells) > 100


def without_rooms(house: Any) -> None:
    house["rooms"] = []


def strange_asset(house: Any) -> None:
    house["objects"][0]["assetId"] = "Fridge_{0}"


def twice(house: Any) -> None:
    house["objects"].append(house["objects"][0])


def far_off(house: Any) -> None:
    house["rooms"][0]["floorPolygon"][0]["x"] = 1e9


def no_number(house: Any) -> None:
    house["objects"][0]["position"]["x"] = float("nan")


def lost_door(house: Any) -> None:
    house["doors"][0]["wall0"] = "wall|9"


def no_polygon(house: Any) -> None:
    house["walls"][0]["polygon"] = "square"


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (without_rooms, "rooms"),
        (strange_asset, r"Fridge_\{0\}"),
        (twice, r"Fridge\|1\|0"),
        (far_off, "floorPolygon"),
        (no_number, r"objects\.0\.position\.x"),
        (lost_door, r"wall\|9"),
        (no_polygon, r"walls\.0\.polygon"),
    ],
)
def test_what_breaks_the_schema_is_named(spoil: Callable[[Any], None], named: str) -> None:
    house = copy.deepcopy(small_house())
    spoil(house)
    with pytest.raises(SceneError, match=named):
        procedural.build(house)


def test_a_broken_house_fails_and_the_simulator_goes_on(controller: Controller) -> None:
    controller.reset(scene=small_house())
    event = controller.step("CreateHouse", house={"rooms": 3})
    assert not event.metadata["lastActionSuccess"] and "schema" in event.metadata["errorMessage"]
    assert controller.step("RotateRight").metadata["lastActionSuccess"]


def test_a_house_without_outer_walls_is_as_large_as_its_floor() -> None:
    corners = [{"x": x, "z": z} for x, z in ((0, 0), (0, 6), (6, 6), (6, 0))]
    chair = next(one.id for one in templates.assets().values() if one.kind == "Chair")
    middle = {"id": "chair", "assetId": chair, "position": {"x": 3, "y": 0.5, "z": 3}}
    house = {"rooms": [{"floorPolygon": corners}]}
    empty, furnished = procedural.build(house), procedural.build({**house, "objects": [middle]})
    assert furnished.outline == empty.outline
    assert len(furnished.cells) > 0.9 * len(empty.cells)


@pytest.mark.parametrize("kind", ["CounterTop", "Desk"])
def test_furniture_that_is_spawned_is_drawn(kind: str) -> None:
    asset = next(one.id for one in templates.assets().values() if one.kind == kind)
    simulator = Simulator("FloorPlan401", width=60, height=60)
    ask = {"action": "SpawnAsset", "assetId": asset, "generatedId": "new"}
    assert simulator.act({**ask, "position": {"x": -1.0, "y": 0.5, "z": 1.0}}).success
    assert "new" in simulator.frame().names
