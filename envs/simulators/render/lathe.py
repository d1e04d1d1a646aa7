"""Solids that are turned on a lathe, boxes, and their like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector

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


def box(size: Vector, material: Material, *, bevel: float = 0.0) -> Mesh:
    """A box of `size`; its edges are rounded over `bevel` metres, at most half the least side.

    A rounded box has 44 triangles, a plain one 12. The corners keep their side's normal, so the
    bevels are shaded as if they were round.
    """
    half = np.array(size, np.float64) / 2
    bevel = float(min(bevel, 0.98 * half.min()))
    signs, axes, faces = _box_topology(bevel > 0)
    corners = signs * (half - bevel)
    corners[np.arange(24), axes] += signs[np.arange(24), axes] * bevel
    normals = np.zeros((24, 3), np.float32)
    normals[np.arange(24), axes] = signs[np.arange(24), axes]
    return single(corners, normals, faces, material)


def terrace(rings: Sequence[tuple[float, float, float]], material: Surface) -> Mesh:
    """Rectangles one after the other, joined by flat sides and closed at both ends.

    Args:
        rings: (width, height, y) of rectangles across y: width along x, height along z. Going up y
            they are an outside; going down again, inside wider ones, they are a cavity's walls.
        material: one, or one for each of the len(rings) - 1 belts; the ends take their belt's.
    """
    count = len(rings)
    signs = np.array(((-1, -1), (1, -1), (1, 1), (-1, 1)), np.float64) / 2
    corners = np.empty((count, 4, 3))
    corners[..., 0::2] = np.array([ring[:2] for ring in rings])[:, None] * signs
    corners[..., 1] = np.array([ring[2] for ring in rings])[:, None]
    low, high = corners[:-1], corners[1:]
    sides = np.stack([low, np.roll(low, -1, 1), np.roll(high, -1, 1), high], 2).reshape(-1, 4, 3)
    quads = np.concatenate([sides, corners[:1, ::-1], corners[-1:]])
    normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 1] - quads[:, 3])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    first = 4 * np.arange(len(quads))[:, None]
    faces = first + np.array((0, 1, 2, 0, 2, 3))
    palette = (material,) if isinstance(material, Material) else tuple(material)
    belts = np.minimum(np.arange(count - 1), len(palette) - 1).repeat(8)
    which = np.concatenate([belts, belts[:1].repeat(2), belts[-1:].repeat(2)]).astype(np.int16)
    mesh = single(
        quads.reshape(-1, 3), np.repeat(normals, 4, axis=0), faces.reshape(-1, 3), palette[0]
    )
    return replace(mesh, materials=which, palette=palette)


@cache
def _box_topology(
    bevelled: bool,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]]:
    """Signs (24, 3) and the axis (24,) of each side's corner, and the faces between them.

    Corner k = 0..7 has the sign of bit a along axis a; its copy on the side of axis a is 3 * k + a.
    """
    corner = np.repeat(np.arange(8), 3)
    signs = np.where(corner[:, None] >> np.arange(3) & 1, 1.0, -1.0)
    axes = np.tile(np.arange(3), 8)
    polygons: list[list[int]] = []
    for axis in range(3):
        u, v = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        for side in (0, 1 << axis):
            polygons.append([3 * (side | k) + axis for k in (0, u, u | v, v)])
        if bevelled:
            for k in (0, u, v, u | v):  # the edge along `axis` at that corner
                low, high = 3 * k, 3 * (k | 1 << axis)
                b, c = (axis + 1) % 3, (axis + 2) % 3
                polygons.append([low + b, high + b, high + c, low + c])
    if bevelled:
        polygons += [[3 * k, 3 * k + 1, 3 * k + 2] for k in range(8)]
    middle = np.where(bevelled, 0.8, 1.0) * signs
    middle[np.arange(24), axes] = signs[np.arange(24), axes]
    triangles = [[p[0], p[i], p[i + 1]] for p in polygons for i in range(1, len(p) - 1)]
    return signs, axes, _outward(middle, np.array(triangles, np.int32))


def _outward(points: NDArray[np.float64], faces: NDArray[np.int32]) -> NDArray[np.int32]:
    """The faces of a convex body about the origin, each wound to look away from it."""
    a, b, c = (points[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(c - a, b - a), a + b + c) < 0
    return np.where(inward[:, None], faces[:, ::-1], faces)


def sheet(heights: NDArray[np.float64], size: Vector, material: Material) -> Mesh:
    """A soft slab, such as a folded cloth: a grid of heights over a flat underside.

    Args:
        heights: (rows along z, columns along x), 0..1 of size[1]; at least 0.02 is kept.
        size: of the box that it fills.
        material: of all sides.
    """
    rows, columns = heights.shape
    x, z = np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(-0.5, 0.5, rows))
    top = np.stack([x, np.maximum(heights, 0.02) - 0.5, z], axis=-1) * size
    bottom = np.stack([x, np.full_like(x, -0.5), z], axis=-1) * size
    over, across = np.gradient(top, axis=0), np.gradient(top, axis=1)
    upward = np.cross(over, across)
    upward /= np.linalg.norm(upward, axis=-1, keepdims=True)
    n = rows * columns
    index = np.arange(n).reshape(rows, columns)
    a, b, c, d = (
        corner.ravel()
        for corner in (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1])
    )
    upper = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    faces = [upper, upper[:, ::-1] + n]
    points = [top.reshape(-1, 3), bottom.reshape(-1, 3)]
    normals = [upward.reshape(-1, 3), np.tile((0.0, -1.0, 0.0), (n, 1))]
    borders = {
        (0, -1): index[0],
        (1, 0): index[:, -1],
        (0, 1): index[-1, ::-1],
        (-1, 0): index[::-1, 0],
    }
    start = 2 * n
    for (out_x, out_z), border in borders.items():
        m = len(border)
        points += [points[0][border], points[1][border]]
        normals.append(np.tile((float(out_x), 0.0, float(out_z)), (2 * m, 1)))
        k = start + np.arange(m - 1)
        faces += [np.stack([k, k + m, k + m + 1], 1), np.stack([k, k + m + 1, k + 1], 1)]
        start += 2 * m
    return single(np.concatenate(points), np.concatenate(normals), np.concatenate(faces), material)


def single(
    vertices: NDArray[np.floating],
    normals: NDArray[np.floating],
    faces: NDArray[np.integer],
    material: Material,
) -> Mesh:
    """A mesh of one material from arrays of any precision."""
    return Mesh(
        vertices.astype(np.float32),
        normals.astype(np.float32),
        faces.astype(np.int32),
        np.zeros(len(faces), np.int16),
        (material,),
    )
