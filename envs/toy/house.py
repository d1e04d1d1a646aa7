"""The toy house: rooms, things, verbs, scenes and goals."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inhabit.envs.core import Action, Reason
from inhabit.envs.settings import SettingsModel
from inhabit.envs.template import ActionKind
from inhabit.envs.world.goals import shortest
from inhabit.envs.world.rows import Choices, Verb, listed
from inhabit.envs.world.words import with_article

ROOMS = ("kitchen", "hall", "bedroom")
"""Rooms in a row: the way from the kitchen to the bedroom leads through the hall."""
CONTAINERS = {"fridge": "kitchen", "shelf": "hall", "chest": "bedroom"}
"""Container -> its room."""
OPENABLE = ("fridge", "chest")
ITEMS = ("apple", "ball", "book", "cup")
HAND = "hand"
PLACES = (*ROOMS, *CONTAINERS, HAND)
"""The position of an item: on the floor of a room, in a container, or in the hand."""


@dataclass(frozen=True, slots=True)
class ToyHouse:
    """A state of the house. `places` is parallel to `items`."""

    room: str
    items: tuple[str, ...]
    places: tuple[str, ...]
    open: frozenset[str]

    def place(self, item: str) -> str | None:
        """Where an item is; None if the house has no such item."""
        return self.places[self.items.index(item)] if item in self.items else None

    def held(self) -> str | None:
        """The held item."""
        return self.items[self.places.index(HAND)] if HAND in self.places else None

    def is_open(self, container: str) -> bool:
        """Whether it is open; a shelf always is."""
        return container not in OPENABLE or container in self.open

    def visible(self) -> tuple[str, ...]:
        """The visible items: in this room and not in a closed container."""
        return tuple(
            item
            for item, place in zip(self.items, self.places, strict=True)
            if place == self.room or (CONTAINERS.get(place) == self.room and self.is_open(place))
        )

    def moved(self, item: str, place: str) -> ToyHouse:
        """The same house with one item moved."""
        i = self.items.index(item)
        return replace(self, places=(*self.places[:i], place, *self.places[i + 1 :]))


VERBS: Choices = {
    Verb("go", "go to {}", ActionKind.GO): [(room,) for room in ROOMS],
    Verb("open", "open {}", ActionKind.OPEN): [(container,) for container in OPENABLE],
    Verb("close", "close {}", ActionKind.CLOSE): [(container,) for container in OPENABLE],
    Verb("pick", "pick up {}", ActionKind.TAKE): [(item,) for item in ITEMS],
    Verb("put", "put {} in {}", ActionKind.PUT): [(i, c) for i in ITEMS for c in CONTAINERS],
    Verb("drop", "drop {}", ActionKind.DROP): [(item,) for item in ITEMS],
}
_VOCABULARY = tuple(listed(VERBS))


def vocabulary() -> Sequence[Action]:
    """The whole vocabulary."""
    return _VOCABULARY


def walk_cost(a: str, b: str) -> int:
    """The number of rooms walked."""
    return abs(ROOMS.index(a) - ROOMS.index(b))


def apply(house: ToyHouse, action: Action) -> tuple[ToyHouse, Reason | None, str]:
    """The effect of an action: the new house, the reason of a failure (or None), and a sentence."""
    match action.verb, action.arguments:
        case "go", (room,) if room in ROOMS:
            return _go(house, room)
        case "open", (container,) if container in OPENABLE:
            return _open(house, container)
        case "close", (container,) if container in OPENABLE:
            return _close(house, container)
        case "pick", (item,) if item in ITEMS:
            return _pick(house, item)
        case "put", (item, container) if item in ITEMS and container in CONTAINERS:
            return _put(house, item, container)
        case "drop", (item,) if item in ITEMS:
            return _drop(house, item)
    return house, Reason.UNKNOWN_ACTION, "Nobody here knows how to do that."


def successors(house: ToyHouse) -> Iterator[tuple[Action, ToyHouse]]:
    """Every action that succeeds now, with its result."""
    for action in vocabulary():
        after, reason, _ = apply(house, action)
        if reason is None:
            yield action, after


_Result = tuple[ToyHouse, Reason | None, str]


def _go(house: ToyHouse, room: str) -> _Result:
    if room == house.room:
        return house, Reason.ALREADY, f"You are in the {room} already."
    return replace(house, room=room), None, f"You are in the {room}."


def _open(house: ToyHouse, container: str) -> _Result:
    if CONTAINERS[container] != house.room:
        return house, Reason.NOT_VISIBLE, f"There is no {container} in the {house.room}."
    if house.is_open(container):
        return house, Reason.ALREADY, f"The {container} is open already."
    return replace(house, open=house.open | {container}), None, f"The {container} is open."


def _close(house: ToyHouse, container: str) -> _Result:
    if CONTAINERS[container] != house.room:
        return house, Reason.NOT_VISIBLE, f"There is no {container} in the {house.room}."
    if not house.is_open(container):
        return house, Reason.ALREADY, f"The {container} is closed already."
    return replace(house, open=house.open - {container}), None, f"The {container} is closed."


def _pick(house: ToyHouse, item: str) -> _Result:
    if house.held() == item:
        return house, Reason.ALREADY, f"You hold the {item} already."
    if item not in house.visible():
        return house, Reason.NOT_VISIBLE, f"You see no {item} here."
    if (held := house.held()) is not None:
        return house, Reason.HANDS_FULL, f"You hold the {held}."
    return house.moved(item, HAND), None, f"You hold the {item}."


def _put(house: ToyHouse, item: str, container: str) -> _Result:
    if house.held() is None:
        return house, Reason.HANDS_EMPTY, "Your hand is empty."
    if house.held() != item:
        return house, Reason.MISSING_ITEM, f"You don't hold the {item}."
    if CONTAINERS[container] != house.room:
        return house, Reason.NOT_VISIBLE, f"There is no {container} in the {house.room}."
    if not house.is_open(container):
        return house, Reason.CLOSED, f"The {container} is closed."
    return house.moved(item, container), None, f"The {item} is in the {container}."


def _drop(house: ToyHouse, item: str) -> _Result:
    if house.held() is None:
        return house, Reason.HANDS_EMPTY, "Your hand is empty."
    if house.held() != item:
        return house, Reason.MISSING_ITEM, f"You don't hold the {item}."
    return house.moved(item, house.room), None, f"The {item} lies on the floor."


@dataclass(frozen=True, slots=True)
class ToyGoal:
    """Items that must lie in containers, and containers that must be closed."""

    inside: tuple[tuple[str, str], ...]
    closed: tuple[str, ...] = ()

    def met(self, house: ToyHouse) -> int:
        """Number of conditions that hold."""
        put = sum(house.place(item) == container for item, container in self.inside)
        return put + sum(not house.is_open(container) for container in self.closed)

    @property
    def total(self) -> int:
        """Number of conditions."""
        return len(self.inside) + len(self.closed)


@lru_cache(maxsize=10_000)
def solve(house: ToyHouse, goal: ToyGoal) -> tuple[Sequence[Action], frozenset[Action]]:
    """Breadth-first search over the reachable states of the house.

    Only items that the goal names or the hand holds are searched over: the others cannot matter.

    Returns:
        A shortest plan, and every action that some shortest plan starts with; both empty if the
        goal is met.
    """
    wanted = {item for item, _ in goal.inside} | {house.held()}
    kept = [i for i, item in enumerate(house.items) if item in wanted]
    start = replace(
        house,
        items=tuple(house.items[i] for i in kept),
        places=tuple(house.places[i] for i in kept),
    )
    found = shortest(start, successors, lambda here: goal.met(here) == goal.total)
    if found is not None:
        return found
    raise ValueError(
        f"No way leads from {house} to {goal}: a name in the goal is not in the house."
    )


def cost(plan: Sequence[Action], house: ToyHouse) -> int:
    """Low-level steps of a plan: rooms walked, and one for any other action."""
    total = 0
    for action in plan:
        after, _, _ = apply(house, action)
        total += walk_cost(house.room, after.room) or 1
        house = after
    return total


def in_hand(house: ToyHouse) -> str:
    """The text of an observation: the held item."""
    return f"You have {with_article(held)} in your hand." if (held := house.held()) else ""


class ToySettings(SettingsModel):
    """What `--set` may say of the toy house."""

    pixels: int = Field(default=96, ge=16, le=1024)
    """Side of the square image, in pixels."""
    delay: float = Field(default=0.0, ge=0.0, le=60.0)
    """Seconds that every action takes, to imitate a slow simulator."""


class ToyScene(BaseModel):
    """A house and what is wanted of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    room: Literal["kitchen", "hall", "bedroom"] = "hall"
    """Where the agent starts."""
    items: Mapping[str, str] = Field(default_factory=lambda: {"cup": "kitchen"})
    """Item -> a room (on its floor), a container, or "hand" (one item at the most)."""
    open: tuple[str, ...] = ()
    """Containers that stand open: of fridge and chest."""
    inside: Mapping[str, str] = Field(default_factory=dict)
    """Goal: item -> container."""
    closed: tuple[str, ...] = ()
    """Goal: containers that must be closed."""

    @model_validator(mode="after")
    def _names_exist(self) -> ToyScene:
        for item, place in self.items.items():
            _known("item", item, ITEMS)
            _known("place", place, PLACES)
        for item, container in self.inside.items():
            _known("item of this house", item, self.items)
            _known("container", container, CONTAINERS)
        for container in (*self.open, *self.closed):
            _known("container that opens", container, OPENABLE)
        if sum(place == HAND for place in self.items.values()) > 1:
            raise ValueError("the hand holds one item at the most")
        if not self.inside and not self.closed:
            raise ValueError("the goal is empty: say what should be inside or closed")
        return self

    def house(self) -> ToyHouse:
        """The initial state of the house."""
        items = tuple(sorted(self.items))
        places = tuple(self.items[i] for i in items)
        return ToyHouse(self.room, items, places, frozenset(self.open))

    def goal(self) -> ToyGoal:
        """The goal."""
        return ToyGoal(tuple(sorted(self.inside.items())), tuple(sorted(set(self.closed))))


def _known(what: str, name: str, names: Iterable[str]) -> None:
    names = list(names)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=2) or names
        raise ValueError(f"there is no {what} {name!r}; nearest: {', '.join(near)}")
