"""Samples scenes whose next action depends on what stands around: on stations and on wood.

Everything that the goal needs is carried, but for a crafting table or a furnace, and what these are
made of is carried in part.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from inhabit.envs.minedojo.evolution.scenes import CLUTTER, around, land
from inhabit.envs.minedojo.expert.topology import FURNACE, TABLE, Acquisition, ways
from inhabit.envs.minedojo.tasks.language import names
from inhabit.envs.minedojo.tasks.scene import InventoryItem, MineDojoScene

SMELTED = tuple(
    """
brick cooked_beef cooked_chicken cooked_fish cooked_mutton cooked_porkchop cooked_rabbit
baked_potato glass gold_ingot hardened_clay iron_ingot
""".split()  # noqa: SIM905
)
"""Items that can be goals, and that a furnace makes."""
CRAFTED = tuple(
    """
armor_stand beetroot_soup boat bookshelf bow bowl bread bucket clock compass diamond_axe
diamond_boots diamond_helmet diamond_hoe diamond_pickaxe diamond_shovel diamond_sword fishing_rod
glass_bottle golden_apple golden_axe golden_boots golden_carrot golden_helmet
golden_pickaxe golden_shovel golden_sword iron_axe iron_boots iron_helmet iron_hoe iron_pickaxe
iron_shovel iron_sword item_frame leather_boots leather_helmet map melon_block minecart painting
paper rabbit_stew shield speckled_melon stone_axe stone_hoe stone_pickaxe stone_shovel stone_sword
wooden_axe wooden_hoe wooden_pickaxe wooden_shovel wooden_sword
""".split()  # noqa: SIM905
)
"""Items that can be goals, and that a crafting table makes."""
_GATHERED: Mapping[str, Mapping[str, int]] = {
    "wool": {"wooden_sword": 1, "string": 3},
    "beef": {},
    "iron_ingot": {"stone_pickaxe": 1, "furnace": 1, "coal": 1},
    "gold_ingot": {"iron_pickaxe": 1, "furnace": 1, "coal": 1},
    "stick": {},
    "chest": {"planks": 7, "crafting_table": 1},
}
"""Goals that different blocks or animals lead to, with what is carried."""
_SMELTS = 0.5
_GATHERS = 0.08
"""Shares of goals."""
_RAW = 0.35
"""Probability that an ingredient is carried as what it is made of."""


def draw_goal(rng: random.Random) -> MineDojoScene:
    """Sample a goal with an inventory, land and clutter."""
    number = rng.random()
    if number < _SMELTS:
        item = rng.choice(SMELTED)
        held = _for_smelting(item, 1, rng)
    elif number < _SMELTS + _GATHERS:
        item = rng.choice(sorted(_GATHERED))
        held = dict(_GATHERED[item])
    else:
        item = rng.choice(CRAFTED)
        held = _for_crafting(item, rng)
    tech = item in names("tech") and rng.random() < 0.5
    goal = {"task": "techtree", "tech_item": item} if tech else {
        "task": "harvest", "target_names": (item,), "target_quantities": 1
    }  # fmt: skip
    return MineDojoScene.model_validate(
        {
            **land(rng),
            **goal,
            "generate_world_type": rng.choices(("flat", "default"), (3, 1))[0],
            "start_yaw": rng.choice((-90.0, 0.0, 90.0, 180.0)),
            "blocks": around(rng.sample(CLUTTER, 2), rng),
            "initial_inventory": inventory(held, rng),
        }
    )


def inventory(held: Mapping[str, int], rng: random.Random) -> Sequence[InventoryItem]:
    """Stacks of these items, in an order picked at random."""
    order = rng.sample(sorted(held), len(held))
    return tuple(
        InventoryItem(slot=slot, name=name, quantity=min(64, held[name]))
        for slot, name in enumerate(order)
    )


def held(scene: MineDojoScene) -> dict[str, int]:
    """What is carried at the start."""
    found: dict[str, int] = {}
    for item in scene.initial_inventory:
        found[item.name] = found.get(item.name, 0) + item.quantity
    return found


def needed_for(item: str, count: int, station: str) -> Mapping[str, int]:
    """The ingredients of an item that a station makes."""
    way = _way(item, station)
    return {} if way is None else {name: each * count for name, each in way.needs.items()}


def made_from(item: str) -> Mapping[str, int]:
    """What is carried instead of one piece of an item, so that it has to be made."""
    for way in ways().get(item, ()):
        if way.verb == "smelt":
            return {**way.needs, "coal": 1}
        if way.verb == "craft" and way.station is None and len(way.needs) == 1:
            return way.needs
    return {}


def _way(item: str, station: str) -> Acquisition | None:
    return next((way for way in ways().get(item, ()) if way.station == station), None)


def _for_smelting(item: str, count: int, rng: random.Random) -> dict[str, int]:
    """Raw material, fuel, and what a furnace and a table are made of, or a part of it."""
    held = {**needed_for(item, count, FURNACE), "coal": 1}
    _add(held, "cobblestone", 8)
    wood = rng.choice(((TABLE, 1), ("planks", 4), ("planks", 3), ("log", 1), None))
    if wood is not None:
        _add(held, *wood)
    return held


def _for_crafting(item: str, rng: random.Random) -> dict[str, int]:
    """The ingredients, and what a table is made of, or a part of it."""
    held = dict(needed_for(item, 1, TABLE))
    for name in sorted(held):
        parts = made_from(name) if rng.random() < _RAW else {}
        if parts and name not in ("planks", "string", "wool"):
            count = held.pop(name)
            for part, each in parts.items():
                _add(held, part, 1 if part == "coal" else each * count)
            if "coal" in parts:
                _add(held, "cobblestone", 8)
    wood = rng.choice((("planks", 4), ("planks", 3), ("planks", 3), ("log", 1), None))
    if wood is not None:
        _add(held, *wood)
    return held


def _add(held: dict[str, int], item: str, count: int) -> None:
    held[item] = held.get(item, 0) + count
