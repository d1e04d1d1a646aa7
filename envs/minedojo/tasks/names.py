"""The valid names in scenes, and suggestions for invalid ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cache

from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.world.catalogue import table

WEATHERS = ("normal", "clear", "rain", "thunder")
SLOTS = ("mainhand", "offhand", "head", "chest", "legs", "feet")
WORLD_TYPES = ("default", "from_file", "flat", "specified_biome")
_LAST_SLOT = 40


@cache
def names(kind: str) -> Sequence[str]:
    """One list of names: item, block, biome, tech, by_hand, at_table or in_furnace, in
    MineDojo's order.
    """
    return tuple(row["name"] for row in table("names") if row["list"] == kind)


@cache
def mobs() -> Sequence[str]:
    """Every mob."""
    return tuple(row["name"] for row in table("mobs"))


@cache
def biome_numbers() -> Mapping[str, int]:
    """Biome -> Minecraft's number."""
    return {row["name"]: int(row["number"]) for row in table("names") if row["list"] == "biome"}


@cache
def biomes() -> Mapping[str, Mapping[str, str]]:
    """Biome -> its look in our world, and its climate."""
    return {row["name"]: row for row in table("biomes")}


@cache
def variants() -> Mapping[str, frozenset[int]]:
    """Block or item -> its variants."""
    found: dict[str, set[int]] = {}
    made = content()
    for one in [*made["blocks"], *made["only_items"]]:
        found.setdefault(one["name"], set()).add(one["variant"])
    return {name: frozenset(numbers) for name, numbers in found.items()}


def known(kind: str, name: str, among: Collection[str]) -> str:
    """`name` if it is valid.

    Raises:
        ValueError: it isn't; names the nearest ones.
    """
    if name not in among:
        raise ValueError(f"there is no {kind} {name!r}; nearest: {nearest(name, among)}")
    return name


def nearest(name: str, among: Collection[str]) -> str:
    """The three most similar names, as text."""
    ordered = sorted(among)
    close = get_close_matches(name[:60].lower().replace(" ", "_"), ordered, n=3, cutoff=0.3)
    return ", ".join(close or ordered[:3])


def slot(text: str | int) -> str | int:
    """A slot from 0 to 40, or a body part.

    Raises:
        ValueError: there is no such slot.
    """
    if isinstance(text, str) and text.isdigit():
        text = int(text)
    if isinstance(text, int):
        if not 0 <= text <= _LAST_SLOT:
            raise ValueError(f"there is no slot {text}; slots run from 0 to {_LAST_SLOT}")
        return text
    return known("slot", text, SLOTS)
