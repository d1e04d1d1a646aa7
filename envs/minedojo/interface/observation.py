"""Converts the state of the game to MineDojo's observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.minedojo.interface.actions import FUNCTIONS, crafts
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.language import biome_numbers, biomes
from inhabit.envs.minedojo.tasks.scene import MineDojoScene
from inhabit.envs.minedojo.world.catalogue import recipes, smelts
from inhabit.envs.minedojo.world.game_state import GameState, Stack

Group = dict[str, Any]
_SEA = 62.0


def spaced(name: str) -> str:
    """MineDojo writes "diamond sword"."""
    return name.replace("_", " ")


def stacks(all: Sequence[Stack]) -> Group:
    """Names, variants, quantities and durabilities."""
    return {
        "name": np.array([spaced(s.name) for s in all]),
        "variant": np.array([s.variant for s in all], np.int64),
        "quantity": np.array([s.quantity for s in all], np.float32),
        "cur_durability": np.array([s.durability for s in all], np.float32),
        "max_durability": np.array([s.lasts for s in all], np.float32),
    }


def body(now: GameState) -> Group:
    """The life_stats."""
    raw = now.raw
    named = {"life": "life", "armor": "armour", "food": "food", "saturation": "saturation",
             "oxygen": "oxygen", "xp": "xp"}  # fmt: skip
    return {
        **{name: _one(raw[ours]) for name, ours in named.items()},
        "is_sleeping": np.array(int(raw["sleeping"]), np.int64),
    }


def place(now: GameState, scene: MineDojoScene) -> Group:
    """The location_stats."""
    raw, biome = now.raw, scene.specified_biome or "plains"
    about = biomes()[biome]
    return {
        "pos": np.array(raw["pos"], np.float32),
        "yaw": _one(raw["yaw"]),
        "pitch": _one(raw["pitch"]),
        "biome_id": np.array(biome_numbers()[biome], np.int64),
        "rainfall": _one(float(about["rainfall"])),
        "temperature": _one(float(about["temperature"])),
        "can_see_sky": np.array(int(raw["open"]), np.int64),
        "is_raining": np.array(int(raw["raining"]), np.int64),
        "light_level": _one(raw["light"]),
        "sky_light_level": _one(1.0 if raw["open"] else min(1.0, raw["light"] / 15)),
        "sun_brightness": _one(raw["sun"]),
        "sea_level": _one(_SEA),
    }


def damage(now: GameState, since: int) -> Group:
    """The damage since tick `since`; zeros if there was none."""
    last = now.raw.get("damage")
    if not last or last["tick"] <= since:
        last = {}
    numbers = {"damage_amount": "amount", "damage_distance": "distance", "damage_pitch": "pitch",
               "damage_yaw": "yaw", "hunger_damage": "hunger"}  # fmt: skip
    flags = {"is_explosion": "explosion", "is_fire_damage": "fire", "is_projectile": "projectile",
             "is_unblockable": "unblockable", "is_magic_damage": "magic"}  # fmt: skip
    return {
        **{name: _one(last.get(ours, 0.0)) for name, ours in numbers.items()},
        **{name: np.array(bool(last.get(ours, False))) for name, ours in flags.items()},
    }


def masks(now: GameState) -> Group:
    """The action components that are valid now."""
    items = content()["items"]
    full = np.array([s.quantity > 0 for s in now.inventory])
    place = full & [("places" in items.get(s.name, {})) for s in now.inventory]
    equip = full.copy()
    equip[0] &= "slot" in items.get(now.inventory[0].name, {})
    craft = _craftable(now)
    kinds = {
        "drop": bool(full[0]), "craft": bool(craft.any() and not full.all()),
        "equip": bool(equip.any()), "place": bool(place.any()), "destroy": bool(full.any()),
    }  # fmt: skip
    takes = ("craft", "equip", "place", "destroy")
    return {
        "action_type": np.array([kinds.get(str(name), True) for name in FUNCTIONS]),
        "action_arg": np.array([[name in takes] for name in FUNCTIONS]),
        "craft_smelt": craft,
        "equip": equip,
        "place": place,
        "destroy": full,
    }


def _craftable(now: GameState) -> NDArray[np.bool_]:
    held: dict[str, int] = {}
    for stack in now.inventory:
        held[stack.name] = held.get(stack.name, 0) + stack.quantity
    can = {
        recipe.name
        for recipe in recipes()
        if all(held.get(name, 0) >= count for name, count in recipe.needed().items())
    }
    hot = {smelt.name for smelt in smelts() if held.get(smelt.source)}
    table, furnace = bool(now.raw["table_near"]), bool(now.raw["furnace_near"])
    allowed = {"by_hand": True, "at_table": table, "in_furnace": furnace}
    return np.array(
        [
            allowed[station] and name in (hot if station == "in_furnace" else can)
            for name, station in crafts()
        ]
    )


def changes(before: GameState, now: GameState, *, crafted: bool) -> Group:
    """The delta_inv: changes of the inventory since the last step."""
    more: list[tuple[str, int]] = []
    less: list[tuple[str, int]] = []
    for name in sorted({*before.carried, *now.carried}):
        change = now.carried.get(name, 0) - before.carried.get(name, 0)
        if change:
            (more if change > 0 else less).append((spaced(name), abs(change)))
    found: Group = {}
    for way, listed, most in (("inc", more, 1), ("dec", less, 4)):
        for cause, holds in (("craft", crafted), ("other", not crafted)):
            kept = [*(listed if holds else [])][:most]
            kept += [("air", 0)] * (most - len(kept))
            found[f"{way}_name_by_{cause}"] = np.array([name for name, _ in kept])
            found[f"{way}_quantity_by_{cause}"] = np.array([n for _, n in kept], np.float32)
    return found


def voxels(
    names: Sequence[tuple[str, int]], low: Sequence[int], high: Sequence[int], look: NDArray[Any]
) -> Group:
    """The box of blocks around the feet, indexed x, y, z.

    Args:
        names: block and variant of each place, z running fastest.
        low: offsets of its first corner, in blocks.
        high: of its last.
        look: where one looks, a vector of length one.
    """
    shape = tuple(b - a + 1 for a, b in zip(low, high, strict=True))
    found = _faces(names, shape)
    kinds = [_about(name) for name, _ in names]
    grid = np.stack(
        np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(low, high, strict=True)), indexing="ij"),
        axis=-1,
    ).astype(float)
    way = grid + np.array([0.0, 0.5 - 1.62, 0.0])
    length = np.maximum(np.linalg.norm(way, axis=-1), 1e-6)
    found["is_collidable"] = np.array([k["solid"] for k in kinds]).reshape(shape)
    found["blocks_light"] = np.array([k["dark"] for k in kinds]).reshape(shape)
    found["cos_look_vec_angle"] = (way @ look / length).astype(np.float32)
    return found


def rays(hits: Sequence[Mapping[str, Any]], asked: Sequence[tuple[float, float, float]]) -> Group:
    """The hits of the lidar: blocks, mobs, distances and positions."""
    names = [(str(hit["block"]), int(hit.get("variant") or 0)) for hit in hits]
    found = _faces(names, (len(hits),))
    levels = [_about(name)["level"] for name, _ in names]
    places = np.array([hit.get("at") or (0.0, 0.0, 0.0) for hit in hits], np.float32).reshape(-1, 3)
    return {
        **found,
        "harvest_level": np.array(levels, np.int64),
        "block_distance": np.array([hit["far"] for hit in hits], np.float32),
        "entity_name": np.array([spaced(str(hit.get("mob") or "null")) for hit in hits]),
        "entity_distance": np.array([hit["mob_far"] for hit in hits], np.float32),
        "ray_pitch": np.array([ray[0] for ray in asked], np.float32),
        "ray_yaw": np.array([ray[1] for ray in asked], np.float32),
        **{f"traced_block_{axis}": places[:, i] for i, axis in enumerate("xyz")},
    }


def _faces(names: Sequence[tuple[str, int]], shape: tuple[int, ...]) -> Group:
    kinds = [_about(name) for name, _ in names]

    def flags(key: str) -> NDArray[np.bool_]:
        return np.array([kind[key] for kind in kinds], bool).reshape(shape)

    return {
        "block_name": np.array([spaced(name) for name, _ in names]).reshape(shape),
        "block_meta": np.array([variant for _, variant in names], np.int64).reshape(shape),
        "is_tool_not_required": flags("by_hand"),
        "blocks_movement": flags("solid"),
        "is_liquid": flags("liquid"),
        "is_solid": flags("solid"),
        "can_burn": flags("burns"),
    }


def _about(name: str) -> Mapping[str, Any]:
    """A block's properties in MineDojo's terms."""
    block = _blocks().get(name)
    if block is None:
        return {"by_hand": True, "solid": False, "liquid": False, "burns": False, "dark": False,
                "level": -1}  # fmt: skip
    shape = block["shape"]
    return {
        "by_hand": "harvest" not in block,
        "solid": shape not in ("plant", "liquid", "torch", "carpet"),
        "liquid": shape == "liquid",
        "burns": block["tool"] in ("axe", "shears") and "ore" not in name,
        "dark": shape == "cube",
        "level": block.get("harvest", -1),
    }


@cache
def _blocks() -> Mapping[str, Mapping[str, Any]]:
    return {block["name"]: block for block in content()["blocks"] if block["variant"] == 0}


def _one(value: float) -> NDArray[np.float32]:
    return np.array([value], np.float32)
