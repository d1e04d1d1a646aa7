"""Every row of the table of actions, through the client as it comes; and random requests."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai2thor.controller import Controller
from procthor_houses import small_house

from inhabit.envs.simulators.household.actions import ACTIONS, OF_ARM
from inhabit.envs.simulators.household.actions.table import (
    REFUSED,
    ROWS,
    UNARMED,
    markdown,
)
from inhabit.envs.simulators.household.launcher import executable

OWN = {"GetScenesInBuild", "Reset", "Initialize", "ChangeResolution", "CreateHouse"}
"""Actions about the simulator itself."""
FORCED = {"forceAction": True}
Step = Mapping[str, Any]
Made = Callable[[Controller], Sequence[Step]]
"""Requests for an action, of which the last one is the action itself."""


def name_of(controller: Controller, kind: str, key: str = "objectId") -> str:
    objects = controller.last_event.metadata["objects"]
    return str(next(o[key] for o in objects if o["objectType"] == kind))


def on(kind: str, *before: Step, **arguments: Any) -> Made:
    """The action on the first thing of a kind, after other actions."""
    return lambda c: [*before, {"objectId": name_of(c, kind), **arguments}]


def held(**arguments: Any) -> Made:
    return lambda c: [
        {"action": "PickupObject", "objectId": name_of(c, "Mug"), **FORCED},
        arguments,
    ]


def plain(**arguments: Any) -> Made:
    return lambda c: [arguments]


def at_mug(**arguments: Any) -> Made:
    """The agent before the mug, as the client itself says where to stand."""

    def made(c: Controller) -> Sequence[Step]:
        mug = name_of(c, "Mug")
        poses = c.step("GetInteractablePoses", objectId=mug, horizons=[30.0], standings=[True])
        pose = poses.metadata["actionReturn"][0]
        mask = c.step("TeleportFull", **pose).instance_masks[mug]
        row, column = (int(v) for v in np.argwhere(mask)[len(np.argwhere(mask)) // 2])
        x, y = (column + 0.5) / mask.shape[1], (row + 0.5) / mask.shape[0]
        return [{**arguments, "x": x, "y": y}]

    return made


def free_cell(c: Controller) -> Mapping[str, float]:
    cells = c.step("GetReachablePositions").metadata["actionReturn"]
    return dict(cells[len(cells) // 2])


def moved_mug(c: Controller) -> Sequence[Step]:
    position = {**free_cell(c), "y": 1.2}
    pose = {"objectName": name_of(c, "Mug", "name"), "position": position}
    return [{"objectPoses": [pose]}]


def mug_on_counter(c: Controller) -> Sequence[Step]:
    asked = c.step("GetSpawnCoordinatesAboveReceptacle", objectId=name_of(c, "CounterTop"))
    return [{"objectId": name_of(c, "Mug"), "position": p} for p in asked.metadata["actionReturn"]]


def mug_in_the_air(c: Controller) -> Sequence[Step]:
    position, level = {**free_cell(c), "y": 1.2}, {"x": 0.0, "y": 0.0, "z": 0.0}
    return [{"objectId": name_of(c, "Mug"), "position": position, "rotation": level}]


def amid_free_cells(c: Controller) -> Sequence[Step]:
    """The agent where it can go any way."""
    cells = c.step("GetReachablePositions").metadata["actionReturn"]
    free = {(round(4 * cell["x"]), round(4 * cell["z"])): cell for cell in cells}
    ways = ((0, 1), (1, 0), (0, -1), (-1, 0))
    middle = next(v for (x, z), v in free.items() if all((x + i, z + j) in free for i, j in ways))
    return [{"action": "Teleport", "position": middle, "rotation": 0.0}, {}]


def in_front(c: Controller) -> Mapping[str, Any]:
    """A line through the agent's eye, straight down."""
    eye = c.last_event.metadata["cameraPosition"]
    return {"origin": eye, "destination": {**eye, "y": eye["y"] - 1.0}}


CAMERA = {"position": {"x": 0, "y": 1.5, "z": 0}, "rotation": {"x": 20, "y": 90, "z": 0}}


def opened(kind: str) -> Made:
    return lambda c: [
        {"action": "OpenObject", "objectId": name_of(c, kind), **FORCED},
        {"objectId": name_of(c, kind), **FORCED},
    ]


