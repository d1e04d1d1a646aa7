"""What becomes of each action that AI2-THOR has: done, approximated, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from inhabit.envs.simulators.household.actions import ACTIONS, OF_ARM

Status = Literal["done", "approximated", "refused"]


@dataclass(frozen=True, slots=True)
class Row:
    """One action."""

    family: str
    name: str
    """THOR's."""
    status: Status
    note: str = ""
    """How it is approximated, or why it is refused."""


_DONE: Mapping[str, str] = {
    "Scene": "Reset Initialize GetScenesInBuild ChangeResolution",
    "Navigation": (
        "MoveAhead MoveBack MoveLeft MoveRight RotateLeft RotateRight LookUp LookDown Crouch Stand "
        "Teleport TeleportFull Rotate Look Done Pass NoOp"
    ),
    "Questions": (
        "GetReachablePositions GetInteractablePoses GetShortestPath GetShortestPathToPoint "
        "GetObjectInFrame GetCoordinateFromRaycast GetVisibleObjects GetMapViewCameraProperties "
        "GetSceneBounds"
    ),
    "Interaction": (
        "PickupObject PutObject PlaceHeldObject OpenObject CloseObject ToggleObjectOn "
        "ToggleObjectOff SliceObject BreakObject DirtyObject CleanObject CookObject "
        "FillObjectWithLiquid EmptyLiquidFromObject"
    ),
    "Objects": (
        "SetObjectPoses RemoveFromScene DisableObject EnableObject SetObjectStates "
        "SetObjectToggles SetStateOfAllObjects SetMassProperties MakeAllObjectsUnbreakable "
        "MakeObjectsOfTypeUnbreakable MakeObjectBreakable SetObjectFilter "
        "SetObjectFilterForType ResetObjectFilter"
    ),
    "Cameras": "AddThirdPartyCamera UpdateThirdPartyCamera ToggleMapView ChangeFOV",
    "Appearance": "ResetMaterials ResetColors ResetLighting",
}
_NO_PHYSICS = "Succeeds and changes nothing: there is no physics, and no time between actions."
_NO_DECAY = "Succeeds; what is hot or cold stays so."
_WITHOUT_EFFECT = (
    "PausePhysicsAutoSim",
    "UnpausePhysicsAutoSim",
    "AdvancePhysicsStep",
    "ChangeTimeScale",
    "MakeAllObjectsMoveable",
    "MakeAllPickupableObjectsMoveable",
    "MakeAllObjectsStationary",
    "MakeObjectsStaticKinematicMassThreshold",
)
_SLIDES = "Slides as far as its mass allows, 1 m at most; nothing topples or is knocked over."
_RESTS = "Comes to rest on the highest surface below; does not roll."
_DRAWN = "Our own draw: a seed gives other states than in THOR."
_ARM = 'Needs agentMode "arm". Takes no time; stops at furniture, and pushes nothing aside.'
_APPROXIMATED: Mapping[str, Mapping[str, str]] = {
    "Scene": {
        "CreateHouse": "Thin straight walls, doorways without doors, no windows; our own shapes.",
    },
    "Questions": {
        "GetInSceneAssetGeometry": "The mesh that is drawn: our own shape; no `uv`.",
        "ObjectNavExpertAction": "A shortest path on the grid of 0.25 m, for any gridSize.",
        "PerformRaycast": "Hits the shapes that are drawn, not Unity's colliders.",
        "GetObjectHitFromRaycast": "Hits the shapes that are drawn, not Unity's colliders.",
    },
    "Interaction": {
        "UseUpObject": "Fails in iTHOR's rooms: their data mark no object as canBeUsedUp.",
        "DropHeldObject": _RESTS,
        "DropHeldObjectAhead": _RESTS,
        "DropHandObject": _RESTS,
        "ThrowObject": "Lands up to 2 m ahead by its strength; may break; does not bounce.",
        "PushObject": _SLIDES,
        "PullObject": _SLIDES,
        "DirectionalPush": _SLIDES,
        "TouchThenApplyForce": _SLIDES,
        **{
            f"{verb}{direction}": "Ignores collisions; up to 0.5 m from the hand's usual place."
            for verb in ("MoveHeldObject", "MoveHand")
            for direction in ("", "Ahead", "Back", "Left", "Right", "Up", "Down")
            if verb + direction != "MoveHand"
        },
        "RotateHeldObject": "Ignores collisions.",
        "RotateHand": "Ignores collisions.",
    },
    "Objects": {
        "InitialRandomSpawn": "Our own placement: a seed gives another layout than in THOR.",
        "ScaleObject": "At once; the middle of its base stays.",
        "CreateObject": "A copy of an object of that type that the room has.",
        "RandomToggleStateOfAllObjects": _DRAWN,
        "RandomToggleSpecificState": _DRAWN,
        "PlaceObjectAtPoint": "Checks collisions with the boxes of pickupable objects alone.",
        "GetSpawnCoordinatesAboveReceptacle": "A grid of 0.1 m over the receptacle's surface.",
        "HideObject": "Also removes the object's collisions.",
        "UnhideObject": "As HideObject.",
        "UnhideAllObjects": "As HideObject.",
        "TeleportObject": "Checks collisions with the boxes of pickupable objects alone.",
    },
    "Appearance": {
        "RandomizeMaterials": "Our own materials; THOR's splits make no difference.",
        "RandomizeColors": "As RandomizeMaterials.",
        "RandomizeLighting": "One light for the whole room.",
    },
    "Arms": {name: _ARM for name in OF_ARM if name not in ACTIONS},
    "Engine": {
        **dict.fromkeys(_WITHOUT_EFFECT, _NO_PHYSICS),
        "SetRandomSeed": "Succeeds: every action that draws has a seed of its own.",
        "ChangeQuality": "Succeeds; smoother edges are `antialias=2` at Initialize.",
        "SetDecayTemperatureBool": _NO_DECAY,
        "SetGlobalRoomTempDecayTime": _NO_DECAY,
        "SetRoomTempDecayTimeForType": _NO_DECAY,
    },
}
_REFUSALS: Mapping[str, Mapping[str, str]] = {
    "Arms": {
        "The arm's elbow is where the hand puts it.": "RotateElbow RotateElbowRelative",
        "AI2-THOR itself has replaced this action: use MoveArm or MoveArmBase.": (
            "MoveMidLevelArm MoveMidLevelArmHeight"
        ),
        "The embedded household has no joints of Unity: use PickupObject.": (
            "AttachObjectToArmWithFixedJoint"
        ),
        "Use RotateWristRelative.": "RotateWrist",
    },
    "Drones": {
        "The embedded household has no drone: the default agent alone is simulated.": (
            "FlyTo FlyAhead FlyBack FlyLeft FlyRight FlyUp FlyDown FlyAssignStart FlyRandomStart "
            "LaunchDroneObject SpawnDroneLauncher CheckDroneCaught"
        )
    },
    "Physics": {
        "The embedded household has no physics that could do this.": (
            "ApplyForceObject CreateObjectAtLocation SpawnTargetCircle"
        )
    },
    "Assets": {
        "The embedded household has no asset files of Unity: it draws shapes of its own.": (
            "SpawnAsset GetAssetDatabase CreateRuntimeAsset SetSkybox ColorSurfacesRandomly "
            "GetHouseFromTemplate GetAssetSphereBounds"
        )
    },
    "Displays": {
        "The embedded household draws no overlays into the scene.": (
            "VisualizePath HideVisualizedPath VisualizeWaypoints VisualizeGrid ToggleColliders"
        )
    },
    "Old": {
        "AI2-THOR itself has replaced this action: use InitialRandomSpawn.": "RandomInitialize",
        "AI2-THOR has no such action: programs make it of TeleportObject and DropHeldObject.": (
            "DropHeldObjectWithSnap"
        ),
    },
}

