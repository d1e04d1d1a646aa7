"""Actions that change the states of objects, one or all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    demand,
    target,
)
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.placement import surfaces
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
) -> None:
    """Open an object, fully or by a fraction; 0 closes it.

    `moveMagnitude` and `openPercent` are older names of `openness`; 0, and more than 1, open it
    fully.
    """
    if older := move_magnitude or open_percent:
        openness = min(older, 1.0)
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


def close(house: House, *, object_id: str, force_action: bool = False) -> None:
    """Close an object."""
    thing = _openable(house, object_id, force_action)
    demand(thing["isOpen"], "can't close object if it's already closed")
    set_open(house, thing, 0.0)


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


def toggle_on(house: House, *, object_id: str, force_action: bool = False) -> None:
    """Switch an object on."""
    thing = _toggleable(house, object_id, force_action)
    demand(not thing["isToggled"], "can't toggle object on if it's already on!")
    demand(
        not (thing.kind in RUNS_CLOSED and thing["isOpen"]), "Target must be closed to Toggle On!"
    )
    demand(not thing["isBroken"], f"{object_id} is broken and can't be switched on.")
    house.world.change(thing, isToggled=True)


def toggle_off(house: House, *, object_id: str, force_action: bool = False) -> None:
    """Switch an object off."""
    thing = _toggleable(house, object_id, force_action)
    demand(thing["isToggled"], "can't toggle object off if it's already off!")
    house.world.change(thing, isToggled=False)


def _toggleable(house: House, object_id: str, force: bool) -> SimObject:
    thing = target(house, object_id, force=force)
    demand(thing["toggleable"], f"{object_id} is not toggleable")
    return thing


def slice_(house: House, *, object_id: str, force_action: bool = False) -> None:
    """Slice an object. Its slices lie where it was, with ids such as "Apple|..|AppleSliced_1"."""
    thing = target(house, object_id, force=force_action)
    demand(thing["sliceable"], f"{thing['name']} Does not have the CanBeSliced property!")
    demand(
        object_id not in house.world.in_hands,
        "target object cannot be sliced if it is in the agent's hand",
    )
    surfaces.cut(house.world, thing)


def break_(house: House, *, object_id: str, force_action: bool = False) -> None:
    """Break an object."""
    thing = target(house, object_id, force=force_action)
    demand(thing["breakable"], f"{thing['name']} does not have the CanBreak property!")
    demand(not thing["isBroken"], f"{thing['name']} is already broken")
    demand(
        object_id not in house.world.in_hands,
        "target object cannot be broken if it is in the agent's hand",
    )
    smash(house, thing)


def smash(house: House, thing: SimObject) -> None:
    """Break an object if possible. An egg spills, liquid is lost, and a running device stops."""
    if thing.kind == "Egg":
        surfaces.cut(house.world, thing)
        return
    house.world.change(
        thing, isBroken=True, isToggled=False, isFilledWithLiquid=False, fillLiquid=None
    )


def _mark(
    able: str, state: str, value: bool, lacking: str, already: str
) -> Callable[..., JsonValue]:
    """An action that sets one flag of objects with the required property."""

    def mark(house: House, *, object_id: str, force_action: bool = False) -> None:
        thing = target(house, object_id, force=force_action)
        demand(thing[able], f"{object_id} does not have the {lacking} property!")
        demand(thing[state] != value, f"{object_id} {already}!")
        house.world.change(thing, **{state: value})

    return mark


def fill(
    house: House, *, object_id: str, fill_liquid: str = "water", force_action: bool = False
) -> None:
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


def empty(house: House, *, object_id: str, force_action: bool = False) -> None:
    """Empty an object."""
    thing = target(house, object_id, force=force_action)
    demand(thing["canFillWithLiquid"], f"{object_id} does not have the CanBeFilled property!")
    demand(thing["isFilledWithLiquid"], f"{object_id} is already empty")
    house.world.change(thing, isFilledWithLiquid=False, fillLiquid=None)


Property = Literal[
    "toggleable",
    "openable",
    "breakable",
    "canFillWithLiquid",
    "dirtyable",
    "cookable",
    "sliceable",
    "canBeUsedUp",
]

_ROWS: tuple[tuple[Property, str, str], ...] = (
    ("toggleable", "is_toggled", "CanToggleOnOff"),
    ("openable", "is_open", "CanOpen"),
    ("breakable", "is_broken", "CanBreak"),
    ("canFillWithLiquid", "is_filled_with_liquid", "CanBeFilled"),
    ("dirtyable", "is_dirty", "CanBeDirty"),
    ("cookable", "is_cooked", "CanBeCooked"),
    ("sliceable", "is_sliced", "CanBeSliced"),
    ("canBeUsedUp", "is_used_up", "CanBeUsedUp"),
)
"""Properties, the state that each makes possible, and its name in release 2.1.0."""
_STATES: Mapping[str, str] = {able: state for able, state, _ in _ROWS}
_OLD_NAMES: Mapping[str, Property] = {old: able for able, _, old in _ROWS}
_ONE_WAY = frozenset({"is_broken", "is_sliced"})
"""States that cannot be undone."""


class ObjectStates(BaseModel):
    """A state for all objects of a type, or for all that can have it."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, strict=True, extra="forbid")

    state_change: Property
    object_type: str | None = None
    is_toggled: bool | None = None
    is_open: bool | None = None
    is_broken: bool | None = None
    is_filled_with_liquid: bool | None = None
    is_dirty: bool | None = None
    is_cooked: bool | None = None
    is_sliced: bool | None = None
    is_used_up: bool | None = None