def put(c: Controller) -> Sequence[Step]:
    pick = {"action": "PickupObject", "objectId": name_of(c, "Mug"), **FORCED}
    return [pick, {"objectId": name_of(c, "CounterTop"), **FORCED}]


def undone(action: str, kind: str) -> Made:
    return lambda c: [
        {"action": action, "objectId": name_of(c, kind)},
        {"objectId": name_of(c, kind)},
    ]


MADE: Mapping[str, Made] = {
    "Reset": plain(sceneName="FloorPlan2_physics"),
    "CreateHouse": plain(house=small_house()),
    "Initialize": plain(gridSize=0.1, fieldOfView=100, renderDepthImage=True),
    "ChangeResolution": plain(x=80, y=60),
    **dict.fromkeys(("MoveAhead", "MoveBack", "MoveLeft", "MoveRight"), amid_free_cells),
    "Stand": lambda c: [{"action": "Crouch"}, {}],
    "Teleport": lambda c: [{"position": free_cell(c), "rotation": 37.0, "horizon": 10.0}],
    "TeleportFull": lambda c: [
        {**free_cell(c), "rotation": {"x": 0, "y": 90, "z": 0}, "horizon": 30.0, "standing": False}
    ],
    "GetReachablePositions": plain(gridSize=0.1),
    "GetInteractablePoses": on("Mug", maxPoses=1),
    "PositionsFromWhichItemIsInteractable": on("Mug"),
    "GetShortestPath": plain(objectType="Fridge"),
    "GetShortestPathToPoint": lambda c: [{"target": free_cell(c)}],
    "ObjectNavExpertAction": plain(objectType="Fridge"),
    "GetObjectInFrame": at_mug(checkVisible=True),
    "GetCoordinateFromRaycast": at_mug(),
    "PerformRaycast": lambda c: [in_front(c)],
    "GetObjectHitFromRaycast": lambda c: [in_front(c)],
    "TouchThenApplyForce": at_mug(direction={"x": 0, "y": 0, "z": 1}, force=50.0),
    "PickupObject": at_mug(),
    "PutObject": put,
    "PlaceHeldObject": put,
    **{name: held() for name in ("DropHandObject", "DropHeldObject", "DropHeldObjectAhead")},
    "ThrowObject": held(moveMagnitude=100.0),
    **{name: held(moveMagnitude=0.1) for name in ACTIONS if name.startswith("MoveHeldObject")},
    "MoveHeldObject": held(ahead=0.1, right=0.05, up=0.1),
    **{name: held(moveMagnitude=0.1) for name in ACTIONS if name.startswith("MoveHand")},
    "RotateHeldObject": held(pitch=90.0),
    "RotateHand": held(x=90.0),
    "PushObject": on("Mug", moveMagnitude=20.0, **FORCED),
    "PullObject": on("Stool", moveMagnitude=20.0, **FORCED),
    "DirectionalPush": on("Mug", moveMagnitude=20.0, pushAngle=90.0, **FORCED),
    "OpenObject": on("Fridge", openness=0.5, **FORCED),
    "CloseObject": opened("Fridge"),
    "ToggleObjectOn": on("Faucet", **FORCED),
    "ToggleObjectOff": on("LightSwitch", **FORCED),
    "SliceObject": on("Apple", **FORCED),
    "BreakObject": on("Plate", **FORCED),
    "DirtyObject": on("Plate", **FORCED),
    "CleanObject": lambda c: [
        {"action": "DirtyObject", "objectId": name_of(c, "Plate"), **FORCED},
        {"objectId": name_of(c, "Plate"), **FORCED},
    ],
    "CookObject": on("Potato", **FORCED),
    "UseUpObject": on("PaperTowelRoll", **FORCED),
    "FillObjectWithLiquid": on("Cup", fillLiquid="wine", **FORCED),
    "EmptyLiquidFromObject": lambda c: [
        {"action": "FillObjectWithLiquid", "objectId": name_of(c, "Cup"), **FORCED},
        {"objectId": name_of(c, "Cup"), **FORCED},
    ],
    **{name: on("Bread") for name in ("RemoveFromScene", "DisableObject", "HideObject")},
    "EnableObject": undone("DisableObject", "Bread"),
    "UnhideObject": undone("HideObject", "Bread"),
    "SetObjectStates": plain(SetObjectStates={"stateChange": "toggleable", "isToggled": True}),
    "SetObjectToggles": plain(objectToggles=[{"objectType": "Faucet", "isOn": True}]),
    "SetStateOfAllObjects": plain(StateChange="CanBeDirty", **FORCED),
    "SetMassProperties": on("Mug", mass=2.0),
    "MakeObjectBreakable": on("Mug"),
    "GetInSceneAssetGeometry": on("Mug", triangles=True),
    "ScaleObject": on("Mug", scale=1.5, **FORCED),
    "CreateObject": plain(objectType="Apple"),
    "SpawnAsset": plain(assetId="Mug_1", generatedId="mug"),
    "RandomToggleSpecificState": plain(StateChange="CanOpen", randomSeed=3),
    "SetRandomSeed": plain(seed=7),
    "Rotate": plain(rotation=37.0),
    "Look": plain(horizon=30.0),
    "TeleportObject": mug_in_the_air,
    "MakeObjectsOfTypeUnbreakable": plain(objectType="Plate"),
    "SetObjectFilter": lambda c: [{"objectIds": [name_of(c, "Mug")]}],
    "SetObjectFilterForType": plain(objectTypes=["Mug"]),
    "SetObjectPoses": moved_mug,
    "InitialRandomSpawn": plain(randomSeed=3),
    "GetSpawnCoordinatesAboveReceptacle": on("CounterTop"),
    "PlaceObjectAtPoint": mug_on_counter,
    "AddThirdPartyCamera": plain(**CAMERA),
    "UpdateThirdPartyCamera": lambda c: [
        {"action": "AddThirdPartyCamera", **CAMERA},
        {"thirdPartyCameraId": 0, "fieldOfView": 60.0},
    ],
    "ChangeFOV": plain(fieldOfView=60.0),
    "ChangeTimeScale": plain(timeScale=2.0),
    "ChangeQuality": plain(quality="Very Low"),
    "AdvancePhysicsStep": plain(timeStep=0.05),
}


