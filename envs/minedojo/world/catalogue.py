"""Blocks, items and recipes of Minecraft 1.12 from minecraft-data, with its gaps filled.

minecraft-data's recipes for 1.12 lack beds, fences and doors, and keep one colour of each; its 1.8
has them all, so what 1.8 knows is taken from there, the rest from 1.12, and a few from our table.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

VERSION = "1.12"
_OLDER = "1.8"
_UNCOUNTABLE = {"written_book", "filled_map", "fireworks", "firework_charge"}
"""Outputs whose hundreds of recipes only copy or decorate items."""
_OF_OAK = {"wooden_door", "fence", "fence_gate", "boat", "oak_stairs", "wooden_slab"}
"""Items that require oak; all others accept any planks, though the file says variant 0."""
_ANY = 32767
"""Minecraft's number for any variant."""


@dataclass(frozen=True, slots=True)
class Ingredient:
    """An item, of one variant or of any if `variant` is None."""

    name: str
    variant: int | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """A crafting recipe: `rows` of cells if the shape matters, else `items`."""

    name: str
    variant: int
    count: int
    rows: tuple[tuple[Ingredient | None, ...], ...] = ()
    items: tuple[Ingredient, ...] = ()

    def needed(self) -> Mapping[str, int]:
        """Item -> quantity."""
        found: dict[str, int] = {}
        cells = [one for row in self.rows for one in row if one] or list(self.items)
        for one in cells:
            found[one.name] = found.get(one.name, 0) + 1
        return found

    @property
    def by_hand(self) -> bool:
        """Whether it fits the inventory's 2x2 grid."""
        if self.rows:
            return len(self.rows) <= 2 and len(self.rows[0]) <= 2
        return len(self.items) <= 4


@dataclass(frozen=True, slots=True)
class Smelt:
    """A smelting recipe."""

    source: str
    source_variant: int | None
    name: str
    variant: int


def table(name: str) -> list[dict[str, str]]:
    """Rows of one of our CSV tables, in order."""
    file = resources.files("inhabit.envs.minedojo").joinpath("tables", f"{name}.csv")
    return list(csv.DictReader(file.read_text("utf-8").splitlines()))


def facts(name: str, version: str = VERSION) -> Any:
    """A file of minecraft-data for the PC edition."""
    folder = resources.files("minecraft_data").joinpath("data", "data", "pc", version)
    return json.loads(folder.joinpath(f"{name}.json").read_text("utf-8"))


@cache
def numbers() -> Mapping[int, str]:
    """Minecraft's block and item numbers -> names."""
    blocks = {block["id"]: block["name"] for block in facts("blocks")}
    items = {item["id"]: item["name"] for item in facts("items")}
    # Recipes name a redstone torch by its unlit block, which no inventory holds.
    return blocks | items | {75: "redstone_torch"}


@cache
def smelts() -> Sequence[Smelt]:
    """The 51 smelting recipes."""
    return [
        Smelt(
            row["source"],
            int(row["source_variant"]) if row["source_variant"] else None,
            row["name"],
            int(row["variant"]),
        )
        for row in table("smelting")
    ]


@cache
def recipes() -> Sequence[Recipe]:
    """Every crafting recipe in a fixed order, with distinct inputs."""
    new, old = facts("recipes"), facts("recipes", _OLDER)
    written = [_written(row) for row in table("recipes")]
    ours = {recipe.name for recipe in written}
    found: dict[object, Recipe] = {}
    for key in sorted({**new, **old}, key=int):
        name = numbers().get(int(key), "")
        if not name or name in _UNCOUNTABLE or name in ours:
            continue
        for raw in old.get(key) or new[key]:
            recipe = _recipe(raw, exact=key in old)
            if recipe.name in recipe.needed() and recipe.count == 1 and not recipe.rows:
                continue  # A repair of two worn tools makes no new item.
            found.setdefault(recipe.rows or tuple(sorted(recipe.items, key=str)), recipe)
    for recipe in written:
        found[recipe.rows] = recipe
    return list(found.values())


def _written(row: Mapping[str, str]) -> Recipe:
    def cell(text: str) -> Ingredient | None:
        name, _, variant = text.partition(":")
        return None if name == "-" else Ingredient(name, int(variant) if variant else None)

    rows = tuple(tuple(map(cell, line.split())) for line in row["rows"].split("|"))
    return Recipe(row["name"], int(row["variant"]), int(row["count"]), rows=rows)


def _recipe(raw: Mapping[str, Any], *, exact: bool) -> Recipe:
    result = raw["result"]
    made = (numbers()[result["id"]], result.get("metadata") or 0, result.get("count", 1))
    if "inShape" in raw:
        width = max(len(row) for row in raw["inShape"])
        exact = exact and (made[0] in _OF_OAK or made[1] > 0)
        rows = tuple(
            tuple(_ingredient(cell, exact) for cell in [*row, *[None] * (width - len(row))])
            for row in raw["inShape"]
        )
        return Recipe(*made, rows=rows)
    items = [_ingredient(one, exact) for one in raw["ingredients"]]
    return Recipe(*made, items=tuple(one for one in items if one))


def _ingredient(raw: Any, exact: bool) -> Ingredient | None:
    if isinstance(raw, list):
        raw = {"id": raw[0], "metadata": raw[1] if len(raw) > 1 else None}
    if not isinstance(raw, dict):
        raw = {"id": raw}
    if raw.get("id") in (None, -1):
        return None
    name, variant = numbers()[raw["id"]], raw.get("metadata")
    if name in ("log", "log2") and variant is not None:
        variant %= 4  # 1.8 requires bark on all sides, which no recipe of the game produces.
    if variant in (None, -1, _ANY) or (not exact and not variant and name == "planks"):
        variant = None
    if name == "red_flower" and variant is None:
        variant = 3  # Of all flowers, the azure bluet gives light grey.
    return Ingredient(name, variant)
