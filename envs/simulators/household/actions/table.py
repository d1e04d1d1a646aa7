"""What becomes of each action that AI2-THOR has: it works, differs, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from inhabit.envs.simulators.household.actions import ACTIONS, OF_ARM
from inhabit.envs.simulators.household.actions.arguments import ThorAction

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
        "GetReachablePositions GetInteractablePoses PositionsFromWhichItemIsInteractable "
        "GetShortestPath GetShortestPathToPoint GetObjectInFrame GetCoordinateFromRaycast "
        "GetMapViewCameraProperties GetSceneBounds"
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
        "GetVisibleObjects": "By what is drawn; takes the arguments of later builds.",
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
        "SpawnAsset": "An asset of procthor's database, in any room; drawn in our own shape.",
        "GetAssetDatabase": "procthor's assets: id, type, first property, size.",
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
            "CreateRuntimeAsset CreateRuntimeAssets DeleteLRUFromProceduralCache SetSkybox "
            "ColorSurfacesRandomly GetHouseFromTemplate GetAssetSphereBounds"
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


OLDEST_ALONE: Mapping[str, frozenset[str]] = dict.fromkeys(
    ("PutObject", "PlaceHeldObject"), frozenset({"receptacleObjectId"})
)
"""Arguments of release 2.1.0 that later ones refuse, by action."""
_OLDEST: Mapping[str, str] = {
    "PutObject": "works; `objectId` is the held object, where `receptacleObjectId` is given",
    "SetObjectPoses": (
        "differs: names such as `Mug_a1b2c3d4` stand for their types; surplus objects of a type "
        "leave the room"
    ),
}
"""What becomes of an action for release 2.1.0, where this is not the same as for later ones."""
_SAYS: Mapping[Status, str] = {"done": "works", "approximated": "differs", "refused": "refused"}


def markdown() -> str:
    """The table of docs/thor.md: actions that have all but their names in common share a line."""
    lines = [
        "| actions | arguments | releases 2.7, 4.3 and 5.0 | release 2.1, if not the same |",
        "|---|---|---|---|",
    ]
    together: dict[tuple[str, str, str, str], list[str]] = {}
    for row in rows():
        status = f"{_SAYS[row.status]}: {row.note}" if row.note else _SAYS[row.status]
        oldest = _OLDEST.get(row.name, "")
        line = row.family, _arguments(row), status, oldest
        together.setdefault(line, []).append(f"`{row.name}`")
    for (family, arguments, status, oldest), names in together.items():
        lines.append(f"| {family}: {', '.join(names)} | {arguments} | {status} | {oldest} |")
    return "\n".join(lines)


def _arguments(row: Row) -> str:
    """The arguments of an action, those of an arm's after those of the default agent's."""
    action, armed = ACTIONS.get(row.name), OF_ARM.get(row.name)
    if row.status == "refused" or not (action or armed):
        return ""
    told = "; with an arm: ".join(_told(one) for one in (action, armed) if one)
    return told.replace("`receptacleObjectId`", "`receptacleObjectId` (2.1 alone)")


def _told(action: ThorAction) -> str:
    told = [f"**`{one}`**" if one in action.needed else f"`{one}`" for one in action.names]
    told += [f"*`{one}`*" for one in action.idle] + ["*any*"] * action.open
    return ", ".join(told) or "none"
