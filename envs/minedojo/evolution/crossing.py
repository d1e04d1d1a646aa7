"""Two goals with one inventory, and views in which each goal has an action of its own.

A goal that takes a crafting table is crossed with one that takes a furnace. One of both may be had
from a block as well, where that stands in view.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from inhabit.envs.core import Action
from inhabit.envs.minedojo.evolution.views import STATIONS, AheadView, predicted
from inhabit.envs.minedojo.evolution.workshop import (
    CRAFTED,
    SMELTED,
    held,
    inventory,
    needed_for,
)
from inhabit.envs.minedojo.expert.topology import FURNACE, TABLE
from inhabit.envs.minedojo.tasks.scene import MineDojoScene

COLUMNS = 4
"""Views of a square."""
_PARTNERS = 4
"""Goals that are tried beside a task's own."""
_BLOCKS: Mapping[str, Mapping[str, int]] = {
    "coal_block": {"coal": 9, "wooden_pickaxe": 1},
    "iron_block": {"iron_ingot": 9, "stone_pickaxe": 1},
    "gold_block": {"gold_ingot": 9, "iron_pickaxe": 1},
    "diamond_block": {"diamond": 9, "iron_pickaxe": 1},
    "redstone_block": {"redstone": 9, "iron_pickaxe": 1},
    "hay_block": {"wheat": 9},
}
"""What a crafting table makes and may be mined as well, with what that takes."""
_INGOTS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "iron_ingot": ("iron_block", {"iron_ore": 1, "coal": 1, "stone_pickaxe": 1}),
    "gold_ingot": ("gold_block", {"gold_ore": 1, "coal": 1, "iron_pickaxe": 1}),
}
"""What a furnace makes and a block gives as well: the block, and what all that takes."""
_WOOD = ("planks", "log")
_TABLE = 4
"""Planks that a crafting table takes."""
_COBBLESTONE = 8
"""Cobblestone that a furnace takes."""


Crossed = tuple[tuple[MineDojoScene, MineDojoScene], tuple[AheadView, ...]]
"""Two goals with one inventory, and their views."""


def crossed(scene: MineDojoScene, rng: random.Random) -> Crossed | None:
    """A square of a scene's goal and another one; None if none was found.

    Args:
        scene: the goal, what it takes, and the land.
        rng: the source of randomness.
    """
    partners = list(_partners(scene, rng))
    for item, needs, block, planks in rng.sample(partners, min(_PARTNERS, len(partners))):
        carried = held(scene)
        carried |= {name: max(n, carried.get(name, 0)) for name, n in needs.items()}
        carried = {name: n for name, n in carried.items() if name not in (*_WOOD, TABLE, FURNACE)}
        carried |= {"planks": planks, "cobblestone": _COBBLESTONE}
        shared = {"initial_inventory": inventory(carried, rng)}
        wanted = {"task": "harvest", "target_names": (item,), "target_quantities": 1}
        goals = [
            MineDojoScene.model_validate({**dict(scene), **goal, **shared})
            for goal in ({}, {**wanted, "tech_item": None})
        ]
        if found := _square(goals[0], goals[1], block, rng):
            return found
    return None


def _partners(
    scene: MineDojoScene, rng: random.Random
) -> Iterator[tuple[str, Mapping[str, int], str, int]]:
    """Items that a scene's goal may be crossed with, what they take, a block that one of both
    goals may be had from, and the planks that are carried.
    """
    own = {*scene.target_names, scene.tech_item}
    if own <= {*SMELTED, None}:
        for item, needs in _BLOCKS.items():
            yield item, needs, item, _TABLE
    if own & {*_INGOTS}:
        block = next(_INGOTS[item][0] for item in _INGOTS if item in own)
        for item in rng.sample(CRAFTED, _PARTNERS):
            yield item, needed_for(item, 1, TABLE), block, _TABLE - 1
    if own <= {*CRAFTED, None}:
        for item, (block, needs) in _INGOTS.items():
            yield item, needs, block, _TABLE - 1


def _square(
    one: MineDojoScene, two: MineDojoScene, block: str, rng: random.Random
) -> Crossed | None:
    """Views in which all answers of a goal, and both answers of a view, are different."""
    known: dict[tuple[Action, Action], AheadView] = {}
    for view in _views(block):
        first, second = predicted(one, view), predicted(two, view)
        if first is None or second is None or first.answer == second.answer:
            continue
        if first.answer.arguments and second.answer.arguments:
            known.setdefault((first.answer, second.answer), view)
    pairs = rng.sample(list(known), len(known))
    chosen = next(_rows(pairs, ()), None)
    return None if chosen is None else ((one, two), tuple(known[pair] for pair in chosen))


def _rows(
    pairs: Sequence[tuple[Action, Action]], chosen: tuple[tuple[Action, Action], ...]
) -> Iterator[tuple[tuple[Action, Action], ...]]:
    """Choices of columns, depth first."""
    if len(chosen) == COLUMNS:
        yield chosen
        return
    for place, pair in enumerate(pairs):
        if all(pair[0] != one and pair[1] != two for one, two in chosen):
            yield from _rows(pairs[place + 1 :], (*chosen, pair))


def _views(block: str) -> Iterator[AheadView]:
    kinds = ((), ("log",), ("planks",), (block,), ("log", block), ("planks", block))
    for (near, far), some in product(dict.fromkeys(STATIONS), kinds):
        yield AheadView(near, (*far, *some))
