"""Arguments of actions: what each takes, whom it is about, and how a call is made of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Annotated, Any, get_type_hints

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    ValidationError,
    create_model,
)
from pydantic.alias_generators import to_camel

from inhabit.envs.plain_data import csv_rows
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.state.world import SimObject

# What AI2-THOR's actions take and makes no difference here: there is no physics and no time between
# two actions, one floor and one light; what is drawn has no assets to choose from, and a picture no
# end in the distance.
_IDLE_BY_TYPE: tuple[tuple[Any, str], ...] = (
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
_IDLE_TYPES: Mapping[str, Any] = {
    name: kind for kind, names in _IDLE_BY_TYPE for name in names.split()
}
"""Argument -> its type; None is accepted too."""
_IDLE_OF: Mapping[str, tuple[str, ...]] = {
    action: tuple(row["arguments"].split())
    for row in csv_rows("inhabit.envs.simulators.household.actions", "idle.csv")
    for action in row["actions"].split()
}
"""Action -> the arguments that make no difference to it, such as "speed"."""


Number = Annotated[float, Field(allow_inf_nan=False)]
"""Any finite number."""


class Vector(BaseModel, frozen=True):
    """THOR's {x, y, z}; missing components are 0."""

    x: Number = 0.0
    y: Number = 0.0
    z: Number = 0.0


class SomeAxes(BaseModel, frozen=True):
    """THOR's {x, y, z}; missing components keep their values."""

    x: Number | None = None
    y: Number | None = None
    z: Number | None = None

    def over(self, old: tuple[float, float, float]) -> Vector:
        """The old values, with those that are given here."""
        new = (self.x, self.y, self.z)
        x, y, z = (a if b is None else b for a, b in zip(old, new, strict=True))
        return Vector(x=x, y=y, z=z)


class Refusal(Exception):  # noqa: N818
    """An action cannot be executed.

    The client raises a ValueError for four codes (InvalidAction, MissingArguments, AmbiguousAction,
    InvalidArgument). THOR gives them where no action fits the request: its name or an argument's is
    unknown, an argument is missing or of a wrong type. An action that fits and then fails, by a
    value out of its range too, has none of them.
    """

    def __init__(self, message: str, code: str = "", *, undone: bool = True) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """THOR's errorCode, or empty."""
        self.undone = undone
        """Whether all is to be as before; else what was done stays."""


ActionFunction = Callable[..., JsonValue]
"""What an action does: (house, *, its arguments in snake_case) -> THOR's actionReturn.

Raises `Refusal` if it cannot be executed.
"""

_ENVELOPE = frozenset(
    {"action", "agentId", "sequenceId", "renderImage", "renderDepthImage", "renderClassImage"}
    | {"renderObjectImage", "renderInstanceSegmentation", "renderSemanticSegmentation"}
    | {"renderNormalsImage", "renderFlowImage", "renderImageSynthesis", "visibilityDistance"}
)
"""What may stand in any request beside the action's own arguments."""


_TYPE = re.compile(r"_type$|_parsing$|_from_float$|_attributes_type$")
"""Kinds of pydantic's errors that are about an argument's type."""
_SHOWN = 100
"""Characters of a wrong argument."""


class ThorAction:
    """An action under its THOR name."""

    def __init__(self, name: str, function: ActionFunction) -> None:
        self.name = name
        self._function = function

    @cached_property
    def _parameters(self) -> list[inspect.Parameter]:
        """All but the house."""
        return list(inspect.signature(self._function).parameters.values())[1:]

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """Names such as "objectId", and the parameters that they are: "object_id"."""
        named = [each.name for each in self._parameters if each.kind is not each.VAR_KEYWORD]
        return {to_camel(name): name for name in named}

    @cached_property
    def _arguments(self) -> type[BaseModel]:
        """Made when the action is first called: a room's few make a quick start, all 126 do not."""
        hints = get_type_hints(self._function, include_extras=True)
        fields: dict[str, Any] = {
            each.name: (hints[each.name], ... if each.default is each.empty else each.default)
            for each in self._parameters
            if each.kind is not each.VAR_KEYWORD
        }
        fields.update({name: (_IDLE_TYPES[name] | None, None) for name in self.idle})
        config = ConfigDict(alias_generator=_camel, strict=True, frozen=True)
        return create_model(self.name, __config__=config, **fields)

    @property
    def names(self) -> Collection[str]:
        """Arguments of the action, as in "objectId", without those of `idle`."""
        return self._names.keys()

    @property
    def open(self) -> bool:
        """Whether it accepts any argument."""
        return any(each.kind is each.VAR_KEYWORD for each in self._parameters)

    @property
    def needed(self) -> Collection[str]:
        """Arguments that have no default."""
        needed = {each.name for each in self._parameters if each.default is each.empty}
        return [name for name, field in self._names.items() if field in needed]

    @cached_property
    def idle(self) -> Collection[str]:
        """Arguments that are accepted and make no difference."""
        return [name for name in _IDLE_OF.get(self.name, ()) if name not in self._names]

    def __call__(
        self, house: House, request: Mapping[str, Any], *, any_argument: bool = False
    ) -> JsonValue:
        """Execute the action.

        Args:
            house: where.
            request: THOR's JSON.
            any_argument: ignore arguments that it does not take; those that it lacks are 0.

        Raises:
            Refusal: it cannot be; wrong arguments included.
        """
        # THOR has arguments both as "objectId" and as "StateChange".
        plain = {key[:1].lower() + key[1:]: value for key, value in request.items()}
        known = {*self._names, *self.idle}
        given = {key: value for key, value in plain.items() if key in known}
        others = {k: v for k, v in plain.items() if k not in given and k not in _ENVELOPE}
        if others and not self.open and not any_argument:
            raise Refusal(
                f'Action: "{self.name}" called with invalid argument: {", ".join(sorted(others))}. '
                f"Expected arguments: {', '.join([*self._names, *self.idle]) or 'none'}.",
                "InvalidArgument",
            )
        if any_argument:
            given = {**dict.fromkeys(self.needed, 0.0), **given}
        try:
            checked = self._arguments.model_validate(given)
        except ValidationError as error:
            raise self._explained(error) from error
        arguments = {field: getattr(checked, field) for field in self._names.values()}
        # Unity ignores what it doesn't know, and so do we.
        return self._function(house, **arguments)

    def _explained(self, error: ValidationError) -> Refusal:
        problems = error.errors(include_url=False, include_context=False)
        missing = [
            str(p["loc"][0]) for p in problems if p["type"] == "missing" and len(p["loc"]) == 1
        ]
        if missing:
            return Refusal(
                f"Action: {self.name} is missing the following arguments: {', '.join(missing)}.",
                "MissingArguments",
            )
        first = problems[0]
        place = ".".join(str(part) for part in first["loc"])
        # A value of the right type that is out of range is found by the action itself in THOR.
        code = "InvalidArgument" if _TYPE.search(first["type"]) else ""
        return Refusal(
            f"Action: {self.name} was given {str(first['input'])[:_SHOWN]!r} for {place}: "
            f"{first['msg']}.",
            code,
        )


