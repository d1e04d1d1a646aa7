"""What concerns Unity's engine: its clock, its quality, and how its physics treats things."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import ActionFunction, Number, Refusal
from inhabit.envs.simulators.household.actions.targets import target
from inhabit.envs.simulators.household.episode.house import House


def nothing(house: House, **ignored: JsonValue) -> JsonValue:
    """Succeed without effect: the simulator has no physics."""
    del house, ignored
    return None


def change_time_scale(house: House, *, time_scale: Number) -> JsonValue:
    """Succeed: no time passes between two actions."""
    del house
    if time_scale <= 0:
        raise Refusal(f"timeScale must be > 0; it is {time_scale:g}.")
    return None


def set_mass(
    house: House, *, object_id: str, mass: Number, drag: Number = 0.0, angular_drag: Number = 0.05
) -> JsonValue:
    """Give a thing another mass, in kilograms; drag makes no difference."""
    del drag, angular_drag
    thing = target(house, object_id, force=True)
    if not (thing["pickupable"] or thing["moveable"]):
        raise Refusal(f"{object_id} is neither Pickupable nor Moveable, and has no mass.")
    if mass <= 0:
        raise Refusal(f"mass must be > 0; it is {mass:g}.")
    house.world.change(thing, mass=mass)
    return None


def unbreakable(house: House, *, object_type: str | None = None) -> JsonValue:
    """Let nothing break, or nothing of a type."""
    for thing in list(house.world.things.values()):
        if thing["breakable"] and object_type in (None, thing.kind):
            house.world.change(thing, breakable=False)
    return None


def breakable(house: House, *, object_id: str) -> JsonValue:
    """Let a thing break again that MakeAllObjectsUnbreakable protects."""
    thing = target(house, object_id, force=True)
    able = {o["assetId"]: o["breakable"] for o in house.world.room.objects}
    if able.get(thing["assetId"]):
        house.world.change(thing, breakable=True)
    return None


def set_seed(house: House, *, seed: int) -> JsonValue:
    """Succeed: every action that draws has a seed of its own."""
    del house, seed
    return None


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
    "SetRandomSeed": set_seed,
}
