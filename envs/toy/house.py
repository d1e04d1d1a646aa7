"""The toy house as an immutable value, and the effects of actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from inhabit.envs.core import Action, Reason
from inhabit.envs.template import ActionKind
from inhabit.envs.world.language import Choices, listed
from inhabit.envs.world.rows import Verb

ROOMS = ("kitchen", "hall", "bedroom")
"""In a row: the way from the kitchen to the bedroom leads through the hall."""
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
        case "pick", (item,):
            return _pick(house, item)
        case "put", (item, container) if container in CONTAINERS:
            return _put(house, item, container)
        case "drop", (item,):
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
