"""Samples text-only game instances from recipes, for quick trials."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pydantic import JsonValue

from inhabit.envs.core import Task
from inhabit.envs.pca_bench.recipes import Situation, solve
from inhabit.envs.pca_bench.results import INVENTORY, MOBS, facts
from inhabit.envs.pca_bench.scene import Domain, PcaScene, PcaSettings

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


def sample(n: int, seed: int, settings: PcaSettings) -> Iterator[Task]:
    """`n` instances, the goals in turn; the first k instances do not depend on `n`."""
    for i in range(n):
        yield _task(i, seed)


def _task(i: int, seed: int) -> Task:
    rng = random.Random(f"pca_bench {seed} {i}")
    goal = sorted(_GOALS)[i % len(_GOALS)]
    options = _GOALS[goal]
    inventory = {item: rng.randint(1, 8) for item in rng.sample(_ITEMS, rng.randint(0, 4))}
    mobs = [mob for mob in _MOBS if rng.random() < 0.5]
    answer = solve(goal, Situation.of(inventory, mobs, options))
    assert answer is not None, "Every goal here is a recipe."
    owned: JsonValue = [[name, count] for name, count in inventory.items()]
    near: JsonValue = list(mobs)
    scene = PcaScene(
        domain=Domain.GAME,
        actions=options,
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
