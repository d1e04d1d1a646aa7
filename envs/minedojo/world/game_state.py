"""The state of the game, and what an engine has to tell and do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack of items."""

    name: str
    variant: int
    quantity: int
    durability: int
    """Remaining uses; -1 for items that do not wear out."""
    lasts: int


@dataclass(frozen=True, slots=True)
class GameState:
    """The reported state of the game. `raw` is the report itself."""

    raw: Mapping[str, Any]
    inventory: Sequence[Stack]
    equipment: Sequence[Stack]
    """Stacks in mainhand, offhand, feet, legs, chest and head."""
    killed: Mapping[str, int]
    used: Mapping[str, int]
    blocks: Mapping[str, float]
    """Seen blocks that still exist -> distance to the nearest."""
    counts: Mapping[str, int]
    """Seen blocks that still exist -> their number."""
    near: Mapping[str, int]
    """Seen blocks that still exist -> the number within digging reach."""
    mobs: Sequence[Mapping[str, Any]]

    @property
    def carried(self) -> Mapping[str, int]:
        """Item -> quantity, worn items included."""
        return _totals([*self.inventory, *self.equipment[1:]])

    @property
    def at_hand(self) -> Mapping[str, int]:
        """Item -> quantity, without worn items, which no action takes."""
        return _totals(self.inventory)

    @property
    def ticks(self) -> int:
        """Game ticks since the start."""
        return int(self.raw["ticks"])

    @property
    def dead(self) -> bool:
        """Whether the agent has died."""
        return bool(self.raw["dead"])


def read(raw: Mapping[str, Any]) -> GameState:
    """Parse the world's answer to `state`."""
    return GameState(
        raw=raw,
        inventory=[_stack(one) for one in raw["inventory"]],
        equipment=[_stack(one) for one in raw["equipment"]],
        killed=_counts(raw.get("killed")),
        used=_counts(raw.get("used")),
        blocks={one["name"]: float(one["far"]) for one in raw.get("blocks") or []},
        counts={one["name"]: int(one["count"]) for one in raw.get("blocks") or []},
        near={one["name"]: int(one["near"]) for one in raw.get("blocks") or []},
        mobs=raw.get("mobs") or [],
    )


def in_words(now: GameState) -> str:
    """The text of an observation: held and carried items, health, and stations nearby."""
    raw = now.raw
    hand = now.equipment[0]
    parts = [
        f"You hold {_some(hand.name, hand.quantity)}." if hand.quantity else "Your hand is empty."
    ]
    if carried := now.carried:
        listed = ", ".join(_some(name, count) for name, count in sorted(carried.items()))
        parts.append(f"You carry: {listed}.")
    hour = f"; day {int(raw['days']) + 1}, {_hour(raw['time'])}" if "time" in raw else ""
    parts.append(f"Health {raw['life']:.0f} of 20, food {raw['food']:.0f} of 20{hour}.")
    near = [name for name, here in (("crafting_table", raw["table_near"]),
                                    ("furnace", raw["furnace_near"])) if here]  # fmt: skip
    if near:
        parts.append(f"Within reach: {' and '.join(near)}.")
    if raw["dead"]:
        parts.append("You are dead.")
    return " ".join(parts)


def _some(name: str, count: int) -> str:
    return f"{name} x{count}" if count > 1 else name


def _hour(time: float) -> str:
    """Time of day; Minecraft's clock starts at six."""
    minutes = int(time * 60 / 1000 + 360) % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _stack(one: Mapping[str, Any]) -> Stack:
    return Stack(
        str(one["name"]),
        *(int(one[key]) for key in ("variant", "quantity", "durability", "lasts")),
    )


def _totals(stacks: Sequence[Stack]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for stack in stacks:
        if stack.quantity:
            found[stack.name] = found.get(stack.name, 0) + stack.quantity
    return found


def _counts(raw: Any) -> Mapping[str, int]:
    return {name: int(count) for name, count in (raw or {}).items()}


class Backend(Protocol):
    """A running world with one scene."""

    def ask(self, op: str, **fields: Any) -> Any:
        """Send one request. The environment uses four operations.

        state: the current state, see `game_state.read`.
        skill: `skill` (a verb), `name`, `deadline` (ticks) -> feedback, ticks, reason if it failed.
        view: `across` and `down` (rays), `wide` and `high` (tangents of half the angles) ->
            `blocks` (name -> rays that meet one) and `mobs` (`id`, `rays`).
        blocks: `distance` -> names of the blocks around, seen or not.

        Raises:
            SimulatorError: the world is gone.
        """

    def settled(self) -> NDArray[np.uint8]:
        """The fully rendered image, uint8 (H, W, 3)."""

    def close(self) -> None:
        """Stop the world. Safe to call twice."""


@runtime_checkable
class Restartable(Protocol):
    """A backend that can begin another episode on the same land."""

    def restart(self, scene: Mapping[str, Any]) -> None:
        """Begin a scene with the land of the present one, in which no action was taken.

        Raises:
            SceneError: one would start with the eyes inside a block.
            SimulatorError: the world is gone.
        """


Start = Callable[[Mapping[str, Any], int, int], Backend]
"""(scene from `scene.as_world`, width, height in pixels) -> a running world."""