@pytest.fixture(scope="module")
def controller() -> Iterator[Controller]:
    made = Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_timeout=None,
        scene="FloorPlan1",
        width=100,
        height=100,
        renderDepthImage=True,
        renderInstanceSegmentation=True,
    )
    yield made
    made.stop()


def test_the_table_lists_what_there_is() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))
    acting = {row.name for row in ROWS if row.status != "refused"}
    assert acting == set(ACTIONS) | set(OF_ARM) | OWN
    assert not set(REFUSED) & acting
    assert all(row.note for row in ROWS if row.status != "done")


def test_the_documentation_has_this_table() -> None:
    page = Path(__file__).parents[4] / "docs" / "thor.md"
    told = page.read_text(encoding="utf-8")
    assert markdown() in told, "run scripts/thor_table"


DONE = [row.name for row in ROWS if row.status != "refused" and row.name not in UNARMED]


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if i % 6 else ()) for i, n in enumerate(DONE)],
)
def test_what_is_done_succeeds(controller: Controller, name: str) -> None:
    controller.reset("FloorPlan1", gridSize=0.25, fieldOfView=90)
    made = MADE.get(name, plain())
    first = {"action": name}
    for request in made(controller):
        event = controller.step({**first, **request})
        assert_event(event)
        if name == "PlaceObjectAtPoint" and event.metadata["lastActionSuccess"]:
            break
    if name == "ToggleMapView":
        controller.step("ToggleMapView")
    assert event.metadata["lastAction"] == name
    if name == "UseUpObject":  # nothing in iTHOR's rooms can be, by their data
        assert "CanBeUsedUp" in event.metadata["errorMessage"]
        return
    assert event.metadata["lastActionSuccess"], event.metadata["errorMessage"]


@pytest.mark.parametrize("name", [*REFUSED, *UNARMED])
def test_what_is_refused_fails_with_a_sentence(controller: Controller, name: str) -> None:
    sentence = {**REFUSED, **UNARMED}[name]
    event = controller.step(name, anything=1)
    assert not event.metadata["lastActionSuccess"]
    assert event.metadata["errorMessage"] == sentence != ""
    with pytest.raises(RuntimeError, match=re.escape(sentence)):
        controller.step(name, raise_for_failure=True)


def assert_event(event: Any) -> None:
    metadata = event.metadata
    assert metadata["lastActionSuccess"] == (metadata["errorMessage"] == "")
    assert metadata["errorCode"] is None or not metadata["lastActionSuccess"]
    shape = (metadata["screenHeight"], metadata["screenWidth"])
    assert event.frame.shape == (*shape, 3) and event.depth_frame.shape == shape


