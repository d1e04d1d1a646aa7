"""Bodies swept along a line: round bars and prisms of any outline. All are watertight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.lathe import Point, circle, single, walk
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector


def tube(
    path: Sequence[Vector], radius: float | Sequence[float], material: Material, *, sides: int = 8
) -> Mesh:
    """A round bar along a line of points, closed at both ends.

    Args:
        path: at least two points, metres.
        radius: one, or one for each point.
        material: of the whole bar.
        sides: corners of its cross-section.
    """
    line = np.array(path, np.float64)
    radii = np.broadcast_to(np.array(radius, np.float64), len(line))
    steps = np.diff(line, axis=0)
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    tangents = np.concatenate([steps[:1], steps[:-1] + steps[1:], steps[-1:]])
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    across = np.eye(3)[np.argmin(np.abs(tangents[0]))]
    round_section = circle(sides)
    rings = np.empty((len(line), sides, 3))
    shading = np.empty_like(rings)
    for i, tangent in enumerate(tangents):
        across = across - (across @ tangent) * tangent  # carried along, so the bar does not twist
        across /= np.linalg.norm(across)
        shading[i] = round_section @ np.stack([across, np.cross(across, tangent)])
        rings[i] = line[i] + radii[i] * shading[i] @ _mitre(steps, i)
    column, after = np.arange(sides), (np.arange(sides) + 1) % sides
    faces = []
    for i in range(len(line) - 1):
        a, d = i * sides + column, i * sides + after
        faces += [np.stack([a, d, d + sides], 1), np.stack([a, d + sides, a + sides], 1)]
    inner = np.arange(1, sides - 1)
    start, end = len(line) * sides, len(line) * sides + sides
    faces.append(np.stack([np.full(sides - 2, start), start + inner + 1, start + inner], 1))
    faces.append(np.stack([np.full(sides - 2, end), end + inner, end + inner + 1], 1))
    caps = np.repeat(np.stack([-tangents[0], tangents[-1]]), sides, axis=0)
    return single(
        np.concatenate([rings.reshape(-1, 3), rings[0], rings[-1]]),
        np.concatenate([shading.reshape(-1, 3), caps]),
        np.concatenate(faces),
        material,
    )


def _mitre(steps: NDArray[np.float64], corner: int) -> NDArray[np.float64]:
    """(3, 3): widens a cross-section in the plane of its bend, so that the bar keeps its girth."""
    if corner in (0, len(steps)):
        return np.eye(3)
    before, after = steps[corner - 1], steps[corner]
    inward = after - before
    half_sine = float(np.linalg.norm(inward)) / 2
    if half_sine < 1e-6:
        return np.eye(3)
    inward /= 2 * half_sine
    stretch = min(1 / np.sqrt(max(1 - half_sine**2, 1e-12)), 2.0)
    widened: NDArray[np.float64] = np.eye(3) + (stretch - 1) * np.outer(inward, inward)
    return widened


def prism(
    outline: Sequence[Point], height: float, material: Material, *, ends: Material | None = None
) -> Mesh:
    """A plane outline raised to `height` along y.

    Args:
        outline: (x, z) corners of a simple polygon, either way round.
        height: from -height / 2 to height / 2.
        material: of the sides.
        ends: of the two plane ends, if it is another.
    """
    line = np.array(outline, np.float64)
    if _area(line) < 0:
        line = line[::-1]
    points, normals, strips = walk([(float(x), float(z)) for x, z in [*line, line[0]]])
    rows, n = len(points), len(line)
    y = height / 2
    side = np.empty((2, rows, 3))
    side[..., 0::2] = points
    side[0, :, 1], side[1, :, 1] = -y, y
    shading = np.zeros((rows, 3))
    shading[:, 0::2] = normals
    caps = np.empty((2, n, 3))
    caps[..., 0::2] = line
    caps[0, :, 1], caps[1, :, 1] = -y, y
    faces = []
    for low, high in strips:
        faces += [[low, high, high + rows], [low, high + rows, low + rows]]
    sides = len(faces)
    for a, b, c in _ears(line):
        faces += [[2 * rows + a, 2 * rows + c, 2 * rows + b]]
        faces += [[2 * rows + n + a, 2 * rows + n + b, 2 * rows + n + c]]
    flat = np.zeros((2, n, 3))
    flat[0, :, 1], flat[1, :, 1] = -1, 1
    mesh = single(
        np.concatenate([side.reshape(-1, 3), caps.reshape(-1, 3)]),
        np.concatenate([shading, shading, flat.reshape(-1, 3)]),
        np.array(faces),
        material,
    )
    if ends is None or ends == material:
        return mesh
    which = (np.arange(len(faces)) >= sides).astype(np.int16)
    return replace(mesh, materials=which, palette=(material, ends))


def _area(line: NDArray[np.float64]) -> float:
    following = np.roll(line, -1, axis=0)
    return float((line[:, 0] * following[:, 1] - following[:, 0] * line[:, 1]).sum() / 2)


def _ears(line: NDArray[np.float64]) -> list[tuple[int, int, int]]:
    """Triangles of a simple polygon, by cutting ears; counter-clockwise in (first, second)."""
    left = list(range(len(line)))
    triangles = []
    while len(left) > 3:
        ears = (i for i in range(len(left)) if _is_ear(line, left, i))
        i = next(ears, 0)  # without an ear only slivers are left, and any cut will do
        triangles.append((left[i - 1], left[i], left[(i + 1) % len(left)]))
        del left[i]
    return [*triangles, (left[0], left[1], left[2])]


def _is_ear(line: NDArray[np.float64], left: list[int], i: int) -> bool:
    """Whether the corner turns outward and no other corner lies in its triangle."""
    corners = (left[i - 1], left[i], left[(i + 1) % len(left)])
    a, b, c = line[list(corners)]
    if _turn(a, b, c[None])[0] <= 1e-15:
        return False
    others = line[[k for k in left if k not in corners]]
    within = (_turn(a, b, others) >= 0) & (_turn(b, c, others) >= 0) & (_turn(c, a, others) >= 0)
    return not within.any()


def _turn(
    a: NDArray[np.float64], b: NDArray[np.float64], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How far left of the line from a to b each of the points (N, 2) lies."""
    across: NDArray[np.float64] = (b[0] - a[0]) * (points[:, 1] - a[1]) - (b[1] - a[1]) * (
        points[:, 0] - a[0]
    )
    return across