_WITHOUT_ARM = 'The agent has no arm: start with Controller(agentMode="arm").'
REFUSED: Mapping[str, str] = {
    name: sentence
    for family in _REFUSALS.values()
    for sentence, names in family.items()
    for name in names.split()
}
"""Actions that fail, and the sentence that each fails with."""
UNARMED: Mapping[str, str] = {name: _WITHOUT_ARM for name in OF_ARM if name not in ACTIONS}
"""Those of an agent without an arm."""


def rows() -> list[Row]:
    """All actions, family by family."""
    done = [Row(family, name, "done") for family, names in _DONE.items() for name in names.split()]
    approximated = [
        Row(family, name, "approximated", how)
        for family, members in _APPROXIMATED.items()
        for name, how in members.items()
    ]
    refused = [
        Row(family, name, "refused", sentence)
        for family, members in _REFUSALS.items()
        for sentence, names in members.items()
        for name in names.split()
    ]
    order = list(dict.fromkeys([*_DONE, *_APPROXIMATED, *_REFUSALS]))
    return sorted([*done, *approximated, *refused], key=lambda row: order.index(row.family))


def markdown() -> str:
    """The table of docs/thor.md: actions with the same note share a line."""
    lines = ["| actions | status | how it differs, or why it is refused |", "|---|---|---|"]
    together: dict[tuple[str, Status, str], list[str]] = {}
    for row in rows():
        together.setdefault((row.family, row.status, row.note), []).append(f"`{row.name}`")
    for (family, status, note), names in together.items():
        lines.append(f"| {family}: {', '.join(names)} | {status} | {note} |")
    return "\n".join(lines)


def arguments() -> str:
    """The table of arguments of docs/thor.md: actions with the same arguments share a line."""
    together: dict[str, list[str]] = {}
    arms = {f"{n} (of an arm)" if n in ACTIONS else n: action for n, action in OF_ARM.items()}
    for name, action in {**ACTIONS, **arms}.items():
        told = [
            f"**`{one}`**" if one in action.needed else f"`{one}`"
            for one in action.names
            if one not in action.idle
        ]
        told += [f"*`{one}`*" for one in action.idle] + ["*any*"] * action.open
        together.setdefault(", ".join(told) or "none", []).append(f"`{name}`")
    lines = ["| actions | arguments |", "|---|---|"]
    lines += [f"| {', '.join(names)} | {told} |" for told, names in together.items()]
    return "\n".join(lines)