RAISES = [
    {"action": "NoSuchAction"},
    {"action": "PickupObject"},
    {"action": "MoveAhead", "unknown": 1},
    {"action": "RotateRight", "degrees": "ninety"},
]
FAILS = [
    {"action": "Teleport", "horizon": 80.0},
    {"action": "Teleport", "position": {"x": 900, "y": 1, "z": 0}},
    {"action": "Teleport", "position": {"x": float("nan"), "y": 1, "z": 0}},
    {"action": "PickupObject", "objectId": "Mug|nowhere"},
    {"action": "OpenObject", "objectId": "Fridge", "openness": 7.0},
    {"action": "GetObjectInFrame", "x": 1.5, "y": 0.5},
    {"action": "RemoveFromScene", "objectId": "Mug|nowhere"},
    {"action": "ChangeResolution", "x": 10**9, "y": 10},
    {"action": "UpdateThirdPartyCamera", "thirdPartyCameraId": 9},
    {"action": "MoveAhead", "moveMagnitude": 900.0},
]


@pytest.mark.parametrize("request_", RAISES, ids=str)
def test_what_thor_can_not_dispatch_raises(controller: Controller, request_: Step) -> None:
    with pytest.raises(ValueError, match=r"\w+"):
        controller.step(dict(request_))
    assert controller.step("Pass").metadata["lastActionSuccess"]


@pytest.mark.parametrize("request_", FAILS, ids=str)
def test_what_thor_tries_and_can_not_do_fails(controller: Controller, request_: Step) -> None:
    event = controller.step(dict(request_))
    assert not event.metadata["lastActionSuccess"] and event.metadata["errorMessage"]


def test_third_party_cameras_bring_all_their_images(controller: Controller) -> None:
    controller.reset("FloorPlan1")
    above = controller.step("GetMapViewCameraProperties").metadata["actionReturn"]
    controller.step("AddThirdPartyCamera", **CAMERA)
    event = controller.step("AddThirdPartyCamera", **above, skyboxColor="white")
    assert len(event.third_party_camera_frames) == 2
    assert len(event.third_party_depth_frames) == 2
    assert len(event.third_party_instance_masks) == 2
    assert [c["orthographic"] for c in event.metadata["thirdPartyCameras"]] == [False, True]
    floor = name_of(controller, "Floor")
    assert event.third_party_instance_masks[1][floor].mean() > 0.1
    blind = controller.step("Pass", renderImage=False)
    assert blind.metadata["lastActionSuccess"]


def test_the_map_view_and_back(controller: Controller) -> None:
    before = controller.reset("FloorPlan1").frame
    above = controller.step("ToggleMapView").frame
    assert (above != before).any()
    assert (controller.step("ToggleMapView").frame == before).all()


@pytest.mark.slow
def test_free_angles_and_steps(controller: Controller) -> None:
    controller.reset("FloorPlan1", gridSize=0.1, snapToGrid=False, rotateStepDegrees=30)
    controller.step("Teleport", position=free_cell(controller), rotation=0)
    assert controller.step("RotateRight").metadata["agent"]["rotation"]["y"] == pytest.approx(30)
    event = controller.step("RotateLeft", degrees=7.5)
    assert event.metadata["agent"]["rotation"]["y"] == pytest.approx(22.5)
    here = event.metadata["agent"]["position"]
    for _ in range(16):
        event = controller.step("MoveAhead", moveMagnitude=0.07)
        if event.metadata["lastActionSuccess"]:
            break
        controller.step("RotateRight", degrees=22.5)
    there = event.metadata["agent"]["position"]
    assert math.hypot(there["x"] - here["x"], there["z"] - here["z"]) == pytest.approx(0.07)
    positions = controller.step("GetReachablePositions").metadata["actionReturn"]
    assert len(positions) > 300  # a tenth of a metre apart


@pytest.mark.slow
def test_a_picture_that_is_too_large_is_refused_at_the_start() -> None:
    with pytest.raises((RuntimeError, ValueError), match="4096"):
        Controller(
            local_executable_path=shlex.quote(str(executable())),
            x_display=":0",
            server_timeout=None,
            scene="FloorPlan1",
            width=100_000,
            height=100_000,
        )