class Toggle(BaseModel):
    """On or off, for all objects of a type."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, strict=True)

    object_type: str
    is_on: bool


def set_object_states(house: House, *, set_object_states: ObjectStates) -> None:
    """Set one state of all objects that can have it, or of those of one type."""
    wanted = set_object_states
    state = _STATES[wanted.state_change]
    value = getattr(wanted, state)
    if value is None:
        raise Refusal(
            f"SetObjectStates with stateChange {wanted.state_change!r} needs {to_camel(state)!r}."
        )
    _set_all(house, wanted.state_change, value, wanted.object_type)


def set_object_toggles(house: House, *, object_toggles: list[Toggle]) -> None:
    """Switch all objects of some types, as in release 2.1.0."""
    for toggle in object_toggles:
        _set_all(house, "toggleable", toggle.is_on, toggle.object_type)


def set_state_of_all_objects(
    house: House, *, state_change: str, force_action: bool = False
) -> None:
    """Set one state of all objects that can have it to `forceAction`, as in release 2.1.0."""
    _set_all(house, _able(state_change), force_action, None)


def toggle_all_at_random(house: House, *, random_seed: int = 0) -> None:
    """Flip a coin for every state of every object, as in releases before 3."""
    draw = np.random.default_rng(abs(random_seed))
    for able in _STATES:
        _toss(house, able, draw)


def toggle_at_random(house: House, *, state_change: str, random_seed: int = 0) -> None:
    """Flip a coin for one state of every object that can have it."""
    _toss(house, _able(state_change), np.random.default_rng(abs(random_seed)))


def _toss(house: House, able: str, draw: np.random.Generator) -> None:
    """Set a state of each object by chance; what is cut or broken stays so."""
    state = _STATES[able]
    for thing in [t for t in house.world.things.values() if t[able]]:
        wanted, now = bool(draw.integers(2)), house.world.things[thing.id]
        done = bool(now[to_camel(state)])
        if now.present and wanted != done and not (done and state in _ONE_WAY):
            _set(house, now, state, wanted)


def _able(state_change: str) -> Property:
    if state_change not in _OLD_NAMES:
        raise Refusal(
            f"There is no StateChange {state_change!r}: there are {', '.join(_OLD_NAMES)}."
        )
    return _OLD_NAMES[state_change]


def _set_all(house: House, able: str, value: bool, kind: str | None) -> None:
    state = _STATES[able]
    if state in _ONE_WAY and not value:
        raise Refusal(f"{to_camel(state)} cannot be set back to false.")
    for thing in list(house.world.things.values()):
        meant = thing[able] and thing.present and kind in (None, thing.kind)
        if meant and bool(thing[to_camel(state)]) != value:
            _set(house, thing, state, value)


def _set(house: House, thing: SimObject, state: str, value: bool) -> None:
    if state in _ONE_WAY and thing.id in house.world.in_hands:
        return
    if value and thing["isBroken"] and state in ("is_filled_with_liquid", "is_toggled"):
        return  # It can't be filled or switched on one by one either.
    if state == "is_open":
        set_open(house, thing, 1.0 if value else 0.0)
    elif state == "is_broken":
        smash(house, thing)
    elif state == "is_sliced":
        surfaces.cut(house.world, thing)
    elif state == "is_filled_with_liquid":
        house.world.change(thing, isFilledWithLiquid=value, fillLiquid="water" if value else None)
    else:
        house.world.change(thing, **{to_camel(state): value})


ACTIONS: Mapping[str, ActionFunction] = {
    "OpenObject": open_,
    "CloseObject": close,
    "ToggleObjectOn": toggle_on,
    "ToggleObjectOff": toggle_off,
    "SliceObject": slice_,
    "BreakObject": break_,
    "DirtyObject": _mark("dirtyable", "isDirty", True, "CanBeDirty", "is already dirty"),
    "CleanObject": _mark("dirtyable", "isDirty", False, "CanBeDirty", "is already Clean"),
    "UseUpObject": _mark(
        "canBeUsedUp", "isUsedUp", True, "CanBeUsedUp", "has already been used up"
    ),
    "CookObject": _mark("cookable", "isCooked", True, "CanBeCooked", "is already cooked"),
    "FillObjectWithLiquid": fill,
    "EmptyLiquidFromObject": empty,
    "SetObjectStates": set_object_states,
    "SetObjectToggles": set_object_toggles,
    "SetStateOfAllObjects": set_state_of_all_objects,
    "RandomToggleStateOfAllObjects": toggle_all_at_random,
    "RandomToggleSpecificState": toggle_at_random,
}
