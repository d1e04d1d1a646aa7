"""Procedural 16 x 16 textures of blocks and items, seeded by name."""

from __future__ import annotations

import colorsys
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.world.catalogue import table

Image = NDArray[np.uint8]
"""uint8 (16, 16, 4): red, green, blue, alpha."""
SIZE = 16
_DYES = [
    "e8e8e8",
    "e07828",
    "b048b0",
    "6090d0",
    "d8b828",
    "70b020",
    "d880a0",
    "484848",
    "989898",
    "287890",
    "783cb0",
    "2c3c98",
    "583a20",
    "4a6018",
    "983030",
    "202020",
]
"""Colours of wool variants 0 to 15; dyes count in reverse."""
_WOODS = {"log": ("6b5233 b89a60", "3c2a18 a0784c", "d8d4c8 c8b078", "5a4a20 b08858"),
          "leaves": ("3f7a2c", "33563a", "6a9440", "2c8420"),
          "planks": ("b08a54", "6f5030", "c8b47a", "a07450", "b0622f", "40280f"),
          "sapling": ("4a8a30", "33563a", "6a9440", "2c8420", "8a9a30", "2c5a1c")}  # fmt: skip
_METALS = {"wooden": "8a6838", "stone": "808080", "iron": "dcdcdc", "golden": "f8d838",
           "diamond": "50e8e0", "leather": "9c5028", "chainmail": "a0a0a8"}  # fmt: skip
_STONES = {1: "9c6c58", 2: "a07464", 3: "c4c4c4", 4: "d0d0d0", 5: "868686", 6: "909090"}


@dataclass(frozen=True, slots=True)
class Brush:
    """Draws one texture with two colours and its own random generator."""

    main: NDArray[np.float64]
    accent: NDArray[np.float64]
    draw: np.random.Generator

    def grain(self, strength: float) -> Image:
        """The main colour, with small random variation per pixel."""
        light = self.draw.normal(1.0, strength, (SIZE, SIZE, 1))
        return _opaque(self.main * light)

    def mixed(self, mask: NDArray[np.bool_], strength: float = 0.05) -> Image:
        """The accent colour where `mask` (16, 16) is true, the main colour elsewhere."""
        light = self.draw.normal(1.0, strength, (SIZE, SIZE, 1))
        return _opaque(np.where(mask[..., None], self.accent, self.main) * light)

    def cut(self, shape: NDArray[np.bool_], accent: NDArray[np.bool_] | None = None) -> Image:
        """The pixels of `shape` with a dark rim; the rest is transparent."""
        image = self.mixed(np.zeros_like(shape) if accent is None else accent, 0.06)
        inner = shape & np.roll(shape, 1, 0) & np.roll(shape, -1, 0)
        inner &= np.roll(shape, 1, 1) & np.roll(shape, -1, 1)
        image[shape & ~inner, :3] = (image[shape & ~inner, :3] * 0.62).astype(np.uint8)
        image[..., 3] = np.where(shape, 255, 0)
        return image


_Y, _X = np.mgrid[0:SIZE, 0:SIZE]
_ROUND = (_X - 7.5) ** 2 + (_Y - 7.5) ** 2


def _opaque(rgb: NDArray[np.float64]) -> Image:
    image = np.full((SIZE, SIZE, 4), 255, np.uint8)
    image[..., :3] = np.clip(rgb, 0, 255)
    return image


def _blobs(brush: Brush, count: int, radius: float) -> NDArray[np.bool_]:
    mask = np.zeros((SIZE, SIZE), bool)
    for x, y in brush.draw.uniform(1, SIZE - 1, (count, 2)):
        mask |= (_X - x) ** 2 + (_Y - y) ** 2 < radius**2
    return mask


def _cells(brush: Brush, count: int) -> NDArray[np.bool_]:
    """Cobblestones: borders between nearest points."""
    points = brush.draw.uniform(0, SIZE, (count, 2))
    around = np.concatenate(
        [np.add(points, (dx, dy)) for dx in (-16, 0, 16) for dy in (-16, 0, 16)]
    )
    far = np.hypot(_X[..., None] - around[:, 0], _Y[..., None] - around[:, 1])
    near = np.sort(far, axis=2)
    return np.asarray(near[..., 1] - near[..., 0] < 1.1)


def _grass(brush: Brush, density: float) -> NDArray[np.bool_]:
    mask = np.zeros((SIZE, SIZE), bool)
    for x in range(SIZE):
        if brush.draw.random() < density:
            top, lean = brush.draw.integers(2, 11), brush.draw.integers(-2, 3)
            for y in range(top, SIZE):
                mask[y, int(np.clip(x + lean * (SIZE - y) / 14, 0, 15))] = True
    return mask


