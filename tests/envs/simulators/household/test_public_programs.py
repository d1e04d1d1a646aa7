"""Actions and arguments as public AI2-THOR programs send them, through the unmodified client.

Each row is one call as it stands in such a program (rearrangement, navigation, several robots,
ManipulaTHOR, ProcTHOR and Objaverse houses, data collection, teleoperation), found by searching
public code; `"<Mug>"` stands for the id of the first mug, `"<name Mug>"` for its name, `"<cell>"`
for a place where one can stand. A call works, or is refused in a sentence, as docs/thor.md says.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from ai2thor.controller import Controller

from inhabit.envs.simulators.household.launcher import executable

pytestmark = pytest.mark.slow
Call = tuple[str, dict[str, Any]]
FORCE = {"forceAction": True}
LEVEL = {"x": 0, "y": 0, "z": 0}
HELD: Sequence[Call] = (("PickupObject", {"objectId": "<Mug>", **FORCE}),)
CUT = {"fieldOfView": 50, "orthographic": False, "farClippingPlane": 50}
ABOVE = {"position": {"x": 0, "y": 4.0, "z": 0}, "rotation": {"x": 90, "y": 0, "z": 0}}
MANY = [{"x": 0.0, "y": -30.0, "z": 0.0}, "<cell>", {"x": -1.0, "y": 1.5, "z": 1.0}]
ARM = {"speed": 1, "returnToStart": True, "fixedDeltaTime": 0.02, "disableRendering": True}

WORKS: Sequence[tuple[str, dict[str, Any], Sequence[Call]]] = (
    # walking and looking, of all ages
    ("Teleport", {"position": "<cell>", "rotation": 90, "horizon": 30, "standing": True}, ()),
    ("Teleport", {"position": "<cell>", "rotation": {"y": 90}}, ()),
    ("Teleport", {"position": "<cell>", "agentId": 0}, ()),
    ("TeleportFull", {"<xyz>": 1, "rotation": 90.0, "horizon": 30.0}, ()),
    ("TeleportFull", {"<xyz>": 1, "rotation": LEVEL, "horizon": 0, "standing": True}, ()),
    ("TeleportFull", {"<xyz>": 1, "rotateOnTeleport": True, "rotation": 0, "horizon": 0}, ()),
    ("Teleport", {"<xyz>": 1, "rotateOnTeleport": True, "rotation": 90, "horizon": 0}, ()),
    ("Rotate", {"rotation": 270}, ()),
    ("Rotate", {"rotation": {"x": 0, "y": 45, "z": 0}}, ()),
    ("Look", {"horizon": 30}, ()),
    ("RotateRight", {"degrees": 20, "agentId": 0}, ()),
    ("RotateLeft", {"degrees": 45, "forceAction": True}, ()),
    ("LookDown", {"degrees": 50 - 20, "forceAction": True}, ()),
    ("Done", {}, ()),
    ("Pass", {"renderImage": False}, ()),
    ("ChangeFOV", {"fieldOfView": 60, "camera": "FirstPersonCharacter"}, ()),
    ("ChangeQuality", {"quality": "Very High"}, ()),
    ("ChangeResolution", {"x": 100, "y": 100}, ()),
    # questions
    ("GetReachablePositions", {"gridSize": 0.25}, ()),
    ("GetReachablePositions", {"directionsRelativeAgent": True}, ()),
    ("GetShortestPath", {"objectType": "Fridge", "position": "<cell>"}, ()),
    ("GetShortestPath", {"objectId": "<Fridge>", "position": "<cell>", "rotation": LEVEL}, ()),
    ("GetShortestPath", {"objectId": "<Fridge>", "navMeshIds": [0], "allowedError": 0.1}, ()),
    ("GetShortestPathToPoint", {"position": "<cell>", "x": -1.0, "y": 0.9, "z": 1.0}, ()),
    ("GetShortestPathToPoint", {"target": "<cell>", "allowedError": 0.25}, ()),
    ("ObjectNavExpertAction", {"objectId": "<Fridge>"}, ()),
    ("ObjectNavExpertAction", {"position": "<cell>", "agentId": 0}, ()),
    ("GetInteractablePoses", {"objectId": "<Mug>", "standings": [True], "horizons": [0, 30]}, ()),
    ("GetInteractablePoses", {"objectId": "<Mug>", "positions": ["<cell>"]}, ()),
    ("GetInteractablePoses", {"objectId": "<Mug>", "horizons": np.linspace(-30, 60, 30)}, ()),
    ("PositionsFromWhichItemIsInteractable", {"objectId": "<Mug>", "positions": ["<cell>"]}, ()),
    ("GetVisibleObjects", {}, ()),
    ("GetVisibleObjects", {"maxDistance": 5}, ()),
    (
        "GetVisibleObjects",
        {"maxDistance": 2, "thirdPartyCameraIndex": 0},
        (("AddThirdPartyCamera", ABOVE),),
    ),
    ("GetSceneBounds", {}, ()),
    ("GetObjectInFrame", {"x": 0.5, "y": 0.5, "checkVisible": False}, ()),
    ("GetCoordinateFromRaycast", {"x": 0.5, "y": 0.5}, ()),
    ("GetInSceneAssetGeometry", {"objectId": "<Mug>", "triangles": True, "uv": True}, ()),
    ("GetAssetDatabase", {}, ()),
    ("ResetObjectFilter", {}, ()),
    ("SetObjectFilter", {"objectIds": []}, ()),
    # hands
    ("PickupObject", {"objectId": "<Mug>", "forceAction": True, "manualInteract": False}, ()),
    ("PutObject", {"objectId": "<CounterTop>", "forceAction": True, "agentId": 0}, HELD),
    (
        "PutObject",
        {"objectId": "<CounterTop>", "forceAction": True, "placeStationary": False},
        HELD,
    ),
    ("DropHandObject", FORCE, HELD),
    ("DropHeldObject", FORCE, HELD),
    ("DropHeldObjectAhead", FORCE, HELD),
    ("ThrowObject", {"moveMagnitude": 7, "agentId": 0, **FORCE}, HELD),
    ("ThrowObject", {"moveMagnitude": 150.0, "forceAction": False}, HELD),
    ("MoveHeldObject", {"ahead": 0.0, "right": 0.1, "up": -0.01, "forceVisible": False}, HELD),
    ("MoveHeldObjectUp", {"moveMagnitude": 0.05, "forceVisible": False}, HELD),
    ("MoveHeldObjectAhead", {"moveMagnitude": 0.2, "forceVisible": True}, HELD),
    ("RotateHeldObject", {"pitch": 90, "yaw": 0, "roll": 0}, HELD),
    ("RotateHeldObject", {"rotation": {"x": 0, "y": 0, "z": 180}}, HELD),
    # states
    ("OpenObject", {"objectId": "<Fridge>", "openness": 0.5, **FORCE}, ()),
    ("OpenObject", {"objectId": "<Fridge>", "moveMagnitude": 1.0, **FORCE}, ()),
    ("OpenObject", {"objectId": "<Fridge>", "moveMagnitude": 0.0, **FORCE}, ()),
    ("OpenObject", {"objectId": "<Fridge>", "openPercent": 0.5, **FORCE}, ()),
    ("ToggleObjectOn", {"objectId": "<Faucet>", **FORCE}, ()),
    ("SliceObject", {"objectId": "<Apple>", **FORCE}, ()),
    ("BreakObject", {"objectId": "<Plate>", **FORCE}, ()),
    ("DirtyObject", {"objectId": "<Plate>", **FORCE}, ()),
    ("CookObject", {"objectId": "<Potato>", **FORCE}, ()),
    ("FillObjectWithLiquid", {"objectId": "<Mug>", "fillLiquid": "coffee", **FORCE}, ()),
    ("SetStateOfAllObjects", {"StateChange": "CanBeDirty", "forceAction": True}, ()),
    (
        "SetObjectStates",
        {
            "SetObjectStates": {"objectType": "Fridge", "stateChange": "openable", "isOpen": True},
            "renderImage": False,
        },
        (),
    ),
    ("SetObjectToggles", {"objectToggles": [{"objectType": "Faucet", "isOn": True}]}, ()),
    ("RandomToggleStateOfAllObjects", {"randomSeed": 3}, ()),
    ("RandomToggleSpecificState", {"StateChange": "CanOpen", "randomSeed": 3}, ()),
    # what there is, and where
    (
        "InitialRandomSpawn",
        {
            "randomSeed": 1,
            "forceVisible": False,
            "numPlacementAttempts": 5,
            "placeStationary": True,
            "numDuplicatesOfType": [{"objectType": "Apple", "count": 2}],
            "excludedReceptacles": ["SinkBasin", "Cabinet"],
            "excludedObjectIds": [],
        },
        (),
    ),
    ("InitialRandomSpawn", {"randomSeed": 1, "numRepeats": [], "randomizeOpen": True}, ()),
    ("InitialRandomSpawn", {"minFreePerReceptacleType": [], "forceVisible": True}, ()),
    (
        "InitialRandomSpawn",
        {
            "randomSeed": 9,
            "objectIds": ["small|mug"],
            "receptacleObjectIds": ["<CounterTop>"],
            "forceVisible": False,
            "allowFloor": False,
            "allowMoveable": True,
            "numPlacementAttempts": 10,
            "renderImage": False,
        },
        (
            (
                "SpawnAsset",
                {
                    "assetId": "Mug_1",
                    "generatedId": "small|mug",
                    "position": {"x": 0, "y": -20, "z": 0},
                    "rotation": LEVEL,
                    "renderImage": False,
                },
            ),
        ),
    ),
    ("SpawnAsset", {"assetId": "Coffee_Table_201_1", "generatedId": "table"}, ()),
    ("CreateObject", {"objectType": "Apple", "renderImage": False}, ()),
    ("RemoveFromScene", {"objectId": "<Mug>", "renderImage": False}, ()),
    ("DisableObject", {"objectId": "<Mug>"}, ()),
    ("EnableObject", {"objectId": "<Mug>"}, (("DisableObject", {"objectId": "<Mug>"}),)),
    ("HideObject", {"objectId": "<Mug>"}, ()),
    ("ScaleObject", {"objectId": "<Mug>", "scale": 1.5, "scaleOverSeconds": 0, **FORCE}, ()),
    ("MakeObjectBreakable", {"objectId": "<Mug>"}, ()),
    ("MakeAllObjectsUnbreakable", {}, ()),
    ("MakeObjectsOfTypeUnbreakable", {"objectType": "Egg"}, ()),
    ("SetMassProperties", {"objectId": "<Mug>", "mass": 1, "drag": 1, "angularDrag": 1}, ()),
    (
        "SetObjectPoses",
        {
            "objectPoses": [
                {"objectName": "<name Mug>", "position": {"x": -1.0, "y": 1.2, "z": 1.0}}
            ],
            "placeStationary": False,
            "enablePhysicsJitter": False,
            "forceRigidbodySleep": True,
            "skipMoveable": True,
        },
        (),
    ),
    (
        "TeleportObject",
        {
            "objectId": "<Mug>",
            "position": {"x": 0.0, "y": -10.0, "z": 0.0},
            "rotation": {"x": 0.0, "y": 0.0, "z": 0.0},
            "forceAction": True,
            "forceKinematic": True,
        },
        (),
    ),
    (
        "TeleportObject",
        {
            "objectId": "<Mug>",
            "rotation": LEVEL,
            "positions": MANY,
            "forceKinematic": True,
            "allowTeleportOutOfHand": True,
            "makeUnbreakable": True,
        },
        HELD,
    ),
    ("GetSpawnCoordinatesAboveReceptacle", {"objectId": "<CounterTop>", "anywhere": True}, ()),
    # cameras and looks
    ("GetMapViewCameraProperties", {"raise_for_failure": True}, ()),
    ("AddThirdPartyCamera", {**ABOVE, **CUT, "skyboxColor": "white"}, ()),
    ("AddThirdPartyCamera", {**ABOVE, "antiAliasing": "fxaa", "nearClippingPlane": 0.1}, ()),
    (
        "UpdateThirdPartyCamera",
        {"thirdPartyCameraId": 0, "position": {"y": 2.0}, "rotation": {"y": 90.0}, **CUT},
        (("AddThirdPartyCamera", ABOVE),),
    ),
    ("ToggleMapView", {}, ()),
    ("RandomizeMaterials", {"useTrainMaterials": True, "useValMaterials": True}, ()),
    ("RandomizeMaterials", {"inRoomTypes": None}, ()),
    ("RandomizeLighting", {"brightness": (1.25, 1.25), "randomizeColor": False}, ()),
    ("RandomizeColors", {}, ()),
    # the engine
    ("PausePhysicsAutoSim", {}, ()),
    ("PausePhysicsAutoSim", {"autoSyncTransforms": True}, ()),
    ("AdvancePhysicsStep", {"timeStep": 0.05}, (("PausePhysicsAutoSim", {}),)),
    ("AdvancePhysicsStep", {"timeStep": 0.01, "simSeconds": 0.2, "allowAutoSimulation": True}, ()),
    ("UnpausePhysicsAutoSim", {}, ()),
    ("MakeAllObjectsMoveable", {}, ()),
    ("MakeAllPickupableObjectsMoveable", {}, ()),
    ("SetRandomSeed", {"seed": 5}, ()),
)
ARMED: Sequence[Call] = (
    ("MoveArm", {"position": {"x": 0.0, "y": 0, "z": 0.35}, **ARM}),
    ("MoveArmBase", {"y": 0.8, **ARM}),
    ("MoveArm", {"position": {"x": 0, "y": 0.1, "z": 0}, "coordinateSpace": "wrist", **ARM}),
    ("RotateWristRelative", {"yaw": 15, "pitch": 0, "roll": 0, **ARM}),
    ("SetHandSphereRadius", {"radius": 0.49}),
    ("RotateAgent", {"degrees": -90, "returnToStart": True, "speed": 1, "fixedDeltaTime": 0.02}),
    ("ReleaseObject", {}),
)
REFUSED: Sequence[Call] = (
    ("PutObject", {"objectId": "<Mug>", "receptacleObjectId": "<CounterTop>", **FORCE}),
    ("PickupObject", {"objectId": "Mug|nowhere"}),
    ("RandomInitialize", {"randomizeOpen": True, "uniquePickupableObjectTypes": True}),
    ("DropHeldObjectWithSnap", {"objectId": "<Mug>"}),
    ("CreateObject", {"objectType": "Sphere", "position": LEVEL, "color": [255, 182, 193]}),
    ("CreateObject", {"objectType": "Fridge"}),
    ("SpawnAsset", {"assetId": "0a0a0a0a0a", "generatedId": "objaverse"}),
    ("CreateRuntimeAsset", {"id": "x", "dir": "/tmp", "extension": ".pkl.gz"}),
    ("DeleteLRUFromProceduralCache", {"assetLimit": 0}),
    ("randomizeObjectMass", {}),
    ("RotateObject", {"objectId": "<Mug>", "rotation": LEVEL}),
    ("TeleportObject", {"objectId": "<Mug>", "position": {"x": 0, "y": 1, "z": 0}}),
    ("TeleportObject", {"objectId": "<Mug>", "x": 0.0, "y": 1.0, "z": 0.0}),
    ("GetShortestPath", {"position": "<cell>"}),
    ("TouchThenApplyForce", {"objectId": "<Mug>", "direction": LEVEL, "forceMagnitude": 180.0}),
    ("MoveArm", {"position": {"x": 0, "y": 0.5, "z": 0}, "coordinateSpace": "armBase"}),
    ("MoveArmBase", {"y": 0.5}),
    ("RotateWristRelative", {"yaw": 90}),
    ("ReleaseObject", {}),
    ("MoveMidLevelArm", {"position": {"x": 0, "y": 0, "z": 0.5}, "handCameraSpace": False}),
    ("FlyAhead", {"moveMagnitude": 0.25}),
    ("SetSkybox", {"color": {"r": 0, "g": 0, "b": 0}}),
    ("VisualizePath", {"positions": [], "grid": False}),
    ("MoveAhead", {"agentId": 1}),
    ("MoveAhead", {"agent_id": 0}),
    ("Teleport", {"position": "<cell>", "roll": 3}),
)


def made(**arguments: Any) -> Controller:
    return Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_timeout=None,
        width=100,
        height=100,
        renderDepthImage=True,
        renderInstanceSegmentation=True,
        **arguments,
    )


@pytest.fixture(scope="module")
def kitchen() -> Iterator[Controller]:
    controller = made(
        scene="FloorPlan1",
        visibilityScheme="Distance",
        makeAgentsVisible=False,
        massThreshold=10,
        autoSimulation=False,
        fastActionEmit=True,
    )
    yield controller
    controller.stop()


@pytest.fixture(scope="module")
def armed() -> Iterator[Controller]:
    controller = made(
        scene="FloorPlan203", agentMode="arm", useMassThreshold=True, massThreshold=10
    )
    yield controller
    controller.stop()


def filled(controller: Controller, value: Any) -> Any:
    """A call with what its placeholders stand for."""
    objects = controller.last_event.metadata["objects"]
    if isinstance(value, Mapping):
        place = value.get("<xyz>") and filled(controller, "<cell>")
        rest = {k: filled(controller, v) for k, v in value.items() if k != "<xyz>"}
        return {**(place or {}), **rest}
    if isinstance(value, list):
        return [filled(controller, one) for one in value]
    if isinstance(value, str) and value == "<cell>":
        return dict(CELL)
    if isinstance(value, str) and value.startswith("<"):
        key, _, kind = value[1:-1].rpartition(" ")
        return next(o for o in objects if o["objectType"] == kind)[key or "objectId"]
    return value


CELL = {"x": -1.0, "y": 0.900999, "z": 1.0}
"""Where one can stand in FloorPlan1."""


def state(event: Any) -> Any:
    return event.metadata["agent"], event.metadata["objects"]


@pytest.mark.parametrize(("action", "arguments", "ready"), WORKS)
def test_a_call_of_a_public_program(
    kitchen: Controller, action: str, arguments: dict[str, Any], ready: Sequence[Call]
) -> None:
    kitchen.reset("FloorPlan1")
    calls = [(name, filled(kitchen, its)) for name, its in (*ready, (action, arguments))]
    for name, its in calls:
        event = kitchen.step(name, **its)
        assert event.metadata["lastActionSuccess"] or name == action
    assert event.metadata["lastActionSuccess"], event.metadata["errorMessage"]
    assert event.metadata["lastAction"] == action


@pytest.mark.parametrize(("action", "arguments"), ARMED)
def test_a_call_of_a_public_program_with_an_arm(
    armed: Controller, action: str, arguments: dict[str, Any]
) -> None:
    armed.reset("FloorPlan203")
    event = armed.step(action, **arguments)
    assert event.metadata["lastActionSuccess"], event.metadata["errorMessage"]
    assert event.metadata["lastAction"] == action


@pytest.mark.parametrize(("action", "arguments"), REFUSED)
def test_a_call_that_is_refused_says_so_and_changes_nothing(
    kitchen: Controller, action: str, arguments: dict[str, Any]
) -> None:
    before = kitchen.reset("FloorPlan1")
    try:
        event = kitchen.step(action, **filled(kitchen, arguments))
    except ValueError as error:
        assert len(str(error)) > 20
        event = kitchen.last_event
    assert not event.metadata["lastActionSuccess"]
    assert " " in event.metadata["errorMessage"]
    assert state(kitchen.step("Pass")) == state(before)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"scene": "FloorPlan_Train1_1"}, "not contained in build"),
        ({"scene": "FloorPlan1", "agentControllerType": "mid-level"}, "no longer"),
        ({"scene": "FloorPlan1", "agentMode": "drone"}, "drone"),
        ({"scene": "FloorPlan1", "agentMode": "stretch"}, "stretch"),
        ({"scene": "FloorPlan1", "renderFlowImage": True}, "renderFlowImage"),
    ],
)
def test_a_start_that_is_refused_says_so(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises((RuntimeError, ValueError), match=told):
        made(**arguments)
