"""The task topology graph: the ways to obtain each item, and their ingredients.

EIE and the expert walk it from a goal to its leaves: a wooden pickaxe needs planks and sticks,
those need logs, and a log is mined by hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.language import arguments
from inhabit.envs.minedojo.world.catalogue import Recipe, recipes, smelts, table

_EFFORT = {"mine": 4.0, "hunt": 8.0, "milk": 6.0, "shear": 6.0, "collect": 6.0, "craft": 1.0,
           "smelt": 3.0}  # fmt: skip
_DEEP = {"diamond_ore": 30.0, "redstone_ore": 25.0, "gold_ore": 20.0, "lapis_ore": 25.0,
         "emerald_ore": 60.0, "iron_ore": 8.0, "obsidian": 80.0}  # fmt: skip
"""Approximate cost of resources, in actions."""
_STACKED = {"reeds": 4, "cactus": 4}
"""Plants that fall with their lowest block -> their maximum height."""
FURNACE, TABLE = "furnace", "crafting_table"


@dataclass(frozen=True, slots=True)
class Acquisition:
    """One way to obtain an item."""

    verb: str
    """What is done: mine, hunt, milk, shear, collect, craft or smelt."""
    about: str
    """The target of the verb: a block, a mob, or the item itself."""
    yields: float
    """Average yield."""
    needs: Mapping[str, int]
    """Item -> quantity consumed."""
    least: int
    """Minimum yield."""
    most: int
    """Maximum yield."""
    tool: str | None = None
    """The simplest sufficient tool; it is not consumed."""
    station: str | None = None
    """The required station: crafting_table or furnace."""


@cache
def ways() -> Mapping[str, Sequence[Acquisition]]:
    """Item -> every way to obtain it, in a fixed order."""
    found: dict[str, list[Acquisition]] = {}

    def add(item: str, way: Acquisition) -> None:
        found.setdefault(item, []).append(way)

    for block in content()["blocks"]:
        if block["hardness"] < 0 or block["name"] not in arguments()["mine"]:
            continue
        for drop in block["drops"]:
            mean, least, most = _yield(drop)
            if block["name"] in _STACKED:
                most *= _STACKED[block["name"]]
            if mean > 0:
                way = Acquisition("mine", block["name"], mean, {}, least, most, tool_for(block))
                add(drop["name"], way)
        if block["sheared"]:
            add(block["name"], Acquisition("mine", block["name"], 1.0, {}, 1, 1, "shears"))
    for row in table("mobs"):
        for drop in content()["mobs"][row["name"]]["drops"]:
            mean, least, most = _yield(drop)
            add(drop["name"], Acquisition("hunt", row["name"], mean, {}, least, most))
    add("milk_bucket", Acquisition("milk", "cow", 1.0, {"bucket": 1}, 1, 1))
    add("wool", Acquisition("shear", "sheep", 2.0, {}, 1, 3, "shears"))
    for liquid in ("water", "lava"):
        add(f"{liquid}_bucket", Acquisition("collect", liquid, 1.0, {"bucket": 1}, 1, 1))
    for recipe in recipes():
        if recipe.name in recipe.needed() or _peculiar(recipe):
            continue
        station = None if recipe.by_hand else TABLE
        count, needs = recipe.count, recipe.needed()
        add(
            recipe.name,
            Acquisition("craft", recipe.name, count, needs, count, count, None, station),
        )
    for smelt in smelts():
        add(
            smelt.name,
            Acquisition("smelt", smelt.name, 1.0, {smelt.source: 1}, 1, 1, None, FURNACE),
        )
    return {item: tuple(_once(all)) for item, all in found.items()}


def _yield(drop: Mapping[str, Any]) -> tuple[float, int, int]:
    """The yield of a drop: average, minimum, maximum."""
    share, low, high = drop["share"], drop["low"], drop["high"]
    return share * (low + high) / 2, low if share >= 1 else 0, high


def _peculiar(recipe: Recipe) -> bool:
    """Whether it uses or makes a variant that the plain name does not mean: chiselled stone,
    ink.
    """
    plain = any(one.name == recipe.name and one.variant == 0 for one in recipes())
    cells = [one for row in recipe.rows for one in row if one] or list(recipe.items)
    coloured = any(one.name == "dye" and one.variant is not None for one in cells)
    exact = any((one.variant or 0) > 0 for one in cells)
    return (recipe.variant > 0 and plain) or exact or coloured


def tool_for(block: Mapping[str, object]) -> str | None:
    """The simplest tool with which a block drops an item; None if a hand suffices."""
    if "harvest" not in block:
        return None
    if block["tool"] == "shears":
        return "shears"
    least = int(str(block["harvest"]))
    return f"{('wooden', 'stone', 'iron', 'diamond')[least]}_{block['tool']}"


def better(tool: str) -> Sequence[str]:
    """Tools that can replace `tool`, simplest first."""
    material, _, kind = tool.rpartition("_")
    order = ("wooden", "stone", "iron", "diamond")
    if material not in order:
        return (tool,)
    return tuple(f"{m}_{kind}" for m in order[order.index(material) :])


@lru_cache(maxsize=64)
def costs(ground: frozenset[str], mobs: frozenset[str]) -> Mapping[str, float]:
    """Item -> estimated number of actions from an empty inventory; infinite if unobtainable.

    Args:
        ground: blocks that are to be found around here.
        mobs: kinds that are to be met around here.
    """
    cost: dict[str, float] = dict.fromkeys(ways(), math.inf)
    changed = True
    while changed:
        changed = False
        for item, all in ways().items():
            least = min(way_cost(way, cost, ground, mobs) for way in all)
            if least < cost[item] - 1e-9:
                cost[item], changed = least, True
    return cost


def way_cost(
    way: Acquisition, cost: Mapping[str, float], ground: frozenset[str], mobs: frozenset[str]
) -> float:
    """Estimated number of actions for one item."""
    if way.verb in ("mine", "collect") and way.about not in ground:
        return math.inf
    if way.verb in ("hunt", "milk", "shear") and way.about not in mobs:
        return math.inf
    own = _EFFORT[way.verb] + (_DEEP.get(way.about, 0.0) if way.verb == "mine" else 0.0)
    own += sum(count * cost.get(name, math.inf) for name, count in way.needs.items())
    if way.tool is not None:
        # A tool is used many times.
        own += min((cost.get(tool, math.inf) for tool in better(way.tool)), default=math.inf) / 4
    return own / way.yields


@dataclass(frozen=True, slots=True)
class ItemNode:
    """An item in a goal's graph, with its ingredients."""

    item: str
    count: int
    way: Acquisition
    parts: tuple[ItemNode, ...]


def graph(
    item: str, count: int, cost: Mapping[str, float], best: Mapping[str, Acquisition]
) -> ItemNode:
    """The ingredient tree of `count` of an item.

    Args:
        item: the goal.
        count: how many of it.
        cost: of `costs`.
        best: item -> its cheapest way, of `cheapest`.
    """
    way = best[item]
    times = math.ceil(count / way.yields)
    parts = tuple(graph(n, c * times, cost, best) for n, c in sorted(way.needs.items()))
    return ItemNode(item, count, way, parts)


def cheapest(
    cost: Mapping[str, float], ground: frozenset[str], mobs: frozenset[str]
) -> Mapping[str, Acquisition]:
    """Item -> the cheapest way to obtain it; unobtainable items are left out."""
    return {
        item: min(all, key=lambda way: way_cost(way, cost, ground, mobs))
        for item, all in ways().items()
        if cost[item] < math.inf
    }


def _once(all: Sequence[Acquisition]) -> Sequence[Acquisition]:
    kept: list[Acquisition] = []
    for way in all:
        if way not in kept:
            kept.append(way)
    return kept