def _bricks() -> NDArray[np.bool_]:
    row = _Y // 4
    return np.asarray((_Y % 4 == 3) | ((_X + 4 * (row % 2)) % 8 == 7))


def _flower(brush: Brush) -> Image:
    stem = (np.abs(_X - 7) < 1) & (_Y > 6)
    head = (_X - 7) ** 2 + (_Y - 5) ** 2 < 11
    return brush.cut(stem | head, stem & ~head)


def _tool(kind: str) -> Callable[[Brush], Image]:
    along, across = _X + (15 - _Y), _X - (15 - _Y)
    rod = (np.abs(across) < 1.6) & (along < 24)
    heads = {
        "pickaxe": (np.abs(along - 22) < 2.2) & (np.abs(across) < 11),
        "axe": (np.abs(along - 20) < 5) & (across < 2) & (across > -9),
        "shovel": (np.abs(along - 23) < 6) & (np.abs(across) < 4.5),
        "hoe": (np.abs(along - 23) < 2) & (across < 2) & (across > -10),
        "sword": (along > 9) & (along < 29) & (np.abs(across) < 2.6),
    }
    guard = (np.abs(along - 10) < 1.6) & (np.abs(across) < 5) if kind == "sword" else heads[kind]
    return lambda brush: brush.cut(rod | heads[kind] | guard, ~(heads[kind]))


_WEAR = {
    "helmet": (_Y > 3) & (_Y < 12) & (np.abs(_X - 7.5) < 6) & ~((_Y > 8) & (np.abs(_X - 7.5) < 3)),
    "chestplate": (_Y > 2) & (np.abs(_X - 7.5) < np.where(_Y < 7, 7.5, 4.5)) & (_Y < 14)
    & ~((_Y < 4) & (np.abs(_X - 7.5) < 2)),
    "leggings": (_Y > 1) & (_Y < 15) & (np.abs(_X - 7.5) < 5)
    & ~((_Y > 5) & (np.abs(_X - 7.5) < 1.2)),
    "boots": (_Y > 4) & (_Y < 14) & (np.abs(np.abs(_X - 7.5) - 4) < np.where(_Y > 10, 3.4, 2.2)),
}  # fmt: skip


def _worn(part: str) -> Callable[[Brush], Image]:
    return lambda brush: brush.cut(_WEAR[part])