def _camel(name: str) -> str:
    """Idle arguments have THOR's names already."""
    return name if name in _IDLE_TYPES else to_camel(name)


def target(
    house: House, object_id: str, *, force: bool, code: str = "ObjectNotVisible"
) -> SimObject:
    """The object of that id, if it is visible and within reach.

    Args:
        house: where.
        object_id: THOR's objectId.
        force: also what is out of sight or reach.
        code: THOR's errorCode if it is not seen.

    Raises:
        Refusal: there is no such object, it isn't seen, or it exists no longer.
    """
    thing = house.world.things.get(object_id)
    if thing is None or thing.away is not None:
        raise Refusal(
            f"ArgumentException: objectId: {object_id} is not the objectId on any object in the "
            "scene!"
        )
    if not thing.present:
        raise Refusal(f"{object_id} is in pieces: it can't be used any more.", code)
    if not force and not house.sights()[object_id].visible:
        raise Refusal(
            "NullReferenceException: Target object not found within the specified visibility.", code
        )
    return thing


def held(house: House, message: str) -> SimObject:
    """The held object.

    Raises:
        Refusal: nothing; with `message`.
    """
    if house.agent.held is None:
        raise Refusal(message, "ObjectNotInInventory")
    return house.world.things[house.agent.held]


def demand(holds: bool, message: str, code: str = "") -> None:
    """Raise a refusal unless a condition holds.

    Raises:
        Refusal: it doesn't; with `message` and THOR's errorCode.
    """
    if not holds:
        raise Refusal(message, code)


def nothing(house: House, **ignored: JsonValue) -> None:
    """Succeed without effect: the simulator has no physics."""


def done(house: House) -> None:
    """Succeed: there is nothing to do."""


def change_time_scale(house: House, *, time_scale: Number) -> None:
    """Succeed: no time passes between two actions."""
    if time_scale <= 0:
        raise Refusal(f"timeScale must be > 0; it is {time_scale:g}.")


def set_mass(house: House, *, object_id: str, mass: Number) -> None:
    """Give a thing another mass, in kilograms; drag makes no difference."""
    thing = target(house, object_id, force=True)
    if not (thing["pickupable"] or thing["moveable"]):
        raise Refusal(f"{object_id} is neither Pickupable nor Moveable, and has no mass.")
    if mass <= 0:
        raise Refusal(f"mass must be > 0; it is {mass:g}.")
    house.world.change(thing, mass=mass)


def unbreakable(house: House, *, object_type: str | None = None) -> None:
    """Let nothing break, or nothing of a type."""
    for thing in list(house.world.things.values()):
        if thing["breakable"] and object_type in (None, thing.kind):
            house.world.change(thing, breakable=False)


def breakable(house: House, *, object_id: str) -> None:
    """Let a thing break again that MakeAllObjectsUnbreakable protects."""
    thing = target(house, object_id, force=True)
    able = {o["assetId"]: o["breakable"] for o in house.world.room.objects}
    if able.get(thing["assetId"]):
        house.world.change(thing, breakable=True)


ACTIONS: Mapping[str, ActionFunction] = {
    "PausePhysicsAutoSim": nothing,
    "UnpausePhysicsAutoSim": nothing,
    "AdvancePhysicsStep": nothing,
    "ChangeQuality": nothing,
    "ChangeTimeScale": change_time_scale,
    "MakeAllObjectsMoveable": nothing,
    "MakeAllPickupableObjectsMoveable": nothing,
    "MakeAllObjectsStationary": nothing,
    "MakeObjectsStaticKinematicMassThreshold": nothing,
    "SetDecayTemperatureBool": nothing,
    "SetGlobalRoomTempDecayTime": nothing,
    "SetRoomTempDecayTimeForType": nothing,
    "SetMassProperties": set_mass,
    "MakeAllObjectsUnbreakable": unbreakable,
    "MakeObjectsOfTypeUnbreakable": unbreakable,
    "MakeObjectBreakable": breakable,
    "SetRandomSeed": done,
}
