"""A moment as the world tells it, with whole numbers whole, and how it is put into words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Stack:
    """Some of an item."""

    name: str
    variant: int
    quantity: int
    durability: int
    """Uses left; -1 for what doesn't wear."""
    lasts: int


@dataclass(frozen=True, slots=True)
class GameState:
    """Everything that is asked about a moment. `raw` is as the world says it."""

    raw: Mapping[str, Any]
    inventory: Sequence[Stack]
    equipment: Sequence[Stack]
    """mainhand, offhand, feet, legs, chest, head."""
    killed: Mapping[str, int]
    used: Mapping[str, int]
    blocks: Mapping[str, float]
    """Blocks that were seen and still stand -> how far the nearest is."""
    counts: Mapping[str, int]
    """The same -> how many of them,"""
    near: Mapping[str, int]
    """and how many of these can be dug without a step."""
    mobs: Sequence[Mapping[str, Any]]

    @property
    def carried(self) -> Mapping[str, int]:
        """Item -> how many, worn things included."""
        found: dict[str, int] = {}
        for stack in [*self.inventory, *self.equipment[1:]]:
            if stack.quantity:
                found[stack.name] = found.get(stack.name, 0) + stack.quantity
        return found

    @property
    def ticks(self) -> int:
        """Of the game, since the start."""
        return int(self.raw["ticks"])

    @property
    def dead(self) -> bool:
        """Whether the episode is over for the body."""
        return bool(self.raw["dead"])


def read(raw: Mapping[str, Any]) -> GameState:
    """The world's answer to `state`."""
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
    """What can't be seen: the body, what is carried, the tools nearby."""
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
    """Minecraft's clock, which begins at six."""
    minutes = int(time * 60 / 1000 + 360) % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _stack(one: Mapping[str, Any]) -> Stack:
    return Stack(
        str(one["name"]),
        *(int(one[key]) for key in ("variant", "quantity", "durability", "lasts")),
    )


def _counts(raw: Any) -> Mapping[str, int]:
    return {name: int(count) for name, count in (raw or {}).items()}
