"""Goals in words: "Please make a stone hoe."."""

from __future__ import annotations

import random
from collections.abc import Mapping

from inhabit.envs.minedojo.evolution.facts import plain
from inhabit.envs.minedojo.tasks.sampling import KINDS
from inhabit.envs.minedojo.tasks.scene import MineDojoScene
from inhabit.envs.world.words import is_plural, number, plural, with_article

_PAIRS = ("boots", "leggings", "shears")
_MASSES = (
    *("beef", "chicken", "fish", "mutton", "porkchop", "rabbit", "glass", "clay", "bread", "paper"),
    *("wool", "stew", "soup", "planks", "leather", "gravel", "sand", "string", "coal"),
)


def goal_of(scene: MineDojoScene, *, made: bool, rng: random.Random) -> str:
    """The goal of a scene.

    Args:
        scene: with what is wanted.
        made: whether all of it is crafted or smelted.
        rng: picks the sentence.
    """
    wanted: Mapping[str, int] = scene.quantities or {str(scene.tech_item): 1}
    listed = " and ".join(counted(plain(item), count) for item, count in wanted.items())
    return rng.choice(KINDS[scene.task].forms(made)).format(listed)


def counted(name: str, count: int) -> str:
    """A number of things: "an iron axe", "two pairs of iron boots", "some bread"."""
    last = name.rpartition(" ")[2]
    many = number(count)
    if last in _PAIRS:
        return f"a pair of {name}" if count == 1 else f"{many} pairs of {name}"
    if last in _MASSES:
        return f"some {name}" if count == 1 else f"{many} {name}"
    if count == 1:
        return with_article(name)
    return f"{many} {name if is_plural(name) else plural(name)}"
