"""Builds the mobs' bodies from boxes: a mesh and a texture per kind."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.minedojo.world.catalogue import table

SIZE = 32
"""Side of a mob's texture; its quarters are coat, accent, face and dark."""
_COAT, _ACCENT, _FACE, _DARK = (0, 0), (1, 0), (0, 1), (1, 1)


@dataclass(frozen=True, slots=True)
class BodyPart:
    """From `low` to `high`, as fractions of width, height and length; front is +z."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]
    coat: tuple[int, int] = _COAT
    front: tuple[int, int] | None = None


def _legs(width: float, height: float, length: float, thick: float) -> list[BodyPart]:
    return [
        BodyPart((x - thick, 0, z - thick), (x + thick, height, z + thick), _ACCENT)
        for x in (-width, width)
        for z in (-length, length)
    ]


def _quadruped() -> list[BodyPart]:
    return [
        *_legs(0.28, 0.45, 0.5, 0.11),
        BodyPart((-0.4, 0.42, -0.68), (0.4, 0.86, 0.55)),
        BodyPart((-0.41, 0.5, -0.2), (0.41, 0.87, 0.1), _ACCENT),
        BodyPart((-0.25, 0.6, 0.5), (0.25, 1.0, 0.95), _COAT, _FACE),
    ]


def _biped(thick: float) -> list[BodyPart]:
    arm = thick + 0.02
    return [
        BodyPart((-0.3, 0, -thick), (-0.03, 0.38, thick), _ACCENT),
        BodyPart((0.03, 0, -thick), (0.3, 0.38, thick), _ACCENT),
        BodyPart((-0.32, 0.38, -thick), (0.32, 0.75, thick), _ACCENT),
        BodyPart((-0.52, 0.62, -arm), (-0.33, 0.75, 0.75)),
        BodyPart((0.33, 0.62, -arm), (0.52, 0.75, 0.75)),
        BodyPart((-0.34, 0.75, -0.36), (0.34, 1.0, 0.36), _COAT, _FACE),
    ]


def _thin() -> list[BodyPart]:
    return [
        BodyPart((-0.22, 0, -0.08), (-0.08, 0.4, 0.08)),
        BodyPart((0.08, 0, -0.08), (0.22, 0.4, 0.08)),
        BodyPart((-0.28, 0.45, -0.12), (0.28, 0.52, 0.12), _ACCENT),
        BodyPart((-0.28, 0.55, -0.12), (0.28, 0.62, 0.12), _ACCENT),
        BodyPart((-0.28, 0.66, -0.12), (0.28, 0.74, 0.12), _ACCENT),
        BodyPart((-0.07, 0.38, -0.07), (0.07, 0.76, 0.07)),
        BodyPart((-0.42, 0.6, -0.07), (-0.3, 0.74, 0.7)),
        BodyPart((0.3, 0.6, -0.07), (0.42, 0.74, 0.7)),
        BodyPart((-0.34, 0.76, -0.34), (0.34, 1.0, 0.34), _COAT, _FACE),
    ]


def _spider() -> list[BodyPart]:
    legs = [
        BodyPart((side * 0.2 if side > 0 else -0.75, 0.0, z - 0.04),
            (0.75 if side > 0 else -0.2, 0.42, z + 0.04), _ACCENT if i % 2 else _COAT)
        for side in (-1, 1)
        for i, z in enumerate((-0.25, -0.05, 0.15, 0.33))
    ]  # fmt: skip
    return [
        *legs,
        BodyPart((-0.3, 0.25, -0.75), (0.3, 1.0, -0.05)),
        BodyPart((-0.2, 0.3, -0.1), (0.2, 0.75, 0.3)),
        BodyPart((-0.24, 0.25, 0.28), (0.24, 0.8, 0.7), _COAT, _FACE),
    ]


_BODIES: Mapping[str, Callable[[], Sequence[BodyPart]]] = {
    "quadruped": _quadruped,
    "tall": lambda: [
        *_legs(0.28, 0.38, 0.4, 0.11),
        BodyPart((-0.4, 0.36, -0.6), (0.4, 0.66, 0.45)),
        BodyPart((-0.42, 0.5, -0.3), (0.42, 0.68, 0.2), _ACCENT),
        BodyPart((-0.2, 0.55, 0.4), (0.2, 1.0, 0.7), _COAT, _FACE),
    ],
    "small": lambda: [
        *_legs(0.22, 0.4, 0.42, 0.1),
        BodyPart((-0.3, 0.35, -0.6), (0.3, 0.8, 0.4)),
        BodyPart((-0.28, 0.5, 0.35), (0.28, 1.0, 0.85), _COAT, _FACE),
        BodyPart((-0.08, 0.6, -0.95), (0.08, 0.72, -0.55), _ACCENT),
        BodyPart((-0.28, 0.95, 0.4), (-0.1, 1.25, 0.55), _ACCENT),
        BodyPart((0.1, 0.95, 0.4), (0.28, 1.25, 0.55), _ACCENT),
    ],
    "bird": lambda: [
        BodyPart((-0.2, 0, -0.06), (-0.08, 0.3, 0.1), _ACCENT),
        BodyPart((0.08, 0, -0.06), (0.2, 0.3, 0.1), _ACCENT),
        BodyPart((-0.4, 0.28, -0.6), (0.4, 0.72, 0.4)),
        BodyPart((-0.52, 0.34, -0.4), (-0.4, 0.68, 0.3)),
        BodyPart((0.4, 0.34, -0.4), (0.52, 0.68, 0.3)),
        BodyPart((-0.25, 0.6, 0.25), (0.25, 1.05, 0.6), _COAT, _FACE),
        BodyPart((-0.16, 0.74, 0.6), (0.16, 0.84, 0.85), _ACCENT),
    ],
    "biped": lambda: _biped(0.2),
    "thin": _thin,
    "robed": lambda: [
        BodyPart((-0.38, 0, -0.3), (0.38, 0.72, 0.3)),
        BodyPart((-0.5, 0.45, 0.0), (0.5, 0.58, 0.45)),
        BodyPart((-0.34, 0.72, -0.34), (0.34, 0.98, 0.34), _ACCENT, _FACE),
        BodyPart((-0.08, 0.74, 0.34), (0.08, 0.86, 0.52), _ACCENT),
        BodyPart((-0.45, 0.98, -0.45), (0.45, 1.02, 0.45), _DARK),
    ],
    "long": lambda: [
        BodyPart((-0.25, 0, -0.1), (-0.06, 0.5, 0.1)),
        BodyPart((0.06, 0, -0.1), (0.25, 0.5, 0.1)),
        BodyPart((-0.32, 0.5, -0.16), (0.32, 0.8, 0.16)),
        BodyPart((-0.48, 0.38, -0.09), (-0.34, 0.8, 0.09)),
        BodyPart((0.34, 0.38, -0.09), (0.48, 0.8, 0.09)),
        BodyPart((-0.34, 0.81, -0.34), (0.34, 1.0, 0.34), _COAT, _FACE),
    ],
    "creeper": lambda: [
        *_legs(0.2, 0.24, 0.24, 0.16),
        BodyPart((-0.3, 0.24, -0.18), (0.3, 0.7, 0.18)),
        BodyPart((-0.4, 0.7, -0.4), (0.4, 1.0, 0.4), _COAT, _FACE),
    ],
    "spider": _spider,
    "squid": lambda: [
        BodyPart((-0.5, 0.4, -0.5), (0.5, 1.1, 0.5), _COAT, _FACE),
        *[BodyPart((x - 0.07, -0.3, z - 0.07), (x + 0.07, 0.4, z + 0.07), _ACCENT)
          for x in (-0.35, 0, 0.35) for z in (-0.35, 0, 0.35)],
    ],
    "bat": lambda: [
        BodyPart((-0.2, 0.3, -0.2), (0.2, 0.8, 0.2)),
        BodyPart((-1.0, 0.5, -0.05), (-0.2, 0.85, 0.05), _ACCENT),
        BodyPart((0.2, 0.5, -0.05), (1.0, 0.85, 0.05), _ACCENT),
        BodyPart((-0.24, 0.8, -0.2), (0.24, 1.1, 0.25), _COAT, _FACE),
    ],
    "blob": lambda: [BodyPart((-0.5, 0, -0.5), (0.5, 1.0, 0.5), _COAT, _FACE)],
    "shell": lambda: [
        BodyPart((-0.5, 0, -0.5), (0.5, 0.35, 0.5)),
        BodyPart((-0.3, 0.35, -0.3), (0.3, 0.6, 0.3), _ACCENT, _FACE),
        BodyPart((-0.5, 0.6, -0.5), (0.5, 1.0, 0.5)),
    ],
    "rods": lambda: [
        BodyPart((-0.34, 0.72, -0.34), (0.34, 1.0, 0.34), _COAT, _FACE),
        *[BodyPart((x - 0.08, y, z - 0.08), (x + 0.08, y + 0.3, z + 0.08), _ACCENT)
          for y, r in ((0.0, 0.3), (0.36, 0.5)) for x in (-r, r) for z in (-r, r)],
    ],
    "ghast": lambda: [
        BodyPart((-0.5, 0.3, -0.5), (0.5, 1.0, 0.5), _COAT, _FACE),
        *[BodyPart((x - 0.06, 0.0, z - 0.06), (x + 0.06, 0.32, z + 0.06), _ACCENT)
          for x in (-0.3, 0, 0.3) for z in (-0.3, 0, 0.3)],
    ],
    "spiked": lambda: [
        BodyPart((-0.5, 0.1, -0.5), (0.5, 0.95, 0.5), _COAT, _FACE),
        *[BodyPart((x - 0.06, 0.9, z - 0.06), (x + 0.06, 1.2, z + 0.06), _ACCENT)
          for x in (-0.3, 0.3) for z in (-0.3, 0.3)],
        BodyPart((-0.1, 0.4, -1.1), (0.1, 0.6, -0.5), _ACCENT),
    ],
}  # fmt: skip

_FACES = (
    # normal, the axis pairs that run over it
    ((1, 0, 0), 0, 1), ((-1, 0, 0), 0, 0), ((0, 1, 0), 1, 1), ((0, -1, 0), 1, 0),
    ((0, 0, 1), 2, 1), ((0, 0, -1), 2, 0),
)  # fmt: skip


def mesh(name: str) -> str:
    """The body of a mob as a Wavefront OBJ, in blocks, feet at 0, front towards +z."""
    row = next(r for r in table("mobs") if r["name"] == name)
    width, height = float(row["width"]), float(row["height"])
    points: list[str] = []
    corners: list[str] = []
    normals: list[str] = []
    faces: list[str] = []
    for box in _BODIES[row["body"]]():
        for normal, axis, upper in _FACES:
            _face(box, normal, axis, upper, (width, height, width), points, corners, faces)
            normals.append("vn {} {} {}".format(*normal))
    return "\n".join([*points, *corners, *normals, *faces]) + "\n"


def _face(
    box: BodyPart,
    normal: tuple[int, int, int],
    axis: int,
    upper: int,
    scale: tuple[float, float, float],
    points: list[str],
    corners: list[str],
    faces: list[str],
) -> None:
    u, v = [a for a in (0, 1, 2) if a != axis]
    if axis == 0:
        u, v = 2, 1
    quarter = box.front if box.front is not None and normal == (0, 0, 1) else box.coat
    ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
    first = len(points)
    for a, b in ring:
        at = [0.0, 0.0, 0.0]
        at[axis] = (box.high if upper else box.low)[axis]
        at[u] = (box.high if a else box.low)[u]
        at[v] = (box.high if b else box.low)[v]
        points.append(
            "v {:.4f} {:.4f} {:.4f}".format(*(p * s for p, s in zip(at, scale, strict=True)))
        )
        corners.append(f"vt {(quarter[0] + 0.03 + 0.94 * a) / 2:.4f} "
                       f"{(1 - quarter[1] + 0.03 + 0.94 * b) / 2:.4f}")  # fmt: skip
    number = len(faces) + 1
    order = [0, 1, 2, 3]
    edge_u, edge_v = np.zeros(3), np.zeros(3)
    edge_u[u], edge_v[v] = 1, 1
    if np.dot(np.cross(edge_u, edge_v), normal) < 0:
        order.reverse()
    faces.append("f " + " ".join(f"{first + i + 1}/{first + i + 1}/{number}" for i in order))


def skin(name: str) -> NDArray[np.uint8]:
    """Texture of a mob, uint8 (32, 32, 4): coat, accent, face and dark, one in each quarter."""
    row = next(r for r in table("mobs") if r["name"] == name)
    draw = np.random.default_rng(list(hashlib.sha256(name.encode()).digest()[:8]))
    coat, accent = (np.array([int(c[i : i + 2], 16) for i in (0, 2, 4)], float)
                    for c in (row["color"], row["accent"]))  # fmt: skip
    image = np.full((SIZE, SIZE, 4), 255, np.uint8)
    half = SIZE // 2
    for (right, down), colour in (
        (_COAT, coat),
        (_ACCENT, accent),
        (_FACE, coat),
        (_DARK, coat / 4),
    ):
        light = draw.normal(1.0, 0.07, (half, half, 1))
        image[down * half : (down + 1) * half, right * half : (right + 1) * half, :3] = np.clip(
            colour * light, 0, 255
        )
    _draw_face(image[half:, :half], row, accent)
    return image


def _draw_face(
    face: NDArray[np.uint8], row: Mapping[str, str], accent: NDArray[np.float64]
) -> None:
    """The face by temper: dark calm or bright narrow eyes, and a mouth for some."""
    y, x = np.mgrid[0:16, 0:16]
    eyes = (np.abs(np.abs(x - 7.5) - 4) < 1.6) & (
        np.abs(y - 6) < (1.6 if row["temper"] == "passive" else 1.1)
    )
    white = (np.abs(np.abs(x - 7.5) - 5) < 0.8) & (np.abs(y - 6) < 1.6)
    colour = {"passive": (20, 16, 16), "neutral": (230, 200, 60), "hostile": (20, 8, 8)}[
        row["temper"]
    ]
    if row["name"] in ("spider", "ghast", "wither_skeleton"):
        colour = (220, 30, 20)
    if row["name"] == "enderman":
        colour = (224, 90, 250)
    face[eyes, :3] = colour
    if row["temper"] == "passive":
        face[white, :3] = (245, 245, 245)
        face[(np.abs(x - 7.5) < 3.6) & (y > 9) & (y < 14), :3] = accent.astype(np.uint8)
    elif row["body"] in ("creeper", "biped", "thin", "ghast"):
        mouth = (np.abs(x - 7.5) < 2.6) & (y > 9) & (y < 13)
        if row["body"] == "creeper":
            mouth = ((np.abs(x - 7.5) < 1.6) & (y > 7)) | (
                (np.abs(np.abs(x - 7.5) - 3) < 1.1) & (y > 10)
            )
            eyes = (np.abs(np.abs(x - 7.5) - 4) < 2.1) & (np.abs(y - 5) < 2.1)
            face[eyes, :3] = (10, 10, 10)
        face[mouth & (y < 14), :3] = (16, 10, 10)
