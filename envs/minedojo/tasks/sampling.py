"""Samples tasks of three of MineDojo's kinds, in biomes where they are feasible.

Task `index` of `seed` follows from these two numbers alone, world seed included.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from inhabit.envs.core import Task
from inhabit.envs.minedojo.world.settings import MineDojoSettings
from inhabit.envs.world.words import plural, with_article

_HARVEST = (
    # item, maximum quantity, biomes, initial inventory
    ("log", 4, ("plains", "forest", "taiga", "swampland"), ()),
    ("planks", 8, ("forest", "taiga", "jungle"), ()),
    ("stick", 4, ("forest", "taiga"), ()),
    ("crafting_table", 1, ("forest", "taiga", "jungle"), ()),
    ("dirt", 4, ("plains", "forest"), ()),
    ("cobblestone", 6, ("plains", "extreme_hills"), ("wooden_pickaxe",)),
    ("coal", 3, ("plains", "extreme_hills"), ("wooden_pickaxe",)),
    ("iron_ore", 2, ("plains", "forest"), ("stone_pickaxe",)),
    ("diamond", 1, ("plains", "desert"), ("iron_pickaxe",)),
    ("beef", 1, ("plains",), ("iron_sword",)),
    ("mutton", 1, ("plains", "extreme_hills"), ("iron_sword",)),
    ("milk_bucket", 1, ("plains",), ("bucket",)),
    ("wool", 2, ("plains", "extreme_hills"), ("shears",)),
    ("sand", 4, ("desert",), ()),
    ("cactus", 2, ("desert",), ()),
    ("torch", 4, ("forest",), ("wooden_pickaxe",)),
    ("furnace", 1, ("plains", "forest"), ("wooden_pickaxe",)),
    ("chest", 1, ("forest", "taiga"), ()),
)
_COUNTED = ("log", "stick", "crafting_table", "diamond", "milk_bucket", "torch", "furnace", "chest")
"""Items with a plural."""
_TECH = ("wooden_pickaxe", "wooden_sword", "stone_pickaxe", "stone_axe", "iron_pickaxe")
_COMBAT = ("cow", "pig", "sheep", "chicken", "zombie", "spider", "skeleton", "husk")
_SWORDS = ("wooden_sword", "iron_sword", "diamond_sword")
_NIGHTLY = {"zombie", "spider", "skeleton", "husk"}
_ARMOUR = (("feet", "boots"), ("legs", "leggings"), ("chest", "chestplate"), ("head", "helmet"))


def kinds(settings: MineDojoSettings) -> Sequence[str]:
    """The kinds of sampled tasks."""
    return tuple(KINDS)


def rooms(settings: MineDojoSettings) -> Mapping[str, Sequence[str]]:
    """The biomes of sampled tasks: what stands for rooms here."""
    biomes = {biome for _, _, some, _ in _HARVEST for biome in some}
    return {biome: (biome,) for biome in sorted(biomes)}


def sample(n: int, seed: int, settings: MineDojoSettings | None = None) -> Iterator[Task]:
    """`n` tasks; the first k tasks do not depend on `n`."""
    for index in range(n):
        rng = random.Random(f"minedojo {seed} {index}")
        kind = rng.choices(tuple(KINDS), [kind.often for kind in KINDS.values()])[0]
        goal, scene, steps = KINDS[kind].draw(rng)
        yield Task(
            id=f"minedojo-{seed}-{index}",
            env="minedojo",
            kind=kind,
            goal=goal,
            scene={"task": kind, "world_seed": rng.randrange(10_000), **scene},
            max_steps=steps,
        )


def _harvest(rng: random.Random) -> tuple[str, dict[str, JsonValue], int]:
    item, most, biomes, held = rng.choice(_HARVEST)
    biome, count = rng.choice(biomes), rng.randint(1, most)
    with_what = f" with {_one(held[0])}" if held else ""
    goal = f"Obtain {_so_many(count, item)} in the {_words(biome)}{with_what}."
    scene: dict[str, JsonValue] = {
        "target_names": [item],
        "target_quantities": count,
        "specified_biome": biome,
        "initial_inventory": [{"slot": i, "name": name} for i, name in enumerate(held)],
    }
    return goal, scene, 40 + 6 * count


def _combat(rng: random.Random) -> tuple[str, dict[str, JsonValue], int]:
    mob, sword = rng.choice(_COMBAT), rng.choice(_SWORDS)
    biome = "desert" if mob == "husk" else rng.choice(("plains", "forest", "extreme_hills"))
    night = mob in _NIGHTLY
    where = f"{'night ' if night else ''}{_words(biome)}"
    goal = f"Fight {_one(mob)} in the {where} with {_one(sword)}."
    armour: Sequence[JsonValue] = [{"slot": s, "name": f"iron_{part}"} for s, part in _ARMOUR]
    scene: dict[str, JsonValue] = {
        "target_names": [mob],
        "specified_biome": biome,
        "initial_mobs": [mob],
        "initial_mob_spawn_range_low": [-7, 1, -7],
        "initial_mob_spawn_range_high": [7, 1, 7],
        "start_at_night": night,
        "allow_mob_spawn": False,
        "initial_inventory": [{"slot": "mainhand", "name": sword}, *armour],
    }
    return goal, scene, 30


def _techtree(rng: random.Random) -> tuple[str, dict[str, JsonValue], int]:
    item = rng.choice(_TECH)
    biome = rng.choice(("plains", "forest", "taiga"))
    goal = f"Make {_one(item)} in the {_words(biome)} from nothing, and use it."
    return goal, {"tech_item": item, "specified_biome": biome}, 120


def _one(name: str) -> str:
    """The name with its article; shears have none."""
    words = _words(name)
    if words.endswith("s"):
        return words
    return with_article(words)


def _so_many(count: int, item: str) -> str:
    if item not in _COUNTED:
        return f"{count} {_words(item)}"
    if count == 1:
        return _one(item)
    return f"{count} {plural(_words(item))}"


def _words(name: str) -> str:
    return name.replace("_", " ")


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


@dataclass(frozen=True, slots=True)
class MineDojoKind:
    """A kind of task."""

    name: str
    often: int
    """Weight of the kind among sampled tasks."""
    draw: Callable[[random.Random], tuple[str, dict[str, JsonValue], int]]
    """Random source -> a goal, the fields of its scene, and the number of steps."""
    says: tuple[str, ...]
    """Wordings for training data, with "{}" for what is wanted."""
    made: tuple[str, ...] = ()
    """Further wordings where all of what is wanted is crafted or smelted."""

    def forms(self, made: bool) -> Sequence[str]:
        """The wordings that fit."""
        return (*self.says, *self.made) if made else self.says


_ALL = (
    MineDojoKind("harvest", 6, _harvest, says=_GET, made=_MAKE),
    MineDojoKind("combat", 3, _combat, says=_DEFEAT),
    MineDojoKind("techtree", 2, _techtree, says=_USE),
)
KINDS: Mapping[str, MineDojoKind] = {kind.name: kind for kind in _ALL}
"""Three of MineDojo's kinds."""
