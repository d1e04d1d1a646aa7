"""The mod's content as one JSON object: blocks, items, recipes and mobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from inhabit.envs.minedojo.world.catalogue import (
    Ingredient,
    Recipe,
    facts,
    numbers,
    recipes,
    smelts,
    table,
)

_DARK = ("furnace", "redstone_ore", "unlit_redstone_torch", "redstone_lamp")
"""Blocks to which the facts give the light of their lit form."""
_TOOLS = {"pickaxe": "pickaxe", "axe": "axe", "shovel": "shovel", "hoe": "hoe", "sword": "sword"}
_MATERIALS = {
    # name in tool names: mining level, speed, durability, damage of the sword
    "wooden": (0, 2.0, 59, 4.0),
    "stone": (1, 4.0, 131, 5.0),
    "iron": (2, 6.0, 250, 6.0),
    "diamond": (3, 8.0, 1561, 7.0),
    "golden": (0, 12.0, 32, 4.0),
}
_ARMOUR = {
    # points of helmet, chestplate, leggings, boots; factor of durability
    "leather": (1, 3, 2, 1, 5),
    "golden": (2, 5, 3, 1, 7),
    "chainmail": (2, 5, 4, 1, 15),
    "iron": (2, 6, 5, 2, 15),
    "diamond": (3, 8, 6, 3, 33),
}
_PARTS = (("helmet", "head", 11), ("chestplate", "chest", 16), ("leggings", "legs", 15),
          ("boots", "feet", 13))  # fmt: skip
_BY_MATERIAL = {"rock": "pickaxe", "wood": "axe", "dirt": "shovel", "web": "sword",
                "wool": "shears", "plant": "axe"}  # fmt: skip
_PLACES = {
    "sign": "standing_sign", "redstone": "redstone_wire", "string": "tripwire",
    "wheat_seeds": "wheat", "carrot": "carrots", "potato": "potatoes", "banner": "standing_banner",
    "beetroot_seeds": "beetroots", "repeater": "unpowered_repeater",
    "pumpkin_seeds": "pumpkin_stem",
    "comparator": "unpowered_comparator", "melon_seeds": "melon_stem", "water_bucket": "water",
    "lava_bucket": "lava", "silver_shulker_box": "light_gray_shulker_box",
}  # fmt: skip
"""Items that place a block of another name."""
_DROPS: Mapping[str, tuple[tuple[str, int, int, int, float], ...]] = {
    # block: (item, variant, least, most, share); where minecraft-data says too little
    "leaves": (("sapling", 0, 1, 1, 0.08), ("apple", 0, 1, 1, 0.08)),
    "leaves2": (("sapling", 4, 1, 1, 0.08),),
    "gravel": (("gravel", 0, 1, 1, 0.8), ("flint", 0, 1, 1, 0.2)),
    "tallgrass": (("wheat_seeds", 0, 1, 1, 0.25),),
    "snow_layer": (("snowball", 0, 1, 2, 1.0),),
    "beetroots": (("beetroot", 0, 1, 1, 1.0), ("beetroot_seeds", 0, 0, 3, 1.0)),
    "carrots": (("carrot", 0, 1, 4, 1.0),),
    "potatoes": (("potato", 0, 1, 4, 1.0),),
    "wheat": (("wheat", 0, 1, 1, 1.0), ("wheat_seeds", 0, 0, 3, 1.0)),
    "nether_wart": (("nether_wart", 0, 2, 4, 1.0),),
    "cocoa": (("dye", 3, 2, 3, 1.0),),
    "lapis_ore": (("dye", 4, 4, 8, 1.0),),
    "chorus_plant": (("chorus_fruit", 0, 0, 1, 1.0),),
    "snow": (("snowball", 0, 4, 4, 1.0),),
    "clay": (("clay_ball", 0, 4, 4, 1.0),),
    "deadbush": (("stick", 0, 1, 2, 1.0),),
    "brown_mushroom_block": (("brown_mushroom", 0, 1, 2, 1.0),),
    "red_mushroom_block": (("red_mushroom", 0, 1, 2, 1.0),),
    "redstone_ore": (("redstone", 0, 4, 5, 1.0),),
    "melon_block": (("melon", 0, 3, 7, 1.0),),
    "monster_egg": (("stone", 0, 1, 1, 0.0),),
}
_SHEARED = {"leaves", "leaves2", "tallgrass", "vine", "web", "deadbush"}
FUEL = (
    ("coal", 8.0), ("planks", 1.5), ("log", 1.5), ("log2", 1.5), ("stick", 0.5), ("sapling", 0.5),
    ("coal_block", 80.0), ("blaze_rod", 12.0), ("lava_bucket", 100.0), ("wooden_pickaxe", 1.0),
    ("wooden_axe", 1.0), ("wooden_shovel", 1.0), ("wooden_hoe", 1.0), ("wooden_sword", 1.0),
)  # fmt: skip
"""Fuel -> number of items it smelts, in the order in which a furnace uses them."""
_XP = {"coal_ore": 1, "diamond_ore": 5, "emerald_ore": 5, "lapis_ore": 3, "redstone_ore": 3,
       "quartz_ore": 3}  # fmt: skip
_LEAFY = {"leaves", "leaves2"}
_GLASSY = {"glass", "stained_glass", "ice", "slime", "frosted_ice", "mob_spawner"}
_LIQUID = {"water", "flowing_water", "lava", "flowing_lava"}
_THROUGH = {"standing_sign", "wall_sign", "standing_banner", "wall_banner", "piston_extension"}


@cache
def content() -> Mapping[str, Any]:
    """All content: blocks, other items, item uses, recipes and mobs."""
    variants = _variants()
    blocks = {block["name"]: block for block in facts("blocks")}
    stacks = {item["name"]: item["stackSize"] for item in facts("items")}
    made_blocks = [
        _block(block, variant, stacks.get(name, 64))
        for name, block in blocks.items()
        if name != "air"
        for variant in sorted(variants.get(name, {0}) | {0})
    ]
    only = [
        {
            "name": item["name"], "variant": variant, "label": _label(item, variant),
            "image": image(item["name"], variant), "stack": item["stackSize"],
        }
        for item in {one["name"]: one for one in facts("items")}.values()
        if item["name"] not in blocks
        for variant in sorted(variants.get(item["name"], {0}) | {0})
    ]  # fmt: skip
    return {
        "blocks": made_blocks,
        "only_items": only,
        "items": {name: _item(name, blocks) for name in sorted(stacks)},
        "fuel": FUEL,
        "recipes": [_recipe(one) for one in recipes()],
        "smelts": [
            {"name": s.name, "variant": s.variant, "source": s.source}
            | ({} if s.source_variant is None else {"source_variant": s.source_variant})
            for s in smelts()
        ],
        "mobs": {row["name"]: _mob(row) for row in table("mobs")},
    }


def image(name: str, variant: int) -> str:
    """Texture file of a block or item."""
    return f"mc_{name}__{variant}.png" if variant else f"mc_{name}.png"


def _label(raw: Mapping[str, Any], variant: int) -> str:
    """The display name: Spruce Wood Planks."""
    labels = {one["metadata"]: one["displayName"] for one in raw.get("variations") or ()}
    return str(labels.get(variant, raw["displayName"]))


def _variants() -> dict[str, set[int]]:
    """Every variant that occurs in a recipe, a furnace, a tree or a drop, and named colours."""
    found: dict[str, set[int]] = {}

    def note(name: str, variant: int | None) -> None:
        if variant is not None:
            found.setdefault(name, set()).add(variant)

    for recipe in recipes():
        note(recipe.name, recipe.variant)
        for one in [*[c for row in recipe.rows for c in row if c], *recipe.items]:
            note(one.name, one.variant)
    for smelt in smelts():
        note(smelt.source, smelt.source_variant)
        note(smelt.name, smelt.variant)
    for drops in _DROPS.values():
        for drop in drops:
            note(drop[0], drop[1])
    for name in ("wool", "dye", "carpet", "stained_glass", "stained_hardened_clay"):
        found.setdefault(name, set()).update(range(16))
    for name in ("log", "leaves"):
        found.setdefault(name, set()).update(range(4))
    found.setdefault("stone", set()).update(range(7))
    found.setdefault("double_plant", set()).update(range(6))
    found.setdefault("tallgrass", set()).update(range(3))
    found.setdefault("sapling", set()).update(range(6))
    found.setdefault("red_mushroom_block", set()).add(10)
    found.setdefault("skull", set()).update(range(5))
    return found


def shape(block: Mapping[str, Any]) -> str:
    """The drawing type of a block, and whether it is solid, by its name."""
    name = block["name"]
    if name in _LIQUID:
        return "liquid"
    if name in _LEAFY:
        return "leaves"
    if name in _GLASSY or name.endswith("stained_glass"):
        return "glass"
    if "torch" in name:
        return "torch"
    if name.endswith(("_slab", "_slab2")) and "double" not in name:
        return "slab"
    if name.endswith("_stairs"):
        return "stairs"
    if name in ("carpet", "snow_layer", "rail", "redstone_wire") or name.endswith("_rail"):
        return "carpet"
    if "pressure_plate" in name or name in ("waterlily", "unpowered_repeater"):
        return "carpet"
    if name.endswith(("fence", "_wall")) or name in ("end_rod", "lever", "hopper"):
        return "post"
    if name.endswith(("_door", "_pane", "trapdoor")) or name in ("ladder", "iron_bars"):
        return "panel"
    if name in ("bed", "cake", "daylight_detector", "enchanting_table"):
        return "slab"
    if name == "cactus":
        return "cactus"
    if block["boundingBox"] != "block" or name in _THROUGH or name in ("cocoa", "flower_pot"):
        return "plant"
    return "cube"


def _block(block: Mapping[str, Any], variant: int, stack: int) -> dict[str, Any]:
    name, drawn = block["name"], shape(block)
    texture = image(name, variant)
    sides = [f"mc_{name}_top.png", f"mc_{name}_top.png", texture]
    if name in ("grass", "mycelium"):
        sides = [f"mc_{name}_top.png", "mc_dirt.png", f"mc_{name}_side.png"]
    elif name in ("log", "log2"):
        sides = [texture.replace(".png", "_top.png")] * 2 + [texture]
    capped = name in ("grass", "mycelium", "log", "log2", "crafting_table", "furnace",
                      "lit_furnace", "pumpkin", "melon_block", "bookshelf")  # fmt: skip
    hardness = block.get("hardness")
    harvest = _level(block)
    return {
        "name": name, "variant": variant, "label": _label(block, variant), "shape": drawn,
        "tiles": sides if capped else [texture], "stack": stack,
        "light": 0 if name in _DARK else block["emitLight"],
        "hardness": -1 if hardness is None else hardness, "tool": _tool(block),
        "drops": _drops(block), "leafy": block.get("material") == "plant",
        "replaceable": name in ("tallgrass", "deadbush", "fire", "snow_layer", "vine"),
        "sheared": name in _SHEARED, "xp": _XP.get(name, 0),
    } | ({} if harvest is None else {"harvest": harvest}) | (
        {"image": texture} if drawn in ("plant", "torch", "panel") else {}
    )  # fmt: skip


def _tool(block: Mapping[str, Any]) -> str:
    """The kind of tool that breaks a block faster: what it drops something for, if it needs one."""
    kinds = {kind for _, kind in _harvesting(block)}
    return kinds.pop() if kinds else _BY_MATERIAL.get(block.get("material") or "", "none")


def _level(block: Mapping[str, Any]) -> int | None:
    """Minimum mining level of a tool for a drop; None if a hand suffices."""
    levels = [_MATERIALS[material][0] for material, _ in _harvesting(block)]
    return min(levels) if levels and block["name"] != "ice" else None


def _harvesting(block: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Material and kind of the tools for which a block drops something; none if a hand does."""
    names = [numbers()[int(number)] for number in block.get("harvestTools") or ()]
    pairs = [(material, kind) for material, _, kind in (name.rpartition("_") for name in names)]
    return [(material, kind) for material, kind in pairs if material in _MATERIALS]