PATTERNS: dict[str, Callable[[Brush], Image]] = {
    "plain": lambda b: b.grain(0.025),
    "rock": lambda b: b.mixed(_blobs(b, 6, 2.0), 0.05),
    "cobbles": lambda b: b.mixed(_cells(b, 9), 0.07),
    "turf": lambda b: b.mixed(3 + b.draw.integers(-1, 2, SIZE)[None, :] < _Y, 0.08),
    "turf_top": lambda b: b.grain(0.10),
    "soil": lambda b: b.mixed(_blobs(b, 12, 1.2), 0.08),
    "grain": lambda b: b.mixed(b.draw.random((SIZE, SIZE)) < 0.3, 0.03),
    "pebbles": lambda b: b.mixed(_cells(b, 18), 0.06),
    "layers": lambda b: b.mixed((_Y % 5 == 4) | (_Y < 2), 0.03),
    "bark": lambda b: b.mixed((_X * 5 + _Y // 5 * 3) % 7 < 2, 0.08),
    "rings": lambda b: b.mixed((np.sqrt(_ROUND).astype(int) % 3 != 2) & (_ROUND < 46), 0.05),
    "foliage": lambda b: _leafy(b),
    "boards": lambda b: b.mixed((_Y % 4 == 3) | ((_X + 5 * (_Y // 4)) % 16 == 15), 0.05),
    "liquid": lambda b: b.mixed((_Y + 2 * np.sin(_X / 2.5)).astype(int) % 6 == 0, 0.03),
    "ore": lambda b: b.mixed(_blobs(b, 6, 1.7), 0.05),
    "glassy": lambda b: _pane(b),
    "stripes": lambda b: b.mixed(_X % 4 == 3, 0.05),
    "stalks": lambda b: b.cut((_X % 5 < 2), _Y % 5 == 4),
    "blades": lambda b: b.cut(_grass(b, 0.75), _Y < 5),
    "twigs": lambda b: b.cut(_grass(b, 0.35)),
    "flower": _flower,
    "sprout": lambda b: b.cut((_ROUND < 26) | ((np.abs(_X - 7) < 1) & (_Y > 7)), _Y > 11),
    "cap": lambda b: b.cut(((_ROUND < 30) & (_Y < 9)) | ((np.abs(_X - 7.5) < 2) & (_Y > 7)),
                           _Y > 8),
    "disc": lambda b: b.cut(_ROUND < 50, _blobs(b, 3, 1.5)),
    "web": lambda b: b.cut((_X == _Y) | (_X == 15 - _Y) | (_X == 7) | (_Y == 7)
                           | (np.abs(np.sqrt(_ROUND) - 5) < 0.6)),
    "flame": lambda b: b.cut(_grass(b, 0.9), _Y > 9),
    "bench": lambda b: b.mixed((_Y % 5 == 4) | (_X % 5 == 4) | (_Y < 2), 0.05),
    "oven": lambda b: b.mixed((np.abs(_X - 7.5) < 5) & (_Y > 8) & (_Y < 14), 0.06),
    "crate": lambda b: b.mixed((_X % 15 == 0) | (_Y % 15 == 0) | (_Y == 6), 0.05),
    "shelf": lambda b: b.mixed((_Y % 8 > 1) & (_Y % 8 < 7) & (_X % 3 != 2), 0.09),
    "bands": lambda b: b.mixed((_Y > 5) & (_Y < 10), 0.04),
    "bricks": lambda b: b.mixed(_bricks(), 0.06),
    "plates": lambda b: b.mixed((_X % 15 == 0) | (_Y % 15 == 0), 0.03),
    "cloth": lambda b: b.mixed((_X + _Y) % 4 == 0, 0.04),
    "torchlight": lambda b: b.cut((np.abs(_X - 7.5) < 1.2) & (_Y > 4), _Y > 7),
    "rungs": lambda b: b.cut((_X % 12 < 2) | (_Y % 4 < 1), _Y % 4 < 1),
    "spots": lambda b: b.mixed(_blobs(b, 5, 2.0), 0.04),
    "fruit": lambda b: b.cut(_ROUND < 32, (_Y < 4)),
    "loaf": lambda b: b.cut((_X - 7.5) ** 2 / 42 + (_Y - 8.5) ** 2 / 18 < 1, _X % 4 == 0),
    "rod": lambda b: b.cut(np.abs(_X - (15 - _Y)) < 1.7, _X > 11),
    "lump": lambda b: b.cut(np.hypot(_X - 7.5, (_Y - 8) * 1.3) < 5.2, _blobs(b, 3, 1.5)),
    "gem": lambda b: b.cut(np.abs(_X - 7.5) + np.abs(_Y - 7.5) < 7, (_X + _Y) % 5 == 0),
    "dust": lambda b: b.cut((_Y > 7) & (np.abs(_X - 7.5) < _Y - 6), b.draw.random((16, 16)) < 0.4),
    "ingot": lambda b: b.cut((np.abs(_X - 7.5) < 6) & (np.abs(_Y - 8) < 3.2), _Y > 9),
    "hide": lambda b: b.cut((np.abs(_X - 7.5) < 5.5 + (_Y % 3)) & (np.abs(_Y - 7.5) < 6), _X > 11),
    "meat": lambda b: b.cut((_X - 7.5) ** 2 / 36 + (_Y - 8) ** 2 / 22 < 1, _X + _Y > 19),
    "pail": lambda b: b.cut((np.abs(_X - 7.5) < 7 - _Y / 4) & (_Y > 3), (_Y < 7) & (_Y > 3)),
    "tome": lambda b: b.cut((np.abs(_X - 7.5) < 5.5) & (np.abs(_Y - 7.5) < 6.5), _X > 11),
    "crest": lambda b: b.cut(np.abs(_X - 7.5) < np.minimum(6, 14 - _Y), np.abs(_X - 7.5) < 1),
    "blade2": lambda b: b.cut((np.abs(_X - _Y) < 1.6) | (np.abs(_X - 15 + _Y) < 1.6), _Y > 10),
    "bow": lambda b: b.cut(np.abs(np.hypot(_X - 2, _Y - 13) - 10) < 1.5),
    "token": lambda b: b.cut((_ROUND < 40) & ((_X + _Y) % 2 + b.draw.integers(0, 3) >= 0),
                             _blobs(b, 4, 2.0)),
    **{kind: _tool(kind) for kind in ("pickaxe", "axe", "shovel", "hoe", "sword")},
    **{part: _worn(part) for part in _WEAR},
}  # fmt: skip


def _leafy(brush: Brush) -> Image:
    image = brush.mixed(brush.draw.random((SIZE, SIZE)) < 0.4, 0.09)
    image[brush.draw.random((SIZE, SIZE)) < 0.12, 3] = 0
    return image


def _pane(brush: Brush) -> Image:
    image = brush.mixed((_X % 15 == 0) | (_Y % 15 == 0) | (_X - _Y == 3))
    image[(_X % 15 > 0) & (_Y % 15 > 0) & (_X - _Y != 3), 3] = 60
    return image


@cache
def _looks() -> dict[str, tuple[str, str, str]]:
    return {r["name"]: (r["pattern"], r["color"], r["accent"]) for r in table("looks")}


def textures() -> Iterator[tuple[str, Image]]:
    """File name and texture of every block and item."""
    made = content()
    for block in made["blocks"]:
        files = dict.fromkeys(block["tiles"])
        if "image" in block:
            files[block["image"]] = None
        for file in files:
            yield file, texture(file, block["name"], block["variant"], cube=True)
    for item in made["only_items"]:
        yield item["image"], texture(item["image"], item["name"], item["variant"], cube=False)


def texture(file: str, name: str, variant: int, *, cube: bool) -> Image:
    """One texture; `file` names the side."""
    pattern, main, accent = _style(name, variant, cube=cube)
    if file.endswith("_top.png"):
        pattern, main, accent = _top(name, pattern, main, accent)
    image = PATTERNS[pattern](Brush(_rgb(main), _rgb(accent), _chance(file)))
    if pattern == "liquid" and "water" in name:
        image[..., 3] = 170
    return image


def _top(name: str, pattern: str, main: str, accent: str) -> tuple[str, str, str]:
    if name in ("grass", "mycelium"):
        return "turf_top", main, accent
    if name in ("log", "log2"):
        return "rings", main, accent
    if name in ("furnace", "lit_furnace", "bookshelf"):
        return ("rock", "707070", "5c5c5c") if "furnace" in name else ("boards", main, "8a6a3c")
    return ("soil", main, accent) if pattern == "stripes" else (pattern, main, accent)


def _style(name: str, variant: int, *, cube: bool) -> tuple[str, str, str]:
    """Pattern and colours: from the table, or else from the name."""
    pattern, main, accent = _looks().get(name, ("", "", ""))
    if name in _WOODS and variant < len(_WOODS[name]):
        colours = _WOODS[name][variant].split()
        main, accent = colours[0], colours[-1] if len(colours) > 1 else _darker(colours[0])
    elif name == "stone" and variant:
        main, accent = _STONES[variant], _darker(_STONES[variant])
    elif name in ("wool", "carpet", "bed", "stained_glass", "stained_glass_pane", "concrete",
                  "concrete_powder", "stained_hardened_clay", "dye", "banner"):  # fmt: skip
        dye = _DYES[15 - variant % 16 if name == "dye" else variant % 16]
        main, accent = dye, _darker(dye)
        pattern = pattern or ("glassy" if "glass" in name else "cloth")
    if name == "red_mushroom_block" and variant == 10:
        return _looks()["mushroom_stem"]
    if pattern:
        return pattern, main, accent
    material, _, kind = name.rpartition("_")
    if material in _METALS and kind in PATTERNS:
        return kind, _METALS[material], "6a4c28"
    return _guessed(name, cube=cube)


def _guessed(name: str, *, cube: bool) -> tuple[str, str, str]:
    for wood, tone in zip(("spruce", "birch", "jungle", "acacia", "dark_oak"),
                          _WOODS["planks"][1:], strict=True):  # fmt: skip
        if name.startswith(wood):
            return "boards", tone, _darker(tone)
    for word, like in (("wooden", "planks"), ("oak", "planks"), ("stone_brick", "stonebrick"),
                       ("brick", "brick_block"), ("sandstone", "sandstone"),
                       ("quartz", "quartz_block"),
                       ("purpur", "purpur_block"), ("stone", "stone"), ("iron", "iron_block"),
                       ("door", "planks"), ("fence", "planks"), ("sign", "planks"),
                       ("cobble", "cobblestone"), ("gold", "gold_block")):  # fmt: skip
        if word in name and cube:
            return _looks()[like]
    digest = hashlib.sha256(name.encode()).digest()
    colour = colorsys.hsv_to_rgb(digest[0] / 255, 0.25 + digest[1] / 600, 0.45 + digest[2] / 640)
    main = "".join(f"{int(c * 255):02x}" for c in colour)
    return ("rock" if cube else "token"), main, _darker(main)


def _rgb(text: str) -> NDArray[np.float64]:
    return np.array([int(text[i : i + 2], 16) for i in (0, 2, 4)], float)


def _darker(text: str) -> str:
    return "".join(f"{int(int(text[i : i + 2], 16) * 0.72):02x}" for i in (0, 2, 4))


def _chance(name: str) -> np.random.Generator:
    return np.random.default_rng(list(hashlib.sha256(name.encode()).digest()[:8]))
