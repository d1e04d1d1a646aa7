"""What may stand ahead in a scene, and which action is then best: predicted without a simulator.

A goal and an inventory have several views. In each, other stations, blocks and animals stand ahead,
and the recipes make another action best. Only the image shows which view it is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, product

from inhabit.envs.core import Action
from inhabit.envs.minedojo.evolution.goals import (
    CRAFTED,
    SMELTED,
    held,
    inventory,
    needed_for,
)
from inhabit.envs.minedojo.expert.shortest import shortest
from inhabit.envs.minedojo.expert.topology import FURNACE, TABLE, Acquisition, better, ways
from inhabit.envs.minedojo.tasks.language import COMMON
from inhabit.envs.minedojo.tasks.scene import MineDojoScene, PlacedBlock
from inhabit.envs.minedojo.world.game_state import GameState, Stack

SOURCES = frozenset(
    (
        *("beetroots", "brown_mushroom", "cactus", "carrots", "clay", "coal_ore", "diamond_ore"),
        *("gold_ore", "gravel", "iron_ore", "lapis_ore", "log", "melon_block", "potatoes"),
        *("pumpkin", "red_mushroom", "redstone_ore", "reeds", "sand", "sandstone", "stone", "web"),
        *("wheat", "wool", "planks", "coal_block", "iron_block", "gold_block", "diamond_block"),
        *("redstone_block", "hay_block", "cobblestone", "snow", "bone_block", "bookshelf"),
    )
)
"""Blocks that a view may have to gather from."""
BEASTS = frozenset(("cow", "pig", "sheep", "chicken", "rabbit", "mooshroom", "horse", "llama"))
"""Animals that a view may have."""
STATIONS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    ((), ()), ((), ()), ((TABLE,), ()), ((), (TABLE,)), ((FURNACE,), ()), ((), (FURNACE,)),
    ((TABLE, FURNACE), ()), ((TABLE,), (FURNACE,)), ((FURNACE,), (TABLE,)),
)  # fmt: skip
"""Stations within reach, and farther away."""
_NEAR, _FAR = 2.0, 7.0
"""Distances in blocks of what is within reach, and of what is farther away."""
_VIEWS = 40
"""Views that are tried for one goal and inventory."""
_COUNT = 4
"""Blocks of a kind that can be seen."""
_DEEPEST = 4
"""Steps of recipes that are followed from the goal."""


@dataclass(frozen=True, slots=True)
class AheadView:
    """What stands ahead."""

    near: tuple[str, ...] = ()
    """Stations within reach."""
    far: tuple[str, ...] = ()
    """Stations and blocks that are farther away."""
    beasts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicted:
    """A view with its best action."""

    view: AheadView
    answer: Action
    length: int
    """Length of the shortest plan, in actions."""


def predictions(scene: MineDojoScene, rng: random.Random, enough: int = 5) -> Sequence[Predicted]:
    """Views of a goal and an inventory in which different actions are best, one for each action.

    Args:
        scene: the goal and the inventory.
        rng: the source of randomness.
        enough: number of actions from which on no more views are tried.
    """
    found: dict[str, Predicted] = {}
    for view in _views(scene, rng):
        if len(found) >= enough:
            break
        known = predicted(scene, view)
        if known is not None and known.answer.arguments:
            found.setdefault(known.answer.text, known)
    return list(found.values())


def predicted(scene: MineDojoScene, view: AheadView) -> Predicted | None:
    """The best action of a view; None if it is not certain, or several are equally good."""
    now = _state(scene, view)
    known = shortest(scene, now, now, frozenset((*COMMON, *view.far)))
    if known is None or len(known.best) != 1:
        return None
    return Predicted(view, next(iter(known.best)), len(known.plan))


def clutter(scene: MineDojoScene) -> Sequence[str]:
    """Kinds of placed blocks that are of no use for the goal."""
    used, _, _ = useful(scene)
    kinds = dict.fromkeys(block.name for block in scene.blocks)
    return [k for k in kinds if k in SOURCES and k not in used and not _is_fuel(k)]


def _is_fuel(kind: str) -> bool:
    return kind in ("log", "coal_ore", "coal_block", "planks")


def _views(scene: MineDojoScene, rng: random.Random) -> Iterator[AheadView]:
    blocks, beasts, stations = useful(scene)
    others = [b for b in sorted(BEASTS) if b not in beasts]
    sets: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((), ()), ((), ())]
    sets += [((block,), ()) for block in blocks] + [((), (beast,)) for beast in beasts]
    places = [p for p in STATIONS if {*p[0], *p[1]} <= stations]
    pairs = [(place, what) for place in dict.fromkeys(places) for what in dict.fromkeys(sets)]
    for (near, far), (kinds, wanted) in rng.sample(pairs, min(len(pairs), _VIEWS)):
        # An animal of no use stands in some views where none of use does.
        stray = rng.sample(others, 1) if beasts and not wanted and rng.random() < 0.7 else ()
        yield AheadView(near, (*far, *kinds), (*wanted, *stray))


def useful(scene: MineDojoScene) -> tuple[Sequence[str], Sequence[str], frozenset[str]]:
    """Blocks, animals and stations that a plan for the goal may use, in a fixed order."""
    held = {item.name for item in scene.initial_inventory}
    open_ = [*scene.target_names] or [str(scene.tech_item)]
    passed: set[str] = set()
    blocks: dict[str, None] = {}
    beasts: dict[str, None] = {}
    stations: set[str] = set()
    for _ in range(_DEEPEST):
        following: list[str] = []
        for item in open_:
            if item in passed:
                continue
            passed.add(item)
            for way in ways().get(item, ()):
                if not _is_certain(way, held):
                    continue
                if way.about in SOURCES and way.verb in ("mine", "collect"):
                    blocks[way.about] = None
                elif way.about in BEASTS and way.verb in ("hunt", "milk", "shear"):
                    beasts[way.about] = None
                if way.station is not None:
                    stations.add(way.station)
                    following.append(way.station)
                following += sorted(way.needs)
        open_ = following
    return list(blocks), list(beasts), frozenset(stations)


def _is_certain(way: Acquisition, held: set[str]) -> bool:
    """Whether it always yields something, with the tools that are held."""
    if way.verb in ("craft", "smelt"):
        return True
    return way.least >= 1 and (way.tool is None or not held.isdisjoint(better(way.tool)))


def _state(scene: MineDojoScene, view: AheadView) -> GameState:
    stacks = [Stack(i.name, i.variant, i.quantity, -1, -1) for i in scene.initial_inventory]
    raw = {
        "table_near": TABLE in view.near,
        "furnace_near": FURNACE in view.near,
        "heat": 0,
        "food": 20,
        "life": 20,
    }
    far = dict.fromkeys(view.near, _NEAR) | dict.fromkeys(view.far, _FAR)
    return GameState(
        raw=raw,
        inventory=stacks,
        equipment=[Stack("air", 0, 0, -1, -1)] * 6,
        killed={},
        used={},
        blocks=far,
        counts={name: 1 if name in (TABLE, FURNACE) else _COUNT for name in far},
        near={name: int(name in view.near) for name in far},
        mobs=[{"name": name, "far": _FAR} for name in view.beasts],
    )


# Two goals with one inventory, and views in which each goal has an action of its own.
#
# A goal that takes a crafting table is crossed with one that takes a furnace. One of both may be
# had from a block as well, where that stands in view.

COLUMNS = 4
"""Views of a square."""
_SQUARES = 500
"""Choices of views that are compared, at most."""
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
    own = {*scene.target_names, scene.tech_item}
    # Nobody is asked to get what is carried.
    partners = [
        one for one in _partners(scene, rng) if one[0] not in held(scene) and own.isdisjoint(one[1])
    ]
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
            yield item, needs, item, _TABLE - 1
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
    for view in _crossed_views(block):
        first = predicted(one, view)
        if first is None or not first.answer.arguments:
            continue
        second = predicted(two, view)
        if second is not None and second.answer.arguments and first.answer != second.answer:
            known.setdefault((first.answer, second.answer), view)
    pairs = rng.sample(list(known), len(known))
    tried = islice(_rows(pairs, ()), _SQUARES)
    # An answer of both goals is right more often than others, and so may be told by its name.
    chosen = max(tried, key=lambda square: len({*chain(*square)}), default=None)
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


def _crossed_views(block: str) -> Iterator[AheadView]:
    kinds = ((), ("log",), ("planks",), (block,), ("log", block), ("planks", block))
    for (near, far), some in product(dict.fromkeys(STATIONS), kinds):
        yield AheadView(near, (*far, *some))


# Builds the views of a goal and an inventory as scenes that only their images tell apart.

LEAST = 3
"""Views of a group."""
_NEAR_SPOTS = ((-2, 3), (0, 3))
_FAR_SPOTS = ((-3, 7), (-1, 8), (1, 8), (3, 8))
_SIDES = ((-5, 9), (5, 9), (-6, 8), (6, 8))
"""Columns, in blocks to the right and ahead: within reach (not at the right, where the hand is),
out of reach (none of which hides another, although heaps are two blocks wide), and at the sides."""
_BEAST = (2, 5)
"""Where an animal stands: to the left or to the right, and ahead."""
_LOOKS = (
    "blocks", "initial_mobs", "initial_mob_spawn_range_low", "initial_mob_spawn_range_high"
)  # fmt: skip
"""Fields in which the scenes of one goal differ."""


def views(scene: MineDojoScene, count: int, rng: random.Random) -> Sequence[MineDojoScene]:
    """Scenes with the goal, inventory and land of another one, each with its own best action.

    Args:
        scene: whose placed blocks and animals give way; kinds of no use stay, at the sides.
        count: number of scenes, at most.
        rng: the source of randomness.
    """
    known = predictions(scene, rng)
    if len(known) < LEAST:
        return []
    chosen = rng.sample(known, min(count, len(known)))
    sides = _sides(clutter(scene), rng)
    return [_placed(scene, one.view, sides, rng) for one in chosen]


def crossed_scenes(scene: MineDojoScene, rng: random.Random) -> Sequence[tuple[MineDojoScene, ...]]:
    """For each of two goals, scenes in which it has another best action; empty if there are none.

    Args:
        scene: with one of the goals; as for `views`.
        rng: the source of randomness.
    """
    found = crossed(scene, rng)
    if found is None:
        return ()
    goals, views = found
    sides = _sides([kind for kind in clutter(goals[0]) if kind in clutter(goals[1])], rng)
    placed = [_placed(goals[0], view, sides, rng) for view in views]
    looks = [{name: getattr(one, name) for name in _LOOKS} for one in placed]
    return [tuple(goal.model_copy(update=look) for look in looks) for goal in goals]


def _sides(kinds: Sequence[str], rng: random.Random) -> Sequence[tuple[str, tuple[int, int]]]:
    """What stands aside, and where."""
    aside = rng.sample([*kinds], min(len(kinds), len(_SIDES)))
    return list(zip(aside, rng.sample(_SIDES, len(aside)), strict=True))


def steps(scene: MineDojoScene) -> int | None:
    """The length of the plan where the wanted things stand out of reach; None if unknown."""
    known = predictions(scene, random.Random(0))
    return max((one.length for one in known), default=None)


def _placed(
    scene: MineDojoScene,
    view: AheadView,
    sides: Sequence[tuple[str, tuple[int, int]]],
    rng: random.Random,
) -> MineDojoScene:
    columns = [
        *zip(view.near, rng.sample(_NEAR_SPOTS, len(view.near)), strict=True),
        *zip(view.far, rng.sample(_FAR_SPOTS, len(view.far)), strict=True),
        *sides,
    ]
    blocks = {block.offset: block for kind, spot in columns for block in _column(kind, spot, scene)}
    aside, ahead = _turned(rng.choice((-1, 1)) * _BEAST[0], _BEAST[1], scene)
    place = (float(aside), 1.0, float(ahead))
    beasts: dict[str, object] = {"initial_mobs": view.beasts}
    if view.beasts:
        beasts |= {"initial_mob_spawn_range_low": place, "initial_mob_spawn_range_high": place}
    fields = {**dict(scene), "blocks": tuple(blocks.values()), **beasts}
    return MineDojoScene.model_validate(fields)


def _column(kind: str, spot: tuple[int, int], scene: MineDojoScene) -> Iterator[PlacedBlock]:
    """The blocks of a kind at a place: a station alone, a trunk, or a heap."""
    right, ahead = spot
    heap = kind not in (TABLE, FURNACE)
    heights = (-1, 0, 1, 2) if kind == "log" else (-1, 0)
    for lane in (right, right + 1) if heap and kind != "log" else (right,):
        east, south = _turned(lane, ahead, scene)
        for up in heights if heap else (0,):
            yield PlacedBlock(name=kind, offset=(east, up, south))


def _turned(right: int, ahead: int, scene: MineDojoScene) -> tuple[int, int]:
    """Blocks east and south, for blocks to the right and ahead."""
    yaw = math.radians(scene.start_yaw or 0.0)
    east, south = -round(math.sin(yaw)), round(math.cos(yaw))
    return ahead * east - right * south, ahead * south + right * east
