"""The Luanti game: our mod with its content, textures and meshes, built once per version."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from importlib import resources
from importlib.metadata import version
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inhabit.envs.cache import cache_home, made_once
from inhabit.envs.minedojo.luanti.bodies import mesh, skin
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.luanti.textures import textures
from inhabit.envs.minedojo.world.catalogue import table

NAME = "inhabit"
_SOURCES = (
    "world/catalogue.py",
    "luanti/content.py",
    "luanti/game.py",
    "luanti/bodies.py",
    "luanti/textures.py",
)


def game() -> Path:
    """Folder of the game, built on first use (two seconds) and never changed."""
    return made_once(cache_home() / "minedojo" / f"game-{_fingerprint()}", _write)


def mod_files() -> Iterator[Traversable]:
    """Our Lua, in a fixed order."""
    folder = resources.files("inhabit.envs.minedojo.luanti").joinpath("mod")
    yield from sorted(folder.iterdir(), key=lambda file: file.name)


def _fingerprint() -> str:
    digest = hashlib.sha256(version("minecraft-data").encode())
    package = resources.files("inhabit.envs.minedojo")
    tables = sorted(package.joinpath("tables").iterdir(), key=lambda file: file.name)
    for file in [*mod_files(), *(package.joinpath(*name.split("/")) for name in _SOURCES), *tables]:
        if file.name.endswith((".lua", ".py", ".csv")):
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _write(folder: Path) -> None:
    mod = folder / "mods" / NAME
    for part in (mod / "textures", mod / "models", folder / "menu"):
        part.mkdir(parents=True)
    (folder / "game.conf").write_text("name = inhabit\n", "utf-8")
    (mod / "mod.conf").write_text(f"name = {NAME}\n", "utf-8")
    for file in mod_files():
        if file.name.endswith(".lua"):
            (mod / file.name).write_bytes(file.read_bytes())
    (mod / "content.json").write_text(json.dumps(content()), "utf-8")
    for name, picture in textures():
        _save(picture, mod / "textures" / name)
    for name, picture in _signs():
        _save(picture, mod / "textures" / name)
    for row in table("mobs"):
        (mod / "models" / f"mob_{row['name']}.obj").write_text(mesh(row["name"]), "utf-8")
        _save(skin(row["name"]), mod / "textures" / f"mob_{row['name']}.png")


def _signs() -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """Textures that are neither block nor item: hand, crosshair, rain, snow, shots, marker."""
    plain = np.zeros((4, 4, 4), np.uint8)
    yield "none.png", plain
    yield "black.png", plain + np.array([0, 0, 0, 255], np.uint8)[None, None]
    yield "white.png", np.full((4, 4, 4), 255, np.uint8)
    yield "flash.png", plain + np.array([235, 235, 255, 150], np.uint8)[None, None]
    hand = np.zeros((16, 16, 4), np.uint8)
    hand[4:, 4:12] = (202, 150, 116, 255)
    hand[4:, 4:6] = (170, 120, 92, 255)
    yield "hand.png", hand
    cross = np.zeros((9, 9, 4), np.uint8)
    cross[4, :] = cross[:, 4] = (255, 255, 255, 190)
    yield "crosshair.png", cross
    y, x = np.mgrid[0:16, 0:16]
    for name, colour in (("arrow", (150, 110, 70)), ("fireball", (250, 150, 30))):
        dot = np.zeros((16, 16, 4), np.uint8)
        shape = np.abs(x - y) < 2 if name == "arrow" else (x - 7.5) ** 2 + (y - 7.5) ** 2 < 36
        dot[shape] = (*colour, 255)
        yield f"{name}.png", dot
    for phase in range(1, 5):
        yield f"rainfall_{phase}.png", _streaks(phase)
        yield f"snowfall_{phase}.png", _flakes(phase)


def _streaks(phase: int) -> NDArray[np.uint8]:
    """Rain over the whole image: thin slanting lines."""
    draw, sky = np.random.default_rng(phase), np.zeros((160, 256, 4), np.uint8)
    for _ in range(230):
        x, y, long = draw.integers(0, 256), draw.integers(-12, 160), draw.integers(7, 15)
        for step in range(long):
            if 0 <= y + step < 160:
                sky[y + step, (x + step // 5) % 256] = (150, 172, 220, 150)
    return sky


def _flakes(phase: int) -> NDArray[np.uint8]:
    """Snow over the whole image: soft dots."""
    draw, sky = np.random.default_rng(100 + phase), np.zeros((160, 256, 4), np.uint8)
    for _ in range(260):
        x, y, wide = draw.integers(0, 254), draw.integers(0, 158), draw.integers(1, 3)
        sky[y : y + wide, x : x + wide] = (248, 250, 255, 220)
    return sky


def _save(picture: NDArray[np.uint8], path: Path) -> None:
    Image.fromarray(picture).save(path, compress_level=1)


def instance(scene_json: str, home: Path) -> Path:
    """A copy of the game for one start, with its scene; small files are linked.

    Args:
        scene_json: the scene, as JSON for the mod.
        home: an empty folder for this process only.
    """
    target = home / "games" / NAME
    source = game()
    mod = target / "mods" / NAME
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("textures", "models"))
    for part in ("textures", "models"):
        (mod / part).symlink_to(source / "mods" / NAME / part)
    (mod / "scene.json").write_text(scene_json, "utf-8")
    return target