def _drops(block: Mapping[str, Any]) -> list[dict[str, Any]]:
    name = block["name"]
    if name in _DROPS:
        return [
            {"name": item, "variant": variant, "low": low, "high": high, "share": share}
            for item, variant, low, high, share in _DROPS[name]
        ]
    found = []
    for raw in block["drops"]:
        what = raw["drop"]
        number = what["id"] if isinstance(what, dict) else what
        item = numbers()[number]
        least = int(raw.get("minCount", 1))
        same = item == name or (name == "double_stone_slab" and item == "stone_slab")
        found.append({
            "name": item, "variant": what.get("metadata", 0) if isinstance(what, dict) else 0,
            "low": least, "high": int(raw.get("maxCount", max(1, least))), "share": 1.0,
            "same": same,
        })  # fmt: skip
    return found


def _item(name: str, blocks: Mapping[str, Any]) -> dict[str, Any]:
    about: dict[str, Any] = {}
    material, _, kind = name.rpartition("_")
    if kind in _TOOLS and material in _MATERIALS:
        level, speed, lasts, damage = _MATERIALS[material]
        about["tool"] = {"kind": kind, "level": level, "speed": speed}
        about["durability"] = lasts
        about["damage"] = {"sword": damage, "axe": damage + 3, "pickaxe": damage - 2,
                           "shovel": damage - 1.5, "hoe": 1.0}[kind]  # fmt: skip
    elif name == "shears":
        about |= {"tool": {"kind": "shears", "level": 0, "speed": 5.0}, "durability": 238}
    elif name in ("bow", "fishing_rod", "flint_and_steel"):
        about["durability"] = {"bow": 384, "fishing_rod": 64, "flint_and_steel": 64}[name]
    for index, (part, slot, base) in enumerate(_PARTS):
        if kind == part and material in _ARMOUR:
            about |= {"slot": slot, "armour": _ARMOUR[material][index],
                      "durability": base * _ARMOUR[material][4]}  # fmt: skip
    if name == "shield":
        about |= {"slot": "offhand", "durability": 336}
    if (food := _foods().get(name)) is not None:
        about["food"] = food
    if (place := _PLACES.get(name, name)) in blocks and name != "air":
        about["places"] = place
    return about


