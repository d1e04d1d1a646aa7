"""Goals in words: "Please make a stone hoe."."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from inhabit.envs.minedojo.evolution.facts import plain
from inhabit.envs.minedojo.tasks.scene import MineDojoScene
from inhabit.envs.world.words import is_plural, number, plural, with_article

_GET = (
    "Get {}.",
    "I need {}.",
    "We need {}.",
    "Obtain {}.",
    "Please get {}.",
    "Can you get me {}?",
    "See to it that we have {}.",
    "What we need is {}.",
)
_MAKE = (
    "Make {}.",
    "Please make {}.",
    "Can you make {}?",
    "Make me {}, please.",
    "It is time to make {}.",
    "You have to make {}.",
)
_USE = (
    "Make {} and use it.",
    "Make {}, then use it.",
    "Please make {} and use it.",
    "You should make {} and use it.",
    "Can you make {} and use it?",
)
_DEFEAT = ("Defeat {}.", "Fight {} and win.", "Get rid of {}.")
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
    return rng.choice(_forms(scene.task, made)).format(listed)


def _forms(task: str, made: bool) -> Sequence[str]:
    if task == "techtree":
        return _USE
    if task == "combat":
        return _DEFEAT
    return (*_GET, *_MAKE) if made else _GET


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
