"""Actions that change an object's state: open, close, toggle, slice, break, fill, and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import ActionFunction, Number, Refusal
from inhabit.envs.simulators.household.actions.targets import demand, target
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.placement import pieces
from inhabit.envs.simulators.household.placement.surfaces import slide
from inhabit.envs.simulators.household.state.world import SimObject
from inhabit.envs.simulators.household.types.things import RUNS_CLOSED, those

TOUGH = those("tough")
"""Breakable types that do not break in a fall, nor into pieces."""
LIQUIDS = ("water", "coffee", "wine")


def open_(
    house: House,
    *,
    object_id: str,
    openness: Number = 1.0,
    force_action: bool = False,
    move_magnitude: Number = 0.0,
    open_percent: Number = 0.0,
    simplify_physics: bool = False,
    physics_interval: float | None = None,
    use_gripper: bool = False,
) -> JsonValue:
    """Open an object, fully or by a fraction; 0 closes it.

    `moveMagnitude` and `openPercent` are older names of `openness`; 0, and more than 1, open it
    fully.
    """
    if older := move_magnitude or open_percent:
        openness = min(older, 1.0)
    del simplify_physics, physics_interval, use_gripper
    demand(0.0 <= openness <= 1.0, f"openness must be in [0:1]; it is {openness:g}.")
    thing = _openable(house, object_id, force_action)
    demand(
        not (thing.kind in RUNS_CLOSED and thing["isToggled"]) or openness == 0.0,
        "Target must be OFF to open!",
    )
    demand(
        not (thing["isOpen"] and thing["openness"] == openness),
        "can't open object if it's already open",
    )
    set_open(house, thing, openness)
    return None


def close(house: House, *, object_id: str, force_action: bool = False) -> JsonValue:
    """Close an object."""
    thing = _openable(house, object_id, force_action)
    demand(thing["isOpen"], "can't close object if it's already closed")
    set_open(house, thing, 0.0)
    return None


def _openable(house: House, object_id: str, force: bool) -> SimObject:
    thing = target(house, object_id, force=force)
    demand(thing["openable"], f"{object_id} is not an Openable object")
    return thing


def set_open(house: House, thing: SimObject, openness: float) -> None:
    """Open an object by a fraction, regardless of its state.  A drawer's contents move along."""
    old = slide(thing)
    now = house.world.change(thing, isOpen=openness > 0, openness=float(openness))
    if (offset := slide(now) - old).any():
        for inner in house.world.within(thing.id):
            house.world.move(inner, house.world.things[inner].box.moved(offset))


def toggle_on(house: House, *, object_id: str, force_action: bool = False) -> JsonValue:
    """Switch an object on."""
    thing = _toggleable(house, object_id, force_action)
    demand(not thing["isToggled"], "can't toggle object on if it's already on!")
    demand(
        not (thing.kind in RUNS_CLOSED and thing["isOpen"]), "Target must be closed to Toggle On!"
    )
    demand(not thing["isBroken"], f"{object_id} is broken and can't be switched on.")
    house.world.change(thing, isToggled=True)
    return None


def toggle_off(house: House, *, object_id: str, force_action: bool = False) -> JsonValue:
    """Switch an object off."""
    thing = _toggleable(house, object_id, force_action)
    demand(thing["isToggled"], "can't toggle object off if it's already off!")
    house.world.change(thing, isToggled=False)
    return None


def _toggleable(house: House, object_id: str, force: bool) -> SimObject:
    thing = target(house, object_id, force=force)
    demand(thing["toggleable"], f"{object_id} is not toggleable")
    return thing


def slice_(house: House, *, object_id: str, force_action: bool = False) -> JsonValue:
    """Slice an object. Its slices lie where it was, with ids such as "Apple|..|AppleSliced_1"."""
    thing = target(house, object_id, force=force_action)
    demand(thing["sliceable"], f"{thing['name']} Does not have the CanBeSliced property!")
    demand(
        object_id != house.agent.held, "target object cannot be sliced if it is in the agent's hand"
    )
    pieces.cut(house.world, thing)
    return None


def break_(house: House, *, object_id: str, force_action: bool = False) -> JsonValue:
    """Break an object."""
    thing = target(house, object_id, force=force_action)
    demand(thing["breakable"], f"{thing['name']} does not have the CanBreak property!")
    demand(not thing["isBroken"], f"{thing['name']} is already broken")
    demand(
        object_id != house.agent.held, "target object cannot be broken if it is in the agent's hand"
    )
    smash(house, thing)
    return None


def smash(house: House, thing: SimObject) -> None:
    """Break an object if possible. An egg spills, liquid is lost, and a running device stops."""
    if thing.kind == "Egg":
        pieces.cut(house.world, thing)
        return
    house.world.change(
        thing, isBroken=True, isToggled=False, isFilledWithLiquid=False, fillLiquid=None
    )


def _mark(
    able: str, state: str, value: bool, lacking: str, already: str
) -> Callable[..., JsonValue]:
    """An action that sets one flag of objects with the required property."""

    def mark(house: House, *, object_id: str, force_action: bool = False) -> JsonValue:
        thing = target(house, object_id, force=force_action)
        demand(thing[able], f"{object_id} {lacking}")
        demand(thing[state] != value, f"{object_id} {already}")
        house.world.change(thing, **{state: value})
        return None

    return mark


def fill(
    house: House, *, object_id: str, fill_liquid: str = "water", force_action: bool = False
) -> JsonValue:
    """Fill an object with water, coffee or wine."""
    thing = target(house, object_id, force=force_action)
    demand(thing["canFillWithLiquid"], f"{object_id} does not have the CanBeFilled property!")
    if fill_liquid not in LIQUIDS:
        raise Refusal(f"{fill_liquid!r} is not a valid liquid: there are {', '.join(LIQUIDS)}.")
    demand(not thing["isFilledWithLiquid"], f"{object_id} is already filled!")
    demand(not thing["isBroken"], f"{object_id} is broken and holds nothing.")
    heat = (
        {"temperature": "Hot"}
        if fill_liquid == "coffee" and house.world.rules.filled_coffee_is_hot
        else {}
    )
    house.world.change(thing, isFilledWithLiquid=True, fillLiquid=fill_liquid, **heat)
    return None


def empty(house: House, *, object_id: str, force_action: bool = False) -> JsonValue:
    """Empty an object."""
    thing = target(house, object_id, force=force_action)
    demand(thing["canFillWithLiquid"], f"{object_id} does not have the CanBeFilled property!")
    demand(thing["isFilledWithLiquid"], f"{object_id} is already empty")
    house.world.change(thing, isFilledWithLiquid=False, fillLiquid=None)
    return None


ACTIONS: Mapping[str, ActionFunction] = {
    "OpenObject": open_,
    "CloseObject": close,
    "ToggleObjectOn": toggle_on,
    "ToggleObjectOff": toggle_off,
    "SliceObject": slice_,
    "BreakObject": break_,
    "DirtyObject": _mark(
        "dirtyable", "isDirty", True, "does not have the CanBeDirty property!", "is already dirty!"
    ),
    "CleanObject": _mark(
        "dirtyable", "isDirty", False, "does not have the CanBeDirty property!", "is already Clean!"
    ),
    "UseUpObject": _mark(
        "canBeUsedUp",
        "isUsedUp",
        True,
        "does not have the CanBeUsedUp property!",
        "has already been used up!",
    ),
    "CookObject": _mark(
        "cookable",
        "isCooked",
        True,
        "does not have the CanBeCooked property!",
        "is already cooked!",
    ),
    "FillObjectWithLiquid": fill,
    "EmptyLiquidFromObject": empty,
}
