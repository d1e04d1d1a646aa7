"""What a scene holds in the form common to all environments, and goals with land and inventory.

A kind of block is one object, "log", and so is a kind of carried item, "log_0", whatever their
number; every mob, "cow_3", is an object of its own.

The next action depends on what stands around: on stations and on wood. Everything that a goal needs
is carried, but for a crafting table or a furnace, and what these are made of is carried in part.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from inhabit.envs.core import Action, SceneObject
from inhabit.envs.minedojo.expert.topology import (
    FURNACE,
    TABLE,
    Acquisition,
    cheapest,
    costs,
    ways,
)
from inhabit.envs.minedojo.luanti.content import FUEL, content
from inhabit.envs.minedojo.luanti.game import BAR, FOV
from inhabit.envs.minedojo.tasks.language import names
from inhabit.envs.minedojo.tasks.sampling import KINDS
from inhabit.envs.minedojo.tasks.scene import InventoryItem, MineDojoScene, PlacedBlock
from inhabit.envs.minedojo.world.catalogue import table
from inhabit.envs.minedojo.world.game_state import Backend, GameState
from inhabit.envs.template import RecipePart
from inhabit.envs.world.words import is_plural, number, plural, with_article

STATES: Mapping[str, tuple[str, str]] = {"shorn": ("shorn", "woolly")}
"""State of a mob -> adjectives for "holds" and "does not hold"."""
_IN_HAND = 0.02
"""Approximate share of the image that a held item covers."""
_ACROSS, _DOWN = 48, 30
"""Rays over the image, each of which stands for its share of the pixels."""
_WIDEST, _TALLEST = 1.6, 1.4
"""Luanti widens the view of windows narrower than 16:10 by the square root of the ratio, up to
this."""


@dataclass(frozen=True, slots=True)
class PixelView:
    """Approximate number of pixels of each block and mob in the image."""

    hand: int
    blocks: Mapping[str, int]
    mobs: Mapping[int, int]


def look(world: Backend, width: int, height: int) -> PixelView:
    """Estimate what the current image shows, by ray casting.

    Args:
        world: as it is now.
        width: of the image, in pixels.
        height: likewise.
    """
    window = height + 2 * BAR
    wider = min(_TALLEST, max(1.0, math.sqrt(_WIDEST * window / width)))
    half = math.tan(math.radians(FOV) * wider / 2)
    seen = world.ask(
        "view", across=_ACROSS, down=_DOWN, wide=half * width / window, high=half * height / window
    )
    each = width * height / (_ACROSS * _DOWN)
    return PixelView(
        round(_IN_HAND * width * height),
        {name: round(rays * each) for name, rays in (seen["blocks"] or {}).items()},
        {int(mob["id"]): round(mob["rays"] * each) for mob in seen["mobs"] or ()},
    )


def things(now: GameState, view: PixelView) -> tuple[SceneObject, ...]:
    """Every known object, in a fixed order.

    Args:
        now: the current state.
        view: what the image of it shows.
    """
    stations = [
        name
        for name, near in (("crafting_table", "table_near"), ("furnace", "furnace_near"))
        if now.raw[near]
    ]
    blocks = sorted({*now.blocks, *view.blocks, *stations})
    hand = now.equipment[0].name if now.equipment[0].quantity else None
    return (
        *(
            SceneObject(
                name,
                plain(name),
                {},
                pixels=view.blocks.get(name, 0),
                count=now.counts.get(name, 1),
            )
            for name in blocks
        ),
        *(
            SceneObject(
                f"{mob['name']}_{int(mob['id'])}",
                plain(str(mob["name"])),
                {"shorn": bool(mob["shorn"])} if mob["name"] == "sheep" else {},
                pixels=view.mobs.get(int(mob["id"]), 0),
            )
            for mob in now.mobs
        ),
        *(_carried(name, count, name == hand, view) for name, count in sorted(now.carried.items())),
    )


def _carried(name: str, count: int, held: bool, view: PixelView) -> SceneObject:
    pixels = view.hand if held else 0
    return SceneObject(f"{name}_0", plain(name), {}, held=held, pixels=pixels, count=count)


def plain(name: str) -> str:
    """A name in English: "crafting table"."""
    return name.replace("_", " ")


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
"""Share of goals that take gathering; `_SMELTS` is that of smelting."""
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


def ingredients(action: Action, times: int, things: Sequence[SceneObject]) -> Sequence[RecipePart]:
    """What crafting or smelting takes, by the recipe of which most is carried.

    It names fuel for a furnace if some is carried.
    """
    carried = {t.name.removesuffix("_0"): t.count for t in things if t.name.endswith("_0")}
    item, *station = action.arguments
    found = [
        {name: count * times for name, count in way.needs.items()}
        for way in ways().get(item, ())
        if way.verb == action.verb and way.station == next(iter(station), None)
    ]
    if not found:
        return ()
    best = min(found, key=lambda way: sum(max(0, n - carried.get(k, 0)) for k, n in way.items()))
    parts = [
        RecipePart(plain(k), counted(plain(k), n), n, carried.get(k, 0)) for k, n in best.items()
    ]
    if FURNACE in station:
        burned = ((name, math.ceil(times / heat)) for name, heat in FUEL)
        fuel = next((one for one in burned if carried.get(one[0], 0) >= one[1]), None)
        if fuel is not None:
            name, count = fuel
            words = f"{counted(plain(name), count)} to burn"
            parts.append(RecipePart(plain(name), words, count, carried[name]))
    return parts


def made_from(item: str) -> Mapping[str, int]:
    """What is carried instead of one piece of an item, so that it has to be made."""
    for way in ways().get(item, ()):
        if way.verb == "smelt":
            return {**way.needs, "coal": 1}
        if way.verb == "craft" and way.station is None and len(way.needs) == 1:
            return way.needs
    return {}


def take_apart(held: dict[str, int], name: str) -> None:
    """Carry what an item is made of instead of it, and what a furnace takes if one is needed."""
    parts, count = made_from(name), held.pop(name)
    for part, each in parts.items():
        _carry(held, part, 1 if part == "coal" else each * count)
    if "coal" in parts:
        _carry(held, "cobblestone", 8)


def _way(item: str, station: str) -> Acquisition | None:
    return next((way for way in ways().get(item, ()) if way.station == station), None)


def _for_smelting(item: str, count: int, rng: random.Random) -> dict[str, int]:
    """Raw material, fuel, and what a furnace and a table are made of, or a part of it."""
    held = {**needed_for(item, count, FURNACE), "coal": 1}
    _carry(held, "cobblestone", 8)
    wood = rng.choice(((TABLE, 1), ("planks", 4), ("planks", 3), ("log", 1), None))
    if wood is not None:
        _carry(held, *wood)
    return held


def _for_crafting(item: str, rng: random.Random) -> dict[str, int]:
    """The ingredients, and what a table is made of, or a part of it."""
    held = dict(needed_for(item, 1, TABLE))
    for name in sorted(held):
        parts = made_from(name) if rng.random() < _RAW else {}
        if parts and name not in ("planks", "string", "wool"):
            take_apart(held, name)
    wood = rng.choice((("planks", 4), ("planks", 3), ("planks", 3), ("log", 1), None))
    if wood is not None:
        _carry(held, *wood)
    return held


def _carry(held: dict[str, int], item: str, count: int) -> None:
    held[item] = held.get(item, 0) + count


_PAIRS = ("boots", "leggings", "shears")
_MASSES = (
    *("beef", "chicken", "fish", "mutton", "porkchop", "rabbit", "glass", "clay", "bread", "paper"),
    *("wool", "stew", "soup", "planks", "leather", "gravel", "sand", "string", "coal", "wheat"),
    *("redstone", "sugar", "flint", "obsidian", "quartz", "gunpowder", "powder", "dust", "dirt"),
    *("snow", "ore", "stone"),
)
_COUNTED = ("stew", "soup", "planks")
"""Masses of which there may be two; of the others, two pieces."""


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
    if last in _MASSES and count == 1:
        return f"some {name}"
    if last in _MASSES and last not in _COUNTED:
        return f"{many} pieces of {name}"
    if count == 1:
        return with_article(name)
    return f"{many} {name if is_plural(name) else plural(name)}"
