"""Arguments that AI2-THOR's actions take, and that make no difference here.

There is no physics and no time between two actions, one floor and one light; what is drawn has no
assets to choose from, and a picture no end in the distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import FiniteFloat

_BY_TYPE: tuple[tuple[Any, str], ...] = (
    (
        FiniteFloat,
        "allowedError angularDrag drag farClippingPlane fixedDeltaTime nearClippingPlane "
        "physicsInterval scaleOverSeconds speed y",
    ),
    (
        bool,
        "allowMoveable disableRendering enablePhysicsJitter forceAction forceKinematic "
        "forceRigidbodySleep forceVisible makeUnbreakable manualInteract placeStationary "
        "randomizeObjectAppearance returnToStart rotateOnTeleport sampleFromNavmesh "
        "simplifyPhysics synchronized useExternalMaterials useGripper useTestMaterials "
        "useTrainMaterials useValMaterials uv waitForFixedUpdate",
    ),
    (int, "navMeshId objectVariation randomSeed seed"),
    (list[int], "navMeshIds"),
    (str, "antiAliasing camera skyboxColor visibilityScheme"),
    (list[str], "inRoomTypes"),
    (list[Any], "minFreePerReceptacleType"),
    (dict[str, FiniteFloat], "rotation"),
)
TYPES: Mapping[str, Any] = {name: kind for kind, names in _BY_TYPE for name in names.split()}
"""The type of each; None is accepted too."""
_CLIPPED = "skyboxColor nearClippingPlane farClippingPlane"
_TIMED = "speed returnToStart fixedDeltaTime disableRendering"
_OF: Mapping[str, str] = {
    "MoveAhead MoveBack MoveLeft MoveRight MoveAgent RotateWristRelative": _TIMED,
    "MoveArm MoveArmRelative MoveArmBase MoveArmBaseUp MoveArmBaseDown": _TIMED,
    "RotateLeft RotateRight": f"forceAction {_TIMED} waitForFixedUpdate",
    "RotateAgent": f"{_TIMED} waitForFixedUpdate",
    "LookUp LookDown DropHeldObject DropHandObject DropHeldObjectAhead ThrowObject": "forceAction",
    "Teleport TeleportFull": "y rotateOnTeleport",
    "GetShortestPath": "rotation allowedError navMeshId navMeshIds sampleFromNavmesh",
    "GetShortestPathToPoint": "y navMeshId navMeshIds sampleFromNavmesh",
    "GetVisibleObjects": "visibilityScheme",
    "PickupObject": "manualInteract forceAction",
    "PutObject PlaceHeldObject": "randomSeed",
    **{
        f"{verb}{way}": "forceVisible"
        for verb in ("MoveHeldObject", "MoveHand")
        for way in ("", "Ahead", "Back", "Left", "Right", "Up", "Down")
    },
    "OpenObject": "simplifyPhysics physicsInterval useGripper",
    "SetObjectPoses": "placeStationary enablePhysicsJitter forceRigidbodySleep",
    "InitialRandomSpawn": "placeStationary allowMoveable minFreePerReceptacleType",
    "PlaceObjectAtPoint": "forceKinematic",
    "TeleportObject": "forceKinematic makeUnbreakable",
    "GetInSceneAssetGeometry": "uv",
    "ScaleObject": "scaleOverSeconds",
    "CreateObject": "randomizeObjectAppearance objectVariation",
    "AddThirdPartyCamera": f"{_CLIPPED} antiAliasing",
    "UpdateThirdPartyCamera": _CLIPPED,
    "ChangeFOV": "camera",
    "RandomizeMaterials": (
        "useTrainMaterials useValMaterials useTestMaterials useExternalMaterials inRoomTypes"
    ),
    "RandomizeLighting": "synchronized",
    "SetMassProperties": "drag angularDrag",
    "SetRandomSeed": "seed",
}


def idle(action: str) -> tuple[str, ...]:
    """The arguments that make no difference to an action, such as "speed"."""
    found = (names for actions, names in _OF.items() if action in actions.split())
    return tuple(next(found, "").split())
