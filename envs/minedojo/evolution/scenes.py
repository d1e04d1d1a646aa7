"""Samples scenes for EIE: a goal item, some of its ingredients held, and the rest nearby."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from inhabit.envs.minedojo.catalogue import table
from inhabit.envs.minedojo.expert.topology import (
    FURNACE,
    TABLE,
    Acquisition,
    Node,
    cheapest,
    costs,
    graph,
)
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.names import names
from inhabit.envs.minedojo.tasks.scene import InventoryItem, MineDojoScene, PlacedBlock

BIOMES = (
    *("plains", "forest", "taiga", "savanna", "desert", "extreme_hills", "jungle", "swampland"),
    *("ice_plains", "birch_forest", "mesa", "roofed_forest"),
)
_GOALS = """
apple arrow beef beetroot_soup bed boat bone book bowl bread bucket cactus carrot chest chicken
clay coal cobblestone cooked_beef cooked_chicken cooked_mutton cooked_porkchop crafting_table
diamond diamond_pickaxe diamond_sword dispenser dropper fence fishing_rod flint_and_steel furnace
glass gold_ingot golden_pickaxe golden_sword iron_axe iron_ingot iron_pickaxe iron_sword ladder
leather leather_boots leather_helmet lever log melon milk_bucket mushroom_stew mutton painting paper
planks porkchop potato pumpkin rail redstone reeds sandstone shears shield sign stick stone
stone_axe stone_hoe stone_pickaxe stone_slab stone_sword string sugar torch trapdoor
wheat wooden_axe wooden_pickaxe wooden_sword wool
"""
"""Items that can be goals."""
FOES = ("zombie", "skeleton", "spider", "husk", "pig", "cow", "sheep", "chicken", "wolf", "rabbit")
CLUTTER = (
    *("coal_ore", "iron_ore", "gold_ore", "redstone_ore", "diamond_ore", "stone", "sand", "gravel"),
    *("log", "pumpkin", "melon_block", "clay", "red_mushroom", "reeds", "web", "sandstone"),
)
ANIMALS = ("cow", "pig", "sheep", "chicken", "horse", "rabbit", "mooshroom", "llama")
_HELD = 0.45
"""Probability that an ingredient of the goal is held at the start."""
_HUNTS = 0.5
"""Share of kept goals that need an animal, since animals are often out of view."""
_FIGHTS = 0.06
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


def draw_scene(rng: random.Random) -> MineDojoScene:
    """Sample a scene with an item to obtain or a mob to fight."""
    if rng.random() < _FIGHTS:
        return _fight(rng)
    while True:
        item = max(rng.sample(_GOALS.split(), 2), key=_effort)
        needed = _needed(item, rng)
        if needed is not None:
            return _harvest(item, needed, rng)


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


def _fight(rng: random.Random) -> MineDojoScene:
    foe, others = rng.choice(FOES), rng.sample(ANIMALS, 2)
    sword = rng.choice(("wooden_sword", "stone_sword", "iron_sword", "diamond_sword"))
    worn = [("head", "iron_helmet"), ("chest", "iron_chestplate")]
    return MineDojoScene.model_validate(
        {
            **land(rng),
            **creatures([foe, *(o for o in others if o != foe)]),
            "task": "combat",
            "target_names": (foe,),
            "blocks": around(rng.sample(CLUTTER, 2), rng),
            "initial_inventory": [
                InventoryItem(slot="mainhand", name=sword),
                *(InventoryItem(slot=slot, name=name) for slot, name in worn),
            ],
        }
    )


def _effort(item: str) -> float:
    return costs(_NATURAL, frozenset(row["name"] for row in table("mobs"))).get(item, 0.0)


def _needed(item: str, rng: random.Random) -> _Needs | None:
    """The ingredients of an item, some of which must be gathered; None if it is not suitable."""
    if item not in every_way():
        return None
    way = every_way()[item]
    certain = way.verb not in ("craft", "smelt") and way.least == way.most
    needed = _Needs(rng.randint(1, 3) if certain else 1)
    needed.take(graph(item, needed.count, {}, every_way()), rng, top=True)
    # A hunt may leave placed stations behind, so that no plan is certainly shortest.
    stands = TABLE in needed.held or FURNACE in needed.held
    if needed.mobs:
        return needed if not stands and rng.random() < _HUNTS else None
    return needed if needed.blocks else None


def _harvest(item: str, needed: _Needs, rng: random.Random) -> MineDojoScene:
    blocks = [b for b in needed.blocks if b in _NATURAL]
    clutter = [b for b in rng.sample(CLUTTER, 3) if b not in blocks]
    animals = [*needed.mobs, *(a for a in rng.sample(ANIMALS, 2) if a not in needed.mobs)]
    tech = item in names("tech") and rng.random() < 0.5
    goal = {"task": "techtree", "tech_item": item} if tech else {
        "task": "harvest", "target_names": (item,), "target_quantities": needed.count
    }  # fmt: skip
    return MineDojoScene.model_validate(
        {
            **land(rng),
            **creatures(animals),
            **goal,
            "blocks": around([*blocks, *clutter], rng),
            "initial_inventory": _carried(needed.held, rng),
        }
    )


def _carried(held: Mapping[str, int], rng: random.Random) -> list[InventoryItem]:
    """The item to hold first: one that has to be placed or used, if any."""
    order = sorted(held, key=lambda n: (n not in (TABLE, FURNACE), rng.random()))
    return [
        InventoryItem(slot=slot, name=name, quantity=min(64, held[name]))
        for slot, name in enumerate(order)
    ]


class _Needs:
    """A goal's ingredients, split into those held and those to gather."""

    def __init__(self, count: int) -> None:
        self.count = count
        """Of the goal."""
        self.held: dict[str, int] = {}
        self.blocks: list[str] = []
        self.mobs: list[str] = []

    def take(self, node: Node, rng: random.Random, *, top: bool = False) -> None:
        """Visit a node of the graph."""
        if not top and rng.random() < _HELD:
            self._hold(node.item, node.count)
            return
        way = node.way
        if way.tool is not None:
            self._hold(way.tool, 1, most=1)
        if way.station is not None:
            self._hold(way.station, 1, most=1)
        if way.verb == "smelt":
            self._hold("coal", 1 + node.count // 8)
        if way.verb in ("mine", "collect"):
            self._gather(self.blocks, node, rng, top=top)
        elif way.verb in ("hunt", "milk", "shear"):
            self._gather(self.mobs, node, rng, top=top)
        for part in node.parts:
            self.take(part, rng)

    def _gather(self, into: list[str], node: Node, rng: random.Random, *, top: bool) -> None:
        """Hold all but one or two of an ingredient that is needed often."""
        if node.way.about not in into:
            into.append(node.way.about)
        missing = rng.randint(1, 2)
        if not top and node.count > missing:
            self._hold(node.item, node.count - missing)

    def _hold(self, item: str, count: int, most: int = 64) -> None:
        self.held[item] = min(most, self.held.get(item, 0) + count)
