"""Samples land, and blocks and animals on it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from inhabit.envs.minedojo.expert.topology import (
    Acquisition,
    cheapest,
    costs,
)
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.language import names
from inhabit.envs.minedojo.tasks.scene import PlacedBlock
from inhabit.envs.minedojo.world.catalogue import table

BIOMES = (
    *("plains", "forest", "taiga", "savanna", "desert", "extreme_hills", "jungle", "swampland"),
    *("ice_plains", "birch_forest", "mesa", "roofed_forest"),
)
CLUTTER = (
    *("coal_ore", "iron_ore", "gold_ore", "redstone_ore", "diamond_ore", "stone", "sand", "gravel"),
    *("log", "pumpkin", "melon_block", "clay", "red_mushroom", "reeds", "web", "sandstone"),
)
ANIMALS = ("cow", "pig", "sheep", "chicken", "horse", "rabbit", "mooshroom", "llama")
_NATURAL = frozenset(
    (
        *("beetroots", "brown_mushroom", "cactus", "carrots", "clay", "coal_ore", "deadbush"),
        *("diamond_ore", "dirt", "emerald_ore", "gold_ore", "grass", "gravel", "iron_ore"),
        *("lapis_ore", "leaves", "log", "melon_block", "potatoes", "pumpkin", "red_flower"),
        *("red_mushroom", "redstone_ore", "reeds", "sand", "sandstone", "stone", "water"),
        *("web", "wheat", "yellow_flower"),
    )
)
"""Blocks that may occur nearby."""
_SPOTS = ((0, 3), (-2, 3), (2, 3), (-1, 2), (1, 2), (-4, 5), (4, 6), (-1, 6))
"""Positions of blocks on each side: to the right and away; the first ones are within reach."""
_SPREAD = 7.0


@cache
def every_way() -> Mapping[str, Acquisition]:
    """Item -> the cheapest way to obtain it if every natural block can be found."""
    alive = frozenset(row["name"] for row in table("mobs"))
    return cheapest(costs(_NATURAL, alive), _NATURAL, alive)


def land(rng: random.Random) -> dict[str, object]:
    """A biome, a time of day and weather."""
    return {
        "specified_biome": rng.choice([b for b in BIOMES if b in names("biome")]),
        "world_seed": rng.randrange(10_000),
        "start_time": rng.randrange(500, 11_500),
        "initial_weather": rng.choices(("clear", "rain"), (5, 1))[0],
        "allow_mob_spawn": False,
        "allow_time_passage": False,
    }


def around(kinds: Sequence[str], rng: random.Random) -> tuple[PlacedBlock, ...]:
    """Place blocks of these kinds on all four sides, so that no side hides another."""
    found: dict[tuple[int, int, int], PlacedBlock] = {}
    spots = rng.sample(_SPOTS, min(len(kinds), len(_SPOTS)))
    for kind, (lane, far) in zip(kinds, spots, strict=False):
        for x, z in ((lane, far), (far, -lane), (-lane, -far), (-far, lane)):
            for name, y in _column(kind):
                found.setdefault((x, y, z), PlacedBlock(name=name, offset=(x, y, z)))
    return tuple(found.values())


def creatures(who: Sequence[str]) -> dict[str, object]:
    """Scene fields that spawn mobs around the start."""
    if not who:
        return {"initial_mobs": ()}
    return {
        "initial_mobs": tuple(who),
        "initial_mob_spawn_range_low": (-_SPREAD, 1, -_SPREAD),
        "initial_mob_spawn_range_high": (_SPREAD, 1, _SPREAD),
    }


def _column(kind: str) -> Iterator[tuple[str, int]]:
    """The blocks that represent a kind: a trunk, a pool, a plant on soil, or two blocks."""
    shape = next(b["shape"] for b in content()["blocks"] if b["name"] == kind)
    if kind == "log":
        yield from ((kind, y) for y in (-1, 0, 1, 2))
    elif kind == "water":
        yield kind, -1
    elif shape == "plant" or kind in ("reeds", "cactus"):
        yield ("sand" if kind == "cactus" else "grass"), -1
        yield kind, 0
    else:
        yield from ((kind, y) for y in (-1, 0))
