"""Actions that change the state of many objects at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

from inhabit.envs.simulators.household.actions.arguments import ActionFunction, Refusal
from inhabit.envs.simulators.household.actions.states import set_open, smash
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.placement import pieces
from inhabit.envs.simulators.household.state.world import SimObject

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

_STATES: Mapping[str, str] = {
    "toggleable": "is_toggled",
    "openable": "is_open",
    "breakable": "is_broken",
    "canFillWithLiquid": "is_filled_with_liquid",
    "dirtyable": "is_dirty",
    "cookable": "is_cooked",
    "sliceable": "is_sliced",
    "canBeUsedUp": "is_used_up",
}
_ONE_WAY = frozenset({"is_broken", "is_sliced"})
"""States that cannot be undone."""

_OLD_NAMES: Mapping[str, Property] = {
    "CanToggleOnOff": "toggleable",
    "CanOpen": "openable",
    "CanBreak": "breakable",
    "CanBeFilled": "canFillWithLiquid",
    "CanBeDirty": "dirtyable",
    "CanBeCooked": "cookable",
    "CanBeSliced": "sliceable",
    "CanBeUsedUp": "canBeUsedUp",
}
"""Property names of release 2.1.0."""


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


def set_object_states(house: House, *, set_object_states: ObjectStates) -> JsonValue:
    """Set one state of all objects that can have it, or of those of one type."""
    wanted = set_object_states
    state = _STATES[wanted.state_change]
    value = getattr(wanted, state)
    if value is None:
        raise Refusal(
            f"SetObjectStates with stateChange {wanted.state_change!r} needs {to_camel(state)!r}."
        )
    _set_all(house, wanted.state_change, value, wanted.object_type)
    return None


def set_object_toggles(house: House, *, object_toggles: list[Toggle]) -> JsonValue:
    """Switch all objects of some types, as in release 2.1.0."""
    for toggle in object_toggles:
        _set_all(house, "toggleable", toggle.is_on, toggle.object_type)
    return None


def set_state_of_all_objects(
    house: House, *, state_change: str, force_action: bool = False
) -> JsonValue:
    """Set one state of all objects that can have it to `forceAction`, as in release 2.1.0."""
    _set_all(house, _able(state_change), force_action, None)
    return None


def toggle_all_at_random(house: House, *, random_seed: int = 0) -> JsonValue:
    """Flip a coin for every state of every object, as in releases before 3."""
    draw = np.random.default_rng(abs(random_seed))
    for able in _STATES:
        _toss(house, able, draw)
    return None


def toggle_at_random(house: House, *, state_change: str, random_seed: int = 0) -> JsonValue:
    """Flip a coin for one state of every object that can have it."""
    _toss(house, _able(state_change), np.random.default_rng(abs(random_seed)))
    return None


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
    if state == "is_open":
        set_open(house, thing, 1.0 if value else 0.0)
    elif state == "is_broken":
        smash(house, thing)
    elif state == "is_sliced":
        if thing.id != house.agent.held:
            pieces.cut(house.world, thing)
    elif state == "is_filled_with_liquid":
        house.world.change(thing, isFilledWithLiquid=value, fillLiquid="water" if value else None)
    else:
        house.world.change(thing, **{to_camel(state): value})


ACTIONS: Mapping[str, ActionFunction] = {
    "SetObjectStates": set_object_states,
    "SetObjectToggles": set_object_toggles,
    "SetStateOfAllObjects": set_state_of_all_objects,
    "RandomToggleStateOfAllObjects": toggle_all_at_random,
    "RandomToggleSpecificState": toggle_at_random,
}
