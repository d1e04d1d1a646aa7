"""Every call that AI2-THOR's documentation shows, through its unmodified client.

The pages are those of iTHOR and ManipulaTHOR (initialization, navigation, interactive physics,
object state changes, domain randomization, set object states, third-party cameras, queries, arm);
each row is one call with the arguments that stand there, and what the page says of its result.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from ai2thor.controller import Controller
from ai2thor.util.metrics import compute_single_spl, get_shortest_path_to_object_type

from inhabit.envs.simulators.household.launcher import executable

pytestmark = pytest.mark.slow
Arguments = Mapping[str, Any]
Holds = Callable[[Any, Any], bool]
"""Whether the event after a call is as documented, given the one before it."""
FORCE = {"forceAction": True}


class Call(NamedTuple):
    """A documented call."""

    action: str
    arguments: Arguments | Callable[[Controller], Arguments] = MappingProxyType({})
    holds: Holds = lambda now, before: True
    ready: tuple[tuple[str, str, Arguments], ...] = ()
    """Actions before it: name, type of the object, further arguments."""


def made(scene: str, **arguments: Any) -> Controller:
    return Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_timeout=None,
        scene=scene,
        visibilityDistance=1.5,
        gridSize=0.25,
        renderDepthImage=False,
        renderInstanceSegmentation=False,
        width=300,
        height=300,
        **arguments,
    )


@pytest.fixture(scope="module")
def kitchen() -> Iterator[Controller]:
    controller = made("FloorPlan1", agentMode="default", snapToGrid=True, rotateStepDegrees=90)
    yield controller
    controller.stop()


@pytest.fixture(scope="module")
def armed() -> Iterator[Controller]:
    controller = made("FloorPlan203", agentMode="arm", massThreshold=None, fieldOfView=60)
    yield controller
    controller.stop()


def of(event: Any, kind: str) -> Mapping[str, Any]:
    """The first object of a type."""
    return next(o for o in event.metadata["objects"] if o["objectType"] == kind)  # type: ignore[no-any-return]


def on(kind: str, **arguments: Any) -> Callable[[Controller], Arguments]:
    return lambda c: {"objectId": of(c.last_event, kind)["objectId"], **arguments}


def state(kind: str, key: str, value: Any) -> Holds:
    return lambda now, before: of(now, kind)[key] == value


def agent(event: Any) -> Mapping[str, Any]:
    return event.metadata["agent"]  # type: ignore[no-any-return]


def moved(now: Any, before: Any) -> bool:
    old, new = (agent(e)["position"] for e in (before, now))
    far = float(np.hypot(old["x"] - new["x"], old["z"] - new["z"]))
    return abs(far - 0.25) < 1e-4 if now.metadata["lastActionSuccess"] else old == new


def turned(degrees: float) -> Holds:
    def holds(now: Any, before: Any) -> bool:
        apart = agent(now)["rotation"]["y"] - agent(before)["rotation"]["y"] - degrees
        return abs((apart + 180) % 360 - 180) < 1e-6

    return holds


def returns(now: Any, before: Any) -> bool:
    return bool(now.metadata["actionReturn"])


def dropped(now: Any, before: Any) -> bool:
    return not now.metadata["inventoryObjects"] and bool(of(now, "Mug")["parentReceptacles"])


def hand(axis: str, sign: float) -> Holds:
    """The held thing moved along an axis of the camera."""

    def holds(now: Any, before: Any) -> bool:
        new, old = (e.metadata["heldObjectPose"]["localPosition"][axis] for e in (now, before))
        return (new - old) * sign > 0.05

    return holds


def poses(c: Controller) -> Arguments:
    listed = [
        {"objectName": o["name"], "position": o["position"], "rotation": o["rotation"]}
        for o in c.last_event.metadata["objects"]
        if o["pickupable"] or o["moveable"]
    ]
    return {"objectPoses": listed}


def free(c: Controller) -> Mapping[str, float]:
    cells = c.step("GetReachablePositions").metadata["actionReturn"]
    return dict(cells[len(cells) // 2])


def here(c: Controller) -> Arguments:
    turn = {"x": 0, "y": 270, "z": 0}
    return {"position": free(c), "rotation": turn, "horizon": 30, "standing": True}


def counter(c: Controller) -> Arguments:
    table = of(c.last_event, "CounterTop")["objectId"]
    asked = c.step("GetSpawnCoordinatesAboveReceptacle", objectId=table, anywhere=True)
    mug = of(c.last_event, "Mug")["objectId"]
    for point in asked.metadata["actionReturn"]:
        if c.step("PlaceObjectAtPoint", objectId=mug, position=point).metadata["lastActionSuccess"]:
            return {"objectId": mug, "position": point}
    raise AssertionError("the counter has no free place")


def gone(kind: str) -> Holds:
    return lambda now, before: all(
        o["objectId"] != of(before, kind)["objectId"] for o in now.metadata["objects"]
    )


HELD = (("PickupObject", "Mug", FORCE),)
MATERIALS = {
    "useTrainMaterials": None,
    "useValMaterials": None,
    "useTestMaterials": None,
    "inRoomTypes": None,
}
LIGHT = {
    "brightness": (0.5, 1.5),
    "randomizeColor": True,
    "hue": (0, 1),
    "saturation": (0.5, 1),
    "synchronized": False,
}
SPAWN = {
    "randomSeed": 0,
    "forceVisible": False,
    "numPlacementAttempts": 5,
    "placeStationary": True,
    "numDuplicatesOfType": [{"objectType": "Apple", "count": 3}],
    "excludedReceptacles": ["CounterTop", "DiningTable"],
    "excludedObjectIds": ["Apple|1|1|2"],
}
CAMERA = {
    "position": {"x": -1.25, "y": 1, "z": -1},
    "rotation": {"x": 90, "y": 0, "z": 0},
    "fieldOfView": 90,
}
CALLS = [
    # navigation
    *(Call(f"Move{way}", {"moveMagnitude": None}, moved) for way in ("Ahead", "Back")),
    *(Call(f"Move{way}", {"moveMagnitude": None}, moved) for way in ("Left", "Right")),
    Call("RotateRight", {"degrees": None}, turned(90)),
    Call("RotateLeft", {"degrees": None}, turned(-90)),
    Call("LookUp", {"degrees": 30}, lambda e, b: agent(e)["cameraHorizon"] == -30),
    Call("LookDown", {"degrees": 30}, lambda e, b: agent(e)["cameraHorizon"] == 30),
    Call("Crouch", {}, lambda e, b: not agent(e)["isStanding"]),
    Call("Stand", {}, lambda e, b: agent(e)["isStanding"], (("Crouch", "", {}),)),
    Call("Teleport", here, lambda e, b: agent(e)["cameraHorizon"] == 30),
    Call("TeleportFull", here, lambda e, b: agent(e)["rotation"]["y"] == 270),
    Call("GetReachablePositions", {}, returns),
    Call("Done", {}, lambda e, b: agent(e) == agent(b)),
    # interactive physics
    Call(
        "PickupObject", on("Mug", manualInteract=False, **FORCE), state("Mug", "isPickedUp", True)
    ),
    Call("PutObject", on("CounterTop", placeStationary=True, **FORCE), dropped, HELD),
    Call("DropHandObject", FORCE, dropped, HELD),
    Call("DropHeldObject", FORCE, dropped, HELD),
    Call("ThrowObject", {"moveMagnitude": 1500.0, **FORCE}, dropped, HELD),
    *(
        Call(
            f"MoveHeldObject{name}",
            {"moveMagnitude": 0.1, "forceVisible": False},
            hand(axis, sign),
            HELD,
        )
        for name, axis, sign in (
            ("Ahead", "z", 1),
            ("Back", "z", -1),
            ("Left", "x", -1),
            ("Right", "x", 1),
            ("Up", "y", 1),
            ("Down", "y", -1),
        )
    ),
    Call(
        "MoveHeldObject",
        {"ahead": 0.1, "right": 0.05, "up": 0.12, "forceVisible": False},
        hand("y", 1),
        HELD,
    ),
    Call(
        "RotateHeldObject",
        {"pitch": 90, "yaw": 25, "roll": 45},
        lambda e, b: of(e, "Mug")["rotation"] != of(b, "Mug")["rotation"],
        HELD,
    ),
    Call("RotateHeldObject", {"rotation": {"x": 90, "y": 15, "z": 25}}, ready=HELD),
    Call("PushObject", on("Mug", moveMagnitude=100.0, **FORCE), state("Mug", "isMoving", True)),
    Call("PullObject", on("Mug", moveMagnitude=100.0, **FORCE), state("Mug", "isMoving", True)),
    Call("DirectionalPush", on("Mug", moveMagnitude=100.0, pushAngle=90.0, **FORCE)),
    Call(
        "TouchThenApplyForce",
        {
            "x": 0.5,
            "y": 0.5,
            "direction": {"x": 0.0, "y": 1.0, "z": 0.0},
            "force": 40.0,
            "handDistance": 1.5,
        },
        lambda e, b: "didHandTouchSomething" in e.metadata["actionReturn"],
    ),
    Call("PlaceObjectAtPoint", counter),
    Call("GetSpawnCoordinatesAboveReceptacle", on("CounterTop", anywhere=False)),
    Call("PausePhysicsAutoSim"),
    Call("AdvancePhysicsStep", {"timeStep": 0.01}, ready=(("PausePhysicsAutoSim", "", {}),)),
    Call("UnpausePhysicsAutoSim"),
    # object state changes
    Call("OpenObject", on("Fridge", openness=1, **FORCE), state("Fridge", "isOpen", True)),
    Call(
        "CloseObject",
        on("Fridge", **FORCE),
        state("Fridge", "isOpen", False),
        (("OpenObject", "Fridge", FORCE),),
    ),
    Call("BreakObject", on("Plate", **FORCE), state("Plate", "isBroken", True)),
    Call("CookObject", on("Potato", **FORCE), state("Potato", "isCooked", True)),
    Call("SliceObject", on("Apple", **FORCE), lambda e, b: of(e, "AppleSliced") is not None),
    Call("ToggleObjectOn", on("Microwave", **FORCE), state("Microwave", "isToggled", True)),
    Call(
        "ToggleObjectOff",
        on("Microwave", **FORCE),
        state("Microwave", "isToggled", False),
        (("ToggleObjectOn", "Microwave", FORCE),),
    ),
    Call("DirtyObject", on("Plate", **FORCE), state("Plate", "isDirty", True)),
    Call(
        "CleanObject",
        on("Plate", **FORCE),
        state("Plate", "isDirty", False),
        (("DirtyObject", "Plate", FORCE),),
    ),
    Call(
        "FillObjectWithLiquid",
        on("Mug", fillLiquid="water", **FORCE),
        state("Mug", "fillLiquid", "water"),
    ),
    Call(
        "EmptyLiquidFromObject",
        on("Mug", **FORCE),
        state("Mug", "isFilledWithLiquid", False),
        (("FillObjectWithLiquid", "Mug", {"fillLiquid": "water", **FORCE}),),
    ),
    Call("UseUpObject", on("PaperTowelRoll", **FORCE), state("PaperTowelRoll", "isUsedUp", True)),
    # domain randomization, and setting states
    Call("RandomizeMaterials", MATERIALS, lambda e, b: bool((e.frame != b.frame).any())),
    Call("RandomizeLighting", LIGHT, lambda e, b: bool((e.frame != b.frame).any())),
    Call("RandomizeColors", {}, lambda e, b: bool((e.frame != b.frame).any())),
    Call(
        "InitialRandomSpawn",
        SPAWN,
        lambda e, b: sum(o["objectType"] == "Apple" for o in e.metadata["objects"]) == 3,
    ),
    Call("SetObjectPoses", poses),
    Call(
        "SetObjectStates",
        {
            "SetObjectStates": {
                "objectType": "Microwave",
                "stateChange": "toggleable",
                "isToggled": True,
            }
        },
        state("Microwave", "isToggled", True),
    ),
    Call(
        "SetMassProperties",
        on("Mug", mass=22.5, drag=15.9, angularDrag=5.6),
        state("Mug", "mass", 22.5),
    ),
    Call("SetRoomTempDecayTimeForType", {"objectType": "Bread", "TimeUntilRoomTemp": 20.0}),
    Call("SetGlobalRoomTempDecayTime", {"TimeUntilRoomTemp": 20.0}),
    Call("SetDecayTemperatureBool", {"allowDecayTemperature": False}),
    Call(
        "MakeObjectsOfTypeUnbreakable", {"objectType": "Plate"}, state("Plate", "breakable", False)
    ),
    Call("HideObject", on("Bread")),
    Call("UnhideObject", on("Bread"), ready=(("HideObject", "Bread", {}),)),
    Call("RemoveFromScene", on("Mug"), gone("Mug")),
    Call("DisableObject", on("Mug"), gone("Mug")),
    # cameras
    Call("AddThirdPartyCamera", CAMERA, lambda e, b: len(e.third_party_camera_frames) == 1),
    Call(
        "UpdateThirdPartyCamera",
        {"thirdPartyCameraId": 0, **CAMERA, "fieldOfView": 60},
        lambda e, b: e.metadata["thirdPartyCameras"][0]["fieldOfView"] == 60,
        (("AddThirdPartyCamera", "", CAMERA),),
    ),
    Call("GetMapViewCameraProperties", {}, returns),
    Call("ToggleMapView", {}, lambda e, b: bool((e.frame != b.frame).any())),
    # queries
    Call(
        "GetInteractablePoses",
        lambda c: {
            "objectId": of(c.last_event, "Mug")["objectId"],
            "positions": [free(c), *c.last_event.metadata["actionReturn"][:20]],
            "rotations": [*range(0, 360, 10)],
            "horizons": np.linspace(-30, 60, 30).tolist(),
            "standings": [True, False],
        },
        lambda e, b: isinstance(e.metadata["actionReturn"], list),
    ),
    Call("GetObjectInFrame", {"x": 0.5, "y": 0.5, "checkVisible": False}, returns),
    Call("GetCoordinateFromRaycast", {"x": 0.64, "y": 0.40}, returns),
    Call(
        "GetShortestPathToPoint",
        lambda c: {"position": agent(c.last_event)["position"], "target": free(c)},
        returns,
    ),
    Call("SetObjectFilter", on("Mug"), ready=()),
    Call("ResetObjectFilter", {}, lambda e, b: len(e.metadata["objects"]) > 50),
]
ARM = {"returnToStart": True, "speed": 1, "fixedDeltaTime": 0.02}
ARMS = [
    Call("MoveAgent", {"ahead": 0.25, "right": 0.0, **ARM}, moved),
    Call("RotateAgent", {"degrees": 30, **ARM}, turned(30)),
    Call(
        "MoveArm",
        {
            "position": {"x": 0.0, "y": 0.5, "z": 0.0},
            "coordinateSpace": "armBase",
            "restrictMovement": False,
            **ARM,
        },
        lambda e, b: e.metadata["arm"]["joints"][3] != b.metadata["arm"]["joints"][3],
    ),
    Call(
        "MoveArmBase",
        {"y": 0.5, **ARM},
        lambda e, b: abs(e.metadata["arm"]["joints"][0]["position"]["y"] - 1.126) < 0.02,
    ),
    Call(
        "RotateWristRelative",
        {"pitch": 0, "yaw": 25, "roll": 0, "speed": 10, "returnToStart": True},
        lambda e, b: e.metadata["arm"]["joints"][3] != b.metadata["arm"]["joints"][3],
    ),
    Call(
        "SetHandSphereRadius",
        {"radius": 0.1},
        lambda e, b: e.metadata["arm"]["handSphereRadius"] == 0.1,
    ),
    Call("ReleaseObject", {}, lambda e, b: e.metadata["arm"]["heldObjects"] == []),
]
IN_VAIN = {"UseUpObject": "CanBeUsedUp"}
"""Calls that fail by the rooms' data: nothing in them can be used up."""


