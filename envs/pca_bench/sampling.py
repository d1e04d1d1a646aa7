"""Samples text-only game instances from recipes, and solves them from inventory and mobs."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from inhabit.envs.core import Task
from inhabit.envs.pca_bench.scene import INVENTORY, MOBS, Domain, PcaScene, PcaSettings, facts

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
        """A situation with normalized names."""
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


_IRON = ("find iron ore", "craft iron ingot")
_SWORD = ("craft iron sword", *_IRON, "find log", "craft stick")
_GOALS = {
    "Harvest milk": ("find cow", "milk cow", "craft bucket", *_IRON),
    "Harvest wool": ("find sheep", "shear sheep", "craft shears", *_IRON),
    "Harvest beef using an iron sword": ("find cow", "kill cow", *_SWORD),
    "Place a crafting table in front of you": (
        "find planks",
        "craft crafting table",
        "place crafting table",
    ),
    "Place a bookshelf in front of you": (
        "find log",
        "craft plank",
        "find paper",
        "find cow",
        "kill cow",
        "craft book",
        "craft bookshelf",
        "place bookshelf",
    ),
}
_ITEMS = (
    *("bucket", "shears", "iron ore", "iron ingot", "iron sword", "log", "stick", "planks"),
    *("paper", "leather", "book", "bookshelf", "crafting table"),
)
_MOBS = ("chicken", "cow", "pig", "sheep")
_DRAWS = 200
"""Situations that are drawn at most for one that has the answer that is wanted."""


def sample(n: int, seed: int, settings: PcaSettings) -> Iterator[Task]:
    """`n` instances, the goals in turn; the first k instances do not depend on `n`."""
    for i in range(n):
        yield _task(i, seed)


def _task(i: int, seed: int) -> Task:
    rng = random.Random(f"pca_bench {seed} {i}")
    goal = sorted(_GOALS)[i % len(_GOALS)]
    # In random order, and each wanted as often: neither place nor text of an option tells.
    options = rng.sample(_GOALS[goal], len(_GOALS[goal]))
    wanted = rng.choice(options)
    for _ in range(_DRAWS):
        inventory = {item: rng.randint(1, 8) for item in rng.sample(_ITEMS, rng.randint(0, 4))}
        mobs = [mob for mob in _MOBS if rng.random() < 0.5]
        answer = solve(goal, Situation.of(inventory, mobs, options))
        if answer == wanted:
            break
    assert answer is not None, "Every goal here is a recipe."
    owned: JsonValue = [[name, count] for name, count in inventory.items()]
    near: JsonValue = list(mobs)
    scene = PcaScene(
        domain=Domain.GAME,
        actions=tuple(options),
        answer=options.index(answer),
        reason=f"With this in the inventory and these creatures near, the next step is: {answer}.",
        key_concepts=(*mobs, *inventory),
        facts=f"{facts({INVENTORY: owned})} {_near(mobs)}",
        results={MOBS: near, INVENTORY: owned},
    )
    return Task(
        id=f"pca_bench-{seed}-{i}",
        env="pca_bench",
        kind=Domain.GAME.value,
        goal=goal,
        scene=scene.model_dump(mode="json"),
        max_steps=1,
        reference_cost=1,
    )


def _near(mobs: list[str]) -> str:
    return f"Near you: {', '.join(mobs)}." if mobs else "No creature is near."
