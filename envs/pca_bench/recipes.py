"""Solves the game instances from inventory and mobs alone.

The game's goals are recipes: an item to place or to harvest, made of items that are made of others
or found. The quantities are those in the benchmark's reasons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_RECIPES: Mapping[str, tuple[tuple[str, int], ...]] = {
    "crafting table": (("plank", 4),),
    "bookshelf": (("plank", 6), ("book", 3)),
    "book": (("paper", 3), ("leather", 1)),
    "plank": (("log", 1),),
    "stick": (("log", 2),),
    "bucket": (("iron ingot", 3),),
    "shear": (("iron ingot", 2),),
    "iron ingot": (("iron ore", 1),),
    "gold ingot": (("gold ore", 1),),
    "iron sword": (("iron ingot", 2), ("stick", 1)),
    "gold sword": (("gold ingot", 2), ("stick", 1)),
    "golden sword": (("gold ingot", 2), ("stick", 1)),
    "diamond sword": (("diamond", 2), ("stick", 1)),
    "stone sword": (("cobblestone", 2), ("stick", 1)),
    "wooden sword": (("plank", 2), ("stick", 1)),
}
"""Item -> its ingredients with quantities, in the order of collection."""


@dataclass(frozen=True, slots=True)
class Source:
    """A mob that drops an item."""

    mob: str
    verb: str
    tool: str | None = None


_SOURCES: Mapping[str, Source] = {
    "wool": Source("sheep", "shear", "shear"),
    "milk": Source("cow", "milk", "bucket"),
    "beef": Source("cow", "kill"),
    "leather": Source("cow", "kill"),
    "mutton": Source("sheep", "kill"),
    "porkchop": Source("pig", "kill"),
    "chicken": Source("chicken", "kill"),
}
_HARVEST = re.compile(r"harvest (?:raw )?(.+?)(?: (?:using|with) (?:an? )?(.+))?")
_PLACE = re.compile(r"place (?:an? )?(.+?)(?: in front of you)?")


@dataclass(frozen=True, slots=True)
class Situation:
    """The state of an instance: inventory, mobs nearby, and options."""

    inventory: Mapping[str, int]
    mobs: frozenset[str]
    options: Sequence[str]

    @classmethod
    def of(
        cls, inventory: Mapping[str, int], mobs: Sequence[str], options: Sequence[str]
    ) -> Situation:
        """With normalized names."""
        have: dict[str, int] = {}
        for name, n in inventory.items():
            have[_plain(name)] = have.get(_plain(name), 0) + n
        return cls(have, frozenset(map(_plain, mobs)), options)

    def has(self, item: str, n: int = 1) -> bool:
        """Whether the inventory holds at least `n`."""
        return self.inventory.get(item, 0) >= n

    def option(self, action: str) -> str | None:
        """The option with an action's text."""
        return next((o for o in self.options if _plain(o) == action), None)


def solve(goal: str, situation: Situation) -> str | None:
    """The next option; None if the goal is not a known recipe."""
    said = _plain(goal)
    if (harvest := _HARVEST.fullmatch(said)) is not None:
        source = _SOURCES.get(harvest[1])
        if source is None:
            return None
        return situation.option(_from_mob(source, harvest[2] or source.tool, situation))
    if (place := _PLACE.fullmatch(said)) is not None:
        return situation.option(_get(place[1], 1, situation) or f"place {place[1]}")
    return None


def _from_mob(source: Source, tool: str | None, situation: Situation) -> str:
    if source.mob not in situation.mobs:
        return f"find {source.mob}"
    lacking = None if tool is None else _get(tool, 1, situation)
    return lacking or f"{source.verb} {source.mob}"


def _get(item: str, n: int, situation: Situation) -> str | None:
    """The next step to obtain `n` of an item; None if the inventory has them."""
    if situation.has(item, n):
        return None
    if situation.option(f"craft {item}") is not None:
        lacking = n - situation.inventory.get(item, 0)
        for part, amount in _RECIPES.get(item, ()):
            if item.endswith("ingot"):  # Each comes from its own ore.
                amount *= lacking
            if (first := _get(part, amount, situation)) is not None:
                return first
        return f"craft {item}"
    if item in _SOURCES and situation.option(f"find {item}") is None:
        source = _SOURCES[item]
        return _from_mob(source, source.tool, situation)
    return f"find {item}"


def _plain(text: str) -> str:
    """Lower case, singular, without a full stop."""
    words = re.sub(r"[^a-z ]", " ", text.lower().replace("_", " ")).split()
    return " ".join(word[:-1] if word.endswith("s") and len(word) > 3 else word for word in words)
