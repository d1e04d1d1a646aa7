"""The toy house as an environment, and its picture."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, JsonValue

from inhabit.envs.core import Action, Determinism, Env, Observation, Outcome, SceneObject, Task
from inhabit.envs.plain_data import state_digest, validated_scene
from inhabit.envs.toy.house import (
    CONTAINERS,
    HAND,
    ITEMS,
    OPENABLE,
    ROOMS,
    ToyGoal,
    ToyHouse,
    ToyScene,
    ToySettings,
    apply,
    in_hand,
    solve,
    successors,
    vocabulary,
    walk_cost,
)
from inhabit.envs.world import tools
from inhabit.envs.world.rows import among

_FLOOR = {"kitchen": (222, 214, 196), "hall": (201, 186, 158), "bedroom": (188, 198, 214)}
_CONTAINER = {"fridge": (236, 240, 242), "shelf": (150, 108, 66), "chest": (120, 74, 46)}
_ITEM = {
    "apple": (204, 52, 44),
    "ball": (44, 106, 204),
    "book": (54, 140, 84),
    "cup": (240, 180, 40),
}
_INSIDE = (58, 50, 44)
_WALL = (92, 88, 84)
_N = 16
"""Cells along each side; a cell is scaled up to pixels."""


def draw(house: ToyHouse, pixels: int) -> NDArray[np.uint8]:
    """The image, uint8 (pixels, pixels, 3): walls, doors, container, visible items and hand."""
    cells = np.empty((_N, _N, 3), np.uint8)
    cells[:] = _WALL
    cells[1:-1, 1:-1] = _FLOOR[house.room]
    i = ROOMS.index(house.room)
    if i > 0:
        cells[6:10, 0] = _FLOOR[ROOMS[i - 1]]
    if i < len(ROOMS) - 1:
        cells[6:10, -1] = _FLOOR[ROOMS[i + 1]]
    visible = house.visible()
    for container, room in CONTAINERS.items():
        if room == house.room:
            cells[1:5, 3:13] = _CONTAINER[container]
            if house.is_open(container):
                cells[2:5, 4:12] = _INSIDE
    for item, place in zip(house.items, house.places, strict=True):
        k = ITEMS.index(item)
        if place == HAND:
            cells[13:15, 7:9] = _ITEM[item]
        elif item in visible:
            row = 3 if place in CONTAINERS else 8
            column = 4 + 2 * k if place in CONTAINERS else 3 + 3 * k
            cells[row : row + 2, column : column + 2] = _ITEM[item]
    rows = np.arange(pixels) * _N // pixels
    return np.ascontiguousarray(cells[rows][:, rows])


def shown(house: ToyHouse, pixels: int) -> Mapping[str, int]:
    """The number of pixels of `draw(house, pixels)` that show each container and item, by
    colour.
    """
    picture = draw(house, pixels)
    return {
        name: int((picture == np.array(colour, np.uint8)).all(axis=2).sum())
        for name, colour in {**_CONTAINER, **_ITEM}.items()
    }


def things(house: ToyHouse, pixels: int) -> Sequence[SceneObject]:
    """Containers, then items, with their pixels in an image of side `pixels`."""
    seen = shown(house, pixels)
    found = [
        SceneObject(
            name=container,
            kind=container,
            states={"open": container in house.open} if container in OPENABLE else {},
            pixels=seen[container],
            room=CONTAINERS[container],
        )
        for container in CONTAINERS
    ]
    for item, place in zip(house.items, house.places, strict=True):
        support = place if place in CONTAINERS else None
        found.append(
            SceneObject(
                name=item,
                kind=item,
                states={},
                support=support,
                inside=support is not None,
                held=place == HAND,
                pixels=seen[item],
                room=house.room if place == HAND else CONTAINERS.get(place, place),
            )
        )
    return found


def make(backend: str, settings: ToySettings) -> Toy:
    """A toy house."""
    return Toy(settings)


class Toy(Env):
    """Three rooms in a row, three containers, up to four items, one hand."""

    Scene: ClassVar[type[BaseModel]] = ToyScene
    determinism = Determinism.FRAMES

    def __init__(self, settings: ToySettings | None = None) -> None:
        self._settings = settings or ToySettings()
        self._house = ToyHouse("hall", (), (), frozenset())
        self._goal = ToyGoal(())
        self._seen: frozenset[str] = frozenset()

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`. The seed has no effect."""
        scene = validated_scene(ToyScene, task)
        self._house, self._goal = scene.house(), scene.goal()
        self._seen = frozenset()
        self._look()

    def observe(self) -> Observation:
        """The room from above, (pixels, pixels, 3), and a text about the held item."""
        return Observation(in_hand(self._house), draw(self._house, self._settings.pixels))

    def vocabulary(self) -> Sequence[Action]:
        """27 actions, the same in every house."""
        return vocabulary()

    def actions(self) -> Sequence[Action]:
        """Actions on rooms, containers, and items seen so far."""
        items = {a for a in ITEMS if a in self._seen}
        return [a for a in vocabulary() if items.issuperset(set(a.arguments) & set(ITEMS))]

    def parse(self, text: str) -> Action | None:
        """Parse an action, as `among` understands it."""
        return among(vocabulary(), text)

    def act(self, action: Action) -> Outcome:
        """Execute one action; walking costs one step per room."""
        if self._settings.delay:  # Even sleep(0) gives the processor away.
            time.sleep(self._settings.delay)
        before = self._house
        self._house, reason, feedback = apply(before, action)
        self._look()
        cost = walk_cost(before.room, self._house.room) or 1
        return self.outcome(reason, feedback, cost=cost)

    def progress(self) -> tuple[int, int]:
        """The number of goal conditions that hold, and their total."""
        return self._goal.met(self._house), self._goal.total

    def close(self) -> None:
        """Nothing to release."""

    def plan(self) -> Sequence[Action]:
        """A shortest plan from the current state."""
        return solve(self._house, self._goal)[0]

    def best_actions(self) -> frozenset[Action]:
        """Every action that starts a shortest plan."""
        return solve(self._house, self._goal)[1]

    def fork(self) -> Toy:
        """An independent copy of the current state."""
        return copy.copy(self)

    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        """The functions that an agent without images may call."""
        return tools.described("in sight", "the hand")

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Call one of these functions.

        Raises:
            KeyError: there is no such tool.
        """
        here = [c for c, room in CONTAINERS.items() if room == self._house.room]
        held = self._house.held()
        return tools.answer(name, [*here, *self._house.visible()], [held] if held else [])

    def state(self) -> Mapping[str, Any]:
        """Room, positions of all items, open containers, and items seen."""
        house = self._house
        return {
            "room": house.room,
            "items": dict(zip(house.items, house.places, strict=True)),
            "open": sorted(house.open),
            "seen": sorted(self._seen),
        }

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the state's SHA-256."""
        return state_digest(self.state())

    def admissible(self) -> Sequence[Action]:
        """The actions that would succeed now."""
        return [action for action, _ in successors(self._house)]

    def things(self) -> Sequence[SceneObject]:
        """Every container and item, with its pixels in the image."""
        return things(self._house, self._settings.pixels)

    def _look(self) -> None:
        held = self._house.held()
        self._seen |= frozenset(self._house.visible()) | ({held} if held else set())
