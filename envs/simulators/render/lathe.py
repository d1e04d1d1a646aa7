"""Surfaces of revolution about y: what a potter or a lathe could make. All are watertight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector

Point = tuple[float, float]
Surface = Material | Sequence[Material]
"""One material, or one for each segment of a profile."""

_CREASE = np.cos(np.radians(50.0))
"""Neighbouring segments of a profile that turn by more than this meet in a hard edge."""


def lathe(profile: Sequence[Point], material: Surface, *, segments: int = 16) -> Mesh:
    """A surface of revolution about y.

    Args:
        profile: (radius, height) pairs, with the outside on the right as one walks along: from the
            bottom's centre out, up the outside, and back to the axis. It closes if both ends have
            radius 0, or if the last point is the first (a ring).
        material: one, or one for each of the len(profile) - 1 segments.
        segments: corners of the circle.
    """
    points, normals, strips = walk(profile)
    ring = circle(segments)
    rows = len(points)
    vertices = np.empty((rows, segments, 3))
    vertices[..., 0::2] = points[:, None, :1] * ring
    vertices[..., 1] = points[:, 1:]
    shading = np.empty((rows, segments, 3))
    shading[..., 0::2] = normals[:, None, :1] * ring
    shading[..., 1] = normals[:, 1:]
    faces: list[NDArray[np.int64]] = []
    surfaces: list[int] = []
    for segment, (low, high) in enumerate(strips):
        for part, row in zip(_band(low, high, segments), (low, high), strict=True):
            if points[row, 0] > 1e-9:
                faces.append(part)
                surfaces += [segment] * segments
    palette = (material,) if isinstance(material, Material) else tuple(material)
    one = len(palette) == 1
    return Mesh(
        vertices.reshape(-1, 3).astype(np.float32),
        shading.reshape(-1, 3).astype(np.float32),
        np.concatenate(faces).astype(np.int32),
        np.zeros(len(surfaces), np.int16) if one else np.array(surfaces, np.int16),
        palette,
    )


def walk(
    profile: Sequence[Point],
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[tuple[int, int]]]:
    """A profile's points with normals, doubled at hard edges, and the two rows of each segment."""
    line = np.array(profile, np.float64)
    steps = np.diff(line, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    steps /= lengths[:, None]
    outward = np.stack([steps[:, 1], -steps[:, 0]], axis=1)
    ring = len(line) > 3 and bool(np.allclose(line[0], line[-1]))
    points, normals, strips = [line[0]], [outward[0]], []
    for i, normal in enumerate(outward):
        low = len(points) - 1
        last = i + 1 == len(outward)
        after = i if last and not ring else (i + 1) % len(outward)
        following = outward[after]
        smooth = float(normal @ following) > _CREASE
        # The longer side has more to say, so that a rounded edge leaves the flat beside it flat.
        shared = normal * lengths[i] + following * lengths[after] if smooth else normal
        points.append(line[i + 1])
        normals.append(shared / np.linalg.norm(shared))
        strips.append((low, low + 1))
        if last and ring and smooth:
            normals[0] = normals[-1]
        if not last and not smooth:
            points.append(line[i + 1])
            normals.append(following)
    return np.array(points), np.array(normals), strips


@cache
def circle(segments: int) -> NDArray[np.float64]:
    """Corners of the unit circle, (segments, 2), from +first towards +second."""
    angles = np.arange(segments) * (2 * np.pi / segments)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def cylinder(
    radius: float,
    height: float,
    material: Material,
    *,
    top: float | None = None,
    bevel: float = 0.0,
    segments: int = 16,
) -> Mesh:
    """A cylinder, or a cone whose upper radius is `top` (0 for a point). Rounded over `bevel`."""
    top = radius if top is None else top
    y, b = height / 2, min(bevel, 0.49 * height, 0.9 * max(radius, top))
    profile: list[Point] = [(0.0, -y)]
    if b > 0 and radius > b:
        profile += [(radius - b, -y), (radius - 0.29 * b, -y + 0.29 * b), (radius, -y + b)]
    elif radius > 0:
        profile += [(radius, -y)]
    if b > 0 and top > b:
        profile += [(top, y - b), (top - 0.29 * b, y - 0.29 * b), (top - b, y)]
    elif top > 0:
        profile += [(top, y)]
    return lathe([*profile, (0.0, y)], material, segments=segments)


def ellipsoid(
    size: Vector,
    material: Material,
    *,
    square: tuple[float, float] = (0.0, 0.0),
    rings: int = 8,
    segments: int = 12,
) -> Mesh:
    """A round body that fills a box of `size`.

    Args:
        size: metres along x, y, z.
        material: of the whole body.
        square: how far it is filled out towards its box, 0 (round) to below 1: in profile, and as
            seen from above. (0, 0.6) is a pillow, (0.5, 0.5) a cushion. A superquadric of Barr
            (1981), with exponents 1 - square.
        rings: bands from the bottom to the top.
        segments: corners of each band.
    """
    up = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)[:, None]
    level, height = np.cos(up), np.sin(up)
    level[[0, -1]] = 0.0  # the poles are points, however small the power
    around = np.arange(segments) * (2 * np.pi / segments)
    e, f = 1 - square[0], 1 - square[1]

    def body(e: float, f: float) -> NDArray[np.float64]:
        flat = _power(level, e)
        return np.stack(
            [
                flat * _power(np.cos(around), f),
                np.broadcast_to(_power(height, e), (rings + 1, segments)),
                flat * _power(np.sin(around), f),
            ],
            axis=-1,
        ).reshape(-1, 3)

    normals = body(2 - e, 2 - f) / np.array(size)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    parts = [part for row in range(rings) for part in _band(row, row + 1, segments)]
    faces = np.concatenate(parts[1:-1]).astype(np.int32)  # the outer two have no area at the poles
    return Mesh(
        (body(e, f) * np.array(size) / 2).astype(np.float32),
        normals.astype(np.float32),
        faces,
        np.zeros(len(faces), np.int16),
        (material,),
    )


def _power(base: NDArray[np.float64], exponent: float) -> NDArray[np.float64]:
    return np.sign(base) * np.abs(base) ** exponent


def _band(low: int, high: int, segments: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Faces between two rows of a grid that closes around; the first all touch `low` by a side."""
    column = np.arange(segments)
    after = (column + 1) % segments
    a, d = low * segments + column, low * segments + after
    b, c = high * segments + column, high * segments + after
    return np.stack([a, d, c], axis=1), np.stack([a, c, b], axis=1)


def torus(
    radius: float, thickness: float, material: Material, *, segments: int = 16, sides: int = 8
) -> Mesh:
    """A ring about y; `radius` is that of its middle line, `thickness` the tube's diameter."""
    angles = np.linspace(0, 2 * np.pi, sides + 1)
    profile = [
        (float(radius + thickness / 2 * np.cos(a)), float(thickness / 2 * np.sin(a)))
        for a in angles
    ]
    profile[-1] = profile[0]
    return lathe(profile, material, segments=segments)
