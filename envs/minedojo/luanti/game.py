"""The game that Luanti runs: its mod, its settings, and the pictures that come back."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import shutil
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from importlib.metadata import version
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inhabit.envs.cache import cache_home, made_once
from inhabit.envs.core import SimulatorError
from inhabit.envs.host.pipes import Countdown
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


BAR = 8
"""Rows above and below the image that encode the frame number."""
_SLOTS = 8
_HEADER = struct.Struct(">25I")
_SIZE_OF_COLOUR = 12


class Framebuffer:
    """Reads the screen from Xvfb's framebuffer in `folder`.

    Args:
        folder: Xvfb's `-fbdir`.
        width, height: of the image, in pixels; the screen has a bar more above and below.
    """

    def __init__(self, folder: Path, width: int, height: int) -> None:
        self._file = (folder / "Xvfb_screen0").open("rb")
        self._memory = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        header = _HEADER.unpack(self._memory[: _HEADER.size])
        offset, line = header[0] + header[19] * _SIZE_OF_COLOUR, header[12]
        rows = height + 2 * BAR
        pixels = np.frombuffer(self._memory, np.uint8, line * rows, offset)
        self._screen = pixels.reshape(rows, line // 4, 4)[:, :width, 2::-1]
        self._width = width

    def wait(self, count: int, alive: Callable[[], None], timeout: float) -> None:
        """Wait until the screen shows image `count`, modulo 8.

        Args:
            count: the mod's number of the image.
            alive: raises if the simulator has ended.
            timeout: seconds.

        Raises:
            SimulatorError: it never came.
        """
        countdown = Countdown(timeout)
        turns = 0
        while self._mark() != count:
            time.sleep(0.001)
            turns += 1
            if turns % 100 == 0:
                alive()
            if countdown.next_wait() == 0 and self._mark() != count:
                raise SimulatorError(f"Luanti rendered no image within {timeout:g} s.")

    def read(self) -> NDArray[np.uint8]:
        """A copy of the image: uint8 (H, W, 3)."""
        return np.ascontiguousarray(self._screen[BAR:-BAR])

    def close(self) -> None:
        """Release the memory."""
        self._file.close()

    def _mark(self) -> int | None:
        row = self._screen[-BAR // 2, :, 0]
        places = (np.arange(_SLOTS) + 0.5) / _SLOTS * self._width
        white = np.flatnonzero(row[places.astype(int)] > 200)
        return int(white[0]) if white.size == 1 else None


FOV = 70
"""Vertical field of view in degrees, before Luanti widens that of narrow windows."""
_WORLD = """\
gameid = inhabit
backend = dummy
player_backend = sqlite3
auth_backend = sqlite3
mod_storage_backend = sqlite3
enable_damage = false
creative_mode = false
"""


def write(home: Path, width: int, height: int, answers: int, fov: int, far: int) -> list[str]:
    """Write Luanti's files and return its arguments.

    Args:
        home: a folder for this process only.
        width: of the image, in pixels.
        height: likewise.
        answers: the descriptor of the pipe that the mod writes.
        fov: degrees, of the image's height.
        far: viewing range, blocks.

    Returns:
        its arguments.
    """
    world = home / "worlds" / "world"
    world.mkdir(parents=True)
    (world / "world.mt").write_text(_WORLD, "utf-8")
    settings = {
        "screen_w": width, "screen_h": height + 2 * BAR, "inhabit_answers": answers,
        "inhabit_bar": BAR, "inhabit_width": width, "fov": fov, "viewing_range": far,
    }  # fmt: skip
    lines = "".join(f"{key} = {value}\n" for key, value in settings.items())
    config = home / "luanti.conf"
    fixed = resources.files("inhabit.envs.minedojo.luanti").joinpath("luanti.conf")
    config.write_text(fixed.read_text("utf-8") + lines, "utf-8")
    return ["--go", "--world", str(world), "--gameid", NAME, "--config", str(config),
            "--logfile", str(home / "luanti.log")]  # fmt: skip


def surroundings(home: Path, screen: str, cookie: Path) -> Mapping[str, str]:
    """Luanti's environment variables: its own home directory, software GL on one core."""
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "TMPDIR")}
    return kept | {
        "HOME": str(home),
        "MINETEST_USER_PATH": str(home),
        "LUANTI_USER_PATH": str(home),
        "MINETEST_SUBGAME_PATH": str(home / "games"),
        "LUANTI_GAME_PATH": str(home / "games"),
        "DISPLAY": screen,
        "XAUTHORITY": str(cookie),
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "LP_NUM_THREADS": "1",
        "XDG_RUNTIME_DIR": str(home),
        "SDL_VIDEODRIVER": "x11",
    }
