"""The `iwisdm` package in its own interpreter, the process that generates trials, and its stimuli.

It needs numpy 1 and pandas 2, unlike this project. The stimuli are drawn by our own renderer; the
paper's are renders of ShapeNet. Any images in their form will do: `val/<ref>/image.png` and
`val_metadata.csv`, with a category, an object and a view angle for each.
"""

from __future__ import annotations

import base64
import csv
import functools
import hashlib
import json
import random
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inhabit.envs.cache import cache_home, made_once
from inhabit.envs.core import UnavailableError
from inhabit.envs.extras import alone, make_interpreter
from inhabit.envs.host.credentials import without_credentials
from inhabit.envs.host.pipes import JsonProgram
from inhabit.envs.registry import Need
from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.mesh import Mesh
from inhabit.envs.simulators.render.shapes import shape
from inhabit.envs.simulators.render.stage import Light, Stage

_VERSION = 2
"""Increase when the images change."""
_SIZES = {
    "bed": ("Bed", (1.5, 0.9, 2.0)),
    "book": ("Book", (0.2, 0.05, 0.27)),
    "chair": ("Chair", (0.5, 0.95, 0.5)),
    "clock": ("AlarmClock", (0.13, 0.15, 0.08)),
    "kettle": ("Kettle", (0.26, 0.24, 0.2)),
    "mug": ("Mug", (0.13, 0.1, 0.09)),
    "sofa": ("Sofa", (2.0, 0.85, 0.9)),
    "toaster": ("Toaster", (0.32, 0.2, 0.2)),
}
"""Category -> shape of the renderer, and its size in metres along x, y, z."""
CATEGORIES = tuple(_SIZES)
OBJECTS = 8
ANGLES = (25, 115, 205, 295)
"""Azimuth of the camera in degrees, 0 from behind."""
_PITCH = 24.0
_CELL = 112
"""Side of an object's picture, in pixels: half of iWISDM's canvas, which holds four positions."""
_SHARPER = 2
_SEEDS = 24
"""Number of candidates per category; the least similar ones become the objects."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """One stimulus."""

    ref: int
    category: str
    number: int
    """Index of the object in its category."""
    angle: int
    """Index into `ANGLES`."""


def stimuli() -> Iterator[Stimulus]:
    """All stimuli, in a fixed order."""
    ref = 0
    for category in CATEGORIES:
        for number in range(OBJECTS):
            for angle in range(len(ANGLES)):
                yield Stimulus(ref, category, number, angle)
                ref += 1


@functools.cache
def objects(category: str) -> tuple[int, ...]:
    """The renderer's seeds of a category's objects, each chosen to differ most from those before
    it.
    """
    looks = [
        np.asarray(_picture(_mesh(category, seed), ANGLES[0], _CELL // 4), float)
        for seed in range(_SEEDS)
    ]
    chosen = [0]
    while len(chosen) < OBJECTS:
        apart = [min(float(np.abs(look - looks[c]).mean()) for c in chosen) for look in looks]
        chosen.append(int(np.argmax(apart)))
    return tuple(chosen)


def dataset() -> Path:
    """The image folder, created on first use (takes some seconds)."""
    name = hashlib.sha256(json.dumps([_VERSION, _SIZES, OBJECTS, ANGLES, _CELL]).encode())
    return made_once(cache_home() / f"iwisdm-{name.hexdigest()[:12]}", _draw_all)


def _draw_all(folder: Path) -> None:
    (folder / "val").mkdir()
    with (folder / "val_metadata.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(("ref", "ctg", "ctg_mod", "obj_mod", "ang_mod"))
        for one in stimuli():
            table.writerow(
                (
                    *(one.ref, one.category, CATEGORIES.index(one.category)),
                    *(CATEGORIES.index(one.category) * OBJECTS + one.number, one.angle),
                )
            )
            place = folder / "val" / str(one.ref)
            place.mkdir()
            # iWISDM reads images as BGR and shows them unconverted, so red and blue are
            # swapped here.
            Image.fromarray(draw(one)[..., ::-1].copy()).save(place / "image.png")


def draw(one: Stimulus) -> NDArray[np.uint8]:
    """The image, uint8 (112, 112, 3), on black."""
    mesh = _mesh(one.category, objects(one.category)[one.number])
    picture = _picture(mesh, ANGLES[one.angle], _CELL * _SHARPER)
    return np.asarray(picture.resize((_CELL, _CELL), Image.Resampling.LANCZOS))


def _picture(mesh: Mesh, facing: int, pixels: int) -> Image.Image:
    """A view of the whole mesh from slightly above, lit from behind the camera."""
    low, high = mesh.bounds
    middle, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    yaw, pitch = radians(facing), radians(_PITCH)
    away = radius / sin(radians(15)) * 1.02
    ahead = np.array((sin(yaw) * cos(pitch), -sin(pitch), cos(yaw) * cos(pitch)))
    x, y, z = middle - away * ahead
    stage = Stage()
    stage.put("object", mesh, np.eye(3), (0, 0, 0))
    lx, ly, lz = middle - radius * (2.6 * ahead - np.array((0.8, 2.2, 0.0)))
    stage.light(Light((lx, ly, lz), size=0.3 * radius, reach=8 * radius, strength=1.5))
    camera = Camera((x, y, z), facing, _PITCH, fov=30, near=0.02 * away, far=4 * away)
    frame = stage.render(camera, pixels, pixels)
    nothing = frame.ids[..., None] < 0
    return Image.fromarray(np.where(nothing, 0, np.asarray(frame.rgb)).astype(np.uint8))


def _mesh(category: str, seed: int) -> Mesh:
    """An object with its own colours and proportions."""
    kind, size = _SIZES[category]
    rng = random.Random(f"iwisdm {category} {seed}")
    x, y, z = (side * rng.uniform(0.75, 1.35) for side in size)
    return shape(kind, (x, y, z), seed=seed)


VERSION = "0.1.3"
_ANSWER = 120.0
"""Seconds for one trial; the first one waits for the library to start."""
_PROGRAM = Path(__file__).with_name("author.py")


@dataclass(frozen=True, slots=True, eq=False)
class IwisdmTrial:
    """A trial of the library."""

    instruction: str
    answers: tuple[str, ...]
    """Answers, one per frame; "null" if none is due."""
    frames: NDArray[np.uint8]
    """Images of the frames, (n, 224, 224, 3)."""


def interpreter() -> Path:
    """Path of the interpreter, installed or not."""
    return _home() / "venv" / "bin" / "python"


def installed() -> bool:
    """Whether it is installed."""
    return interpreter().exists()


def needs(backend: str) -> Sequence[Need]:
    """What is missing on this machine."""
    fix = "inhabit setup iwisdm"
    return [] if installed() else [Need("iWISDM, in a separate interpreter", fix)]


def prepare(backend: str, tell: Callable[[str], None]) -> None:
    """Create the interpreter if it is missing. Safe to run twice, also at the same time.

    Raises:
        UnavailableError: pip failed; the message quotes its last output.
    """
    with alone(_home()):
        if not installed():
            tell(f"iWISDM {VERSION}: creating its interpreter in {_home()} (about a minute).")
            shutil.rmtree(_home() / "venv", ignore_errors=True)  # Without its python.
            made_once(_home() / "venv", _make_interpreter)
    tell(f"iWISDM {VERSION}: in {_home() / 'venv'}.")


def _make_interpreter(venv: Path) -> None:
    make_interpreter(venv, ("--only-binary", ":all:", f"iwisdm=={VERSION}"))


class TrialAuthor:
    """Generates trials in a child process. The same seed gives the same trial."""

    def __init__(self) -> None:
        """Start the process.

        Raises:
            UnavailableError: the interpreter is not there.
        """
        if not installed():
            raise UnavailableError(
                f"iWISDM {VERSION} is not installed. Run `inhabit setup iwisdm`."
            )
        self._program = JsonProgram(
            "iWISDM",
            [str(interpreter()), "-P", "-W", "ignore", str(_PROGRAM), str(dataset())],
            # The library's sampling depends on the order of string sets.
            env={**without_credentials(), "PYTHONHASHSEED": "0"},
        )

    def write(self, level: str, join: str, seed: int) -> IwisdmTrial:
        """The trial of a seed.

        Raises:
            SimulatorError: the library failed, or was silent for too long.
        """
        found = self._program.ask({"level": level, "join": join, "seed": seed}, _ANSWER)
        content = zlib.decompress(base64.b64decode(found["frames"]))
        frames = np.frombuffer(content, np.uint8).reshape(found["shape"])
        return IwisdmTrial(found["instruction"], tuple(found["answers"]), frames)

    def close(self) -> None:
        """Stop the process. Safe to call twice."""
        self._program.close()


def _home() -> Path:
    return cache_home() / f"iwisdm-library-{VERSION}"