def _foods() -> dict[str, dict[str, float]]:
    named = {"melon_block": "melon", "carrots": "carrot", "potatoes": "potato"}
    return {
        named.get(food["name"], food["name"]): {
            "points": food["foodPoints"], "saturation": food["saturation"],
        }
        for food in facts("foods")
    }  # fmt: skip


def _recipe(recipe: Recipe) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": recipe.name, "variant": recipe.variant, "count": recipe.count,
    }  # fmt: skip
    if recipe.rows:
        made["rows"] = [[_cell(one) for one in row] for row in recipe.rows]
    else:
        made["items"] = [_cell(one) for one in recipe.items]
    return made


def _cell(one: Ingredient | None) -> Any:
    if one is None:
        return False
    return {"name": one.name} | ({} if one.variant is None else {"variant": one.variant})


def _mob(row: Mapping[str, str]) -> dict[str, Any]:
    drops = []
    for text in filter(None, row["drops"].split(";")):
        name, _, counts = text.partition(":")
        span, _, share = counts.partition("@")
        low, _, high = span.partition("-")
        drops.append({
            "name": name, "variant": 0, "low": int(low), "high": int(high),
            "share": float(share or 1),
        })  # fmt: skip
    return {
        "width": float(row["width"]), "height": float(row["height"]),
        "health": float(row["health"]), "damage": float(row["damage"]),
        "speed": float(row["speed"]), "temper": row["temper"], "xp": int(row["xp"]),
        "flies": row["flies"] == "1", "swims": row["swims"] == "1", "burns": row["burns"] == "1",
        "drops": drops,
    }  # fmt: skip
