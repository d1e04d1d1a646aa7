"""The stimulus images of iWISDM's tasks, drawn by our own renderer.

The paper's are renders of ShapeNet. Any images in their form will do: `val/<ref>/image.png` and
`val_metadata.csv`, with a category, an object and a view angle for each.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, radians, sin
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inhabit.envs.cache import cache_home
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
"""Pixels: half of iWISDM's canvas, which holds four positions."""
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
    folder = cache_home() / f"iwisdm-{name.hexdigest()[:12]}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as half:
            _draw_all(Path(half) / "stimuli")
            try:
                (Path(half) / "stimuli").rename(folder)
            except OSError:
                if not folder.exists():  # Another process may have been faster.
                    raise
    return folder


def _draw_all(folder: Path) -> None:
    (folder / "val").mkdir(parents=True)
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