def play(controller: Controller, call: Call) -> None:
    for action, kind, more in call.ready:
        target = {"objectId": of(controller.last_event, kind)["objectId"]} if kind else {}
        assert controller.step(action, **target, **more).metadata["lastActionSuccess"]
    arguments = call.arguments(controller) if callable(call.arguments) else call.arguments
    if call.action == "SetObjectFilter":
        arguments = {"objectIds": [arguments["objectId"]]}
    before = controller.last_event
    event = controller.step(action=call.action, **arguments)
    if call.action in IN_VAIN:
        assert IN_VAIN[call.action] in event.metadata["errorMessage"]
        return
    blocked = call.action.startswith("Move") and "block" in event.metadata["errorMessage"]
    assert event.metadata["lastActionSuccess"] or blocked, event.metadata["errorMessage"]
    assert call.holds(event, before)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.action)
def test_a_documented_call(kitchen: Controller, call: Call) -> None:
    kitchen.reset("FloorPlan1")
    play(kitchen, call)


@pytest.mark.parametrize("call", ARMS, ids=lambda call: call.action)
def test_a_documented_call_of_the_arm(armed: Controller, call: Call) -> None:
    armed.reset("FloorPlan203")
    play(armed, call)


def test_the_arm_picks_up_what_its_hand_touches(armed: Controller) -> None:
    book = of(armed.reset("FloorPlan203"), "Book")
    at = book["position"]
    cells = armed.step("GetReachablePositions").metadata["actionReturn"]
    near = min(cells, key=lambda c: np.hypot(c["x"] - at["x"], c["z"] - at["z"]))
    turn = float(np.degrees(np.arctan2(at["x"] - near["x"], at["z"] - near["z"])))
    armed.step("TeleportFull", **near, rotation=turn, horizon=30, standing=True)
    armed.step("MoveArm", position={"x": 0.0, "y": 0.4, "z": 0.3})
    armed.step("MoveArm", position=at, coordinateSpace="world", returnToStart=False)
    armed.step("SetHandSphereRadius", radius=0.2)
    event = armed.step(action="PickupObject", objectIdCandidates=[book["objectId"]])
    assert event.metadata["arm"]["heldObjects"] == [book["objectId"]]
    event = armed.step(action="ReleaseObject")
    assert event.metadata["arm"]["heldObjects"] == []


def test_the_clients_own_metrics(kitchen: Controller) -> None:
    event = kitchen.reset("FloorPlan1")
    start = agent(event)["position"]
    path = get_shortest_path_to_object_type(
        controller=kitchen, object_type="Apple", initial_position=start, initial_rotation=None
    )
    assert path and compute_single_spl(path, path, True) == pytest.approx(1.0)


def test_none_is_left_out() -> None:
    names = {call.action for call in (*CALLS, *ARMS)} | {"PickupObject", "GetShortestPath"}
    assert len(names) >= 65
