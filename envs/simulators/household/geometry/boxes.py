"""Boxes, upright or tilted, and outlines of rooms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import asin, atan2, degrees, hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from inhabit.envs.simulators.render.mesh import Mesh

Array = NDArray[np.float64]

_CORNERS = np.array(
    [(x, y, z) for y in (-1, 1) for x, z in ((1, 1), (-1, 1), (-1, -1), (1, -1))],
    np.float64,
)
"""Signs of a box's corners in the order of THOR's `objectOrientedBoundingBox`."""

_AXIS_ALIGNED = np.array([(x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)], np.float64)
"""Signs of a box's corners in the order of THOR's `axisAlignedBoundingBox`."""


@dataclass(frozen=True, eq=False)
class Box:
    """An oriented box. Immutable."""

    center: Array
    """Center, (3,), metres."""
    half: Array
    """Half extents along the box's own axes, (3,), metres."""
    axes: Array
    """Own axes, (3, 3): column i is the direction of axis i in the world."""

    @cached_property
    def reach(self) -> Array:
        """(3,), half extents of its axis-aligned bounding box."""
        return np.abs(self.axes) @ self.half

    @property
    def low(self) -> Array:
        """(3,), the minimum corner of its axis-aligned bounding box."""
        return self.center - self.reach

    @property
    def high(self) -> Array:
        """(3,), the maximum corner of its axis-aligned bounding box."""
        return self.center + self.reach

    @cached_property
    def corners(self) -> Array:
        """(8, 3), in the order of THOR's `objectOrientedBoundingBox`."""
        return self.center + (_CORNERS * self.half) @ self.axes.T

    @property
    def up(self) -> int:
        """Index of the own axis nearest to the vertical."""
        return int(np.argmax(np.abs(self.axes[1])))

    @cached_property
    def footprint(self) -> tuple[Array, Array]:
        """A box's axes (2, 2) and half sides (2,) in metres as seen from above; x first, then z.

        An upright box is taken as it is turned, a tilted one by its axis-aligned bounding box.
        """
        if abs(self.axes[1, self.up]) > 0.999:
            first, second = (axis for axis in range(3) if axis != self.up)
            return self.axes[[0, 2]][:, [first, second]], self.half[[first, second]]
        return np.eye(2), self.reach[[0, 2]]

    def to_world(self, point: ArrayLike) -> Array:
        """A world point from coordinates along its own axes, metres from its center."""
        return self.center + self.axes @ np.asarray(point, np.float64)

    def to_own(self, point: ArrayLike) -> Array:
        """Coordinates of a world point along its own axes."""
        return self.axes.T @ (np.asarray(point, np.float64) - self.center)

    def moved(self, offset: Array) -> Box:
        """The same box, translated by `offset`."""
        return Box(self.center + offset, self.half, self.axes)

    def about(self, turn: Array, old: Array, new: Array) -> Box:
        """Moved with a body that rotates by `turn` (3, 3) and moves from `old` to `new`."""
        return Box(new + turn @ (self.center - old), self.half, turn @ self.axes)

    def holds(self, point: Array, slack: float = 0.0) -> bool:
        """Whether a world point lies inside, within `slack` metres."""
        return bool((np.abs(self.to_own(point)) <= self.half + slack).all())

    def distance_from_axis(self, x: float, z: float) -> float:
        """Horizontal distance in metres from a vertical line to its axis-aligned bounding box."""
        dx = max(0.0, abs(x - self.center[0]) - self.reach[0])
        dz = max(0.0, abs(z - self.center[2]) - self.reach[2])
        return hypot(dx, dz)


def read_box(metadata: Mapping[str, Any]) -> Box:
    """The box of an object in THOR's metadata: oriented if available."""
    oriented = metadata["objectOrientedBoundingBox"]
    if oriented is None:
        box = metadata["axisAlignedBoundingBox"]
        return Box(vector(box["center"]), np.abs(vector(box["size"])) / 2, np.eye(3))
    corners = np.array(oriented["cornerPoints"], np.float64)
    turn = rotation(metadata["rotation"])
    half = np.abs((corners[0] - corners[6]) @ turn) / 2
    return Box((corners[0] + corners[6]) / 2, half, turn)


def box_metadata(box: Box, oriented: bool) -> dict[str, Any]:
    """Both bounding boxes in THOR's form."""
    corners = box.center + _AXIS_ALIGNED * box.reach
    return {
        "axisAlignedBoundingBox": {
            "cornerPoints": corners.tolist(),
            "center": xyz(box.center),
            "size": xyz(box.reach * 2),
        },
        "objectOrientedBoundingBox": {"cornerPoints": box.corners.tolist()} if oriented else None,
    }


def vector(value: Mapping[str, float]) -> Array:
    """THOR's {x, y, z} as (3,)."""
    return np.array((value["x"], value["y"], value["z"]), np.float64)


def xyz(value: ArrayLike) -> dict[str, float]:
    """A vector (3,) in THOR's form."""
    x, y, z = np.asarray(value, np.float64).tolist()
    return {"x": x, "y": y, "z": z}


def rotation(angles: Mapping[str, float]) -> Array:
    """The rotation matrix (3, 3) of Unity's Euler angles in degrees: about z, then x, then y."""
    x, y, z = (np.radians(float(angles[k])) for k in "xyz")
    cx, sx, cy, sy, cz, sz = np.cos(x), np.sin(x), np.cos(y), np.sin(y), np.cos(z), np.sin(z)
    about_x = np.array(((1, 0, 0), (0, cx, -sx), (0, sx, cx)))
    about_y = np.array(((cy, 0, sy), (0, 1, 0), (-sy, 0, cy)))
    about_z = np.array(((cz, -sz, 0), (sz, cz, 0), (0, 0, 1)))
    return np.asarray(about_y @ about_x @ about_z)


def yaw(degrees_: float) -> Array:
    """The rotation matrix (3, 3) about the vertical; 90 maps +z to +x."""
    return rotation({"x": 0.0, "y": degrees_, "z": 0.0})


def angles(matrix: Array) -> dict[str, float]:
    """Unity's Euler angles in degrees, x within -90..90: the inverse of `rotation`."""
    x = degrees(asin(float(np.clip(-matrix[1, 2], -1.0, 1.0))))
    if abs(matrix[1, 2]) > 1 - 1e-9:  # looking straight up or down: y and z turn alike
        return {"x": x, "y": degrees(atan2(-matrix[2, 0], matrix[0, 0])), "z": 0.0}
    y = degrees(atan2(matrix[0, 2], matrix[2, 2]))
    z = degrees(atan2(matrix[1, 0], matrix[1, 1]))
    return {"x": x, "y": y % 360.0, "z": z % 360.0}


STEP = 0.25
"""Grid size, metres."""
Cell = tuple[int, int]
"""Column along x and row along z: the position divided by STEP."""


class Solid(NamedTuple):
    """A potential obstacle."""

    kind: str
    box: Box


@dataclass(frozen=True, slots=True)
class Outline:
    """A room's walls as a rectangle, with floor and ceiling."""

    low: tuple[float, float]
    """Lowest x and z, metres."""
    high: tuple[float, float]
    floor: float
    """Height of the floor, metres."""
    ceiling: float
    """Height of the ceiling, metres."""

    def holds(self, x: float, z: float, margin: float = 0.0) -> bool:
        """Whether a point lies in the room, at least `margin` metres from its walls."""
        inside_x = self.low[0] + margin <= x <= self.high[0] - margin
        return inside_x and self.low[1] + margin <= z <= self.high[1] - margin


THROUGH_WALLS = frozenset({"Window", "Blinds", "Curtains"})
"""Types that reach through a wall: their center lies in the wall."""
_HEIGHT = 2.5
"""Height of the ceiling in metres, unless an object is higher."""


def outline(solids: Iterable[Solid]) -> Outline:
    """The rectangle around everything in the room, clipped to the floor.

    Raises:
        ValueError: there is no floor among them.
    """
    solids = tuple(solids)
    floor = next((solid.box for solid in solids if solid.kind == "Floor"), None)
    if floor is None:
        raise ValueError("The room has no Floor, so the agent's height is unknown.")
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for solid in solids:
        if solid.kind == "Floor":
            continue
        reach = _reach_within(solid.box) if solid.kind in THROUGH_WALLS else solid.box.reach
        low = np.minimum(low, solid.box.center - reach)
        high = np.maximum(high, solid.box.center + reach)
    top = float(floor.high[1])
    ceiling = max(top + _HEIGHT, float(high[1]) + 0.1 if len(solids) > 1 else top)
    low, high = np.maximum(low, floor.low), np.minimum(high, floor.high)
    if not (low < high).all(where=[True, False, True]):
        low, high = floor.low, floor.high
    return Outline((float(low[0]), float(low[2])), (float(high[0]), float(high[2])), top, ceiling)


def _reach_within(box: Box) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    reach = box.reach.copy()
    reach[2 if reach[0] > reach[2] else 0] = 0.0
    return reach


CORNERED = frozenset({"CounterTop", "Desk"})
"""Types that may go around a corner."""
DEPTH = 0.65
"""Depth of a counter from its wall, metres."""

_NARROW = 1.0
"""An object narrower than this, in metres, goes around no corner."""
_NEAR_WALL = 0.35
"""A side within this distance of the outline stands against that wall."""
_OVER = 0.2
"""Metres that objects may extend beyond DEPTH; the strip is made deeper."""


def strips(box: Box, outline: Outline, standing: Sequence[Array]) -> list[Box]:
    """The parts of a counter or desk that exist.

    Those are along the walls that it touches, and along whatever other side is needed to have under
    it everything that stands on it. What is narrow, or an island, stays whole.

    Args:
        box: around all of it.
        outline: the room's.
        standing: centres (3,) of the objects on it.
    """
    low, high = box.low, box.high
    if min(high[0] - low[0], high[2] - low[2]) <= _NARROW:
        return [box]
    sides = {side: _strip(box, side, DEPTH) for side in _SIDES}
    chosen = [side for side in _SIDES if _gap(box, outline, side) < _NEAR_WALL]
    if not chosen:
        return [box]
    points = [point for point in standing if _over(box, point)]
    while True:
        parts = [_reaching(box, side, points, sides[side]) for side in chosen]
        bare = [point for point in points if not any(_over(part, point) for part in parts)]
        gain = {
            side: sum(_over(sides[side], point) for point in bare)
            for side in _SIDES
            if side not in chosen
        }
        if not any(gain.values()):
            return parts
        chosen.append(max(gain, key=lambda side: (gain[side], side)))


def along_walls(box: Box, outline: Outline, depth: float) -> list[Box]:
    """Strips of a box along the walls it touches; the whole box if it touches none."""
    touching = [side for side in _SIDES if _gap(box, outline, side) < _NEAR_WALL]
    return [_strip(box, side, depth) for side in touching] or [box]


_SIDES = ((0, -1), (0, 1), (2, -1), (2, 1))
"""Axis, and the minimum (-1) or maximum (1) side."""


def _gap(box: Box, outline: Outline, side: tuple[int, int]) -> float:
    axis, sign = side
    wall = 0 if axis == 0 else 1
    if sign < 0:
        return float(box.low[axis] - outline.low[wall])
    return float(outline.high[wall] - box.high[axis])


def _strip(box: Box, side: tuple[int, int], depth: float) -> Box:
    axis, sign = side
    low, high = box.low.copy(), box.high.copy()
    if sign < 0:
        high[axis] = min(high[axis], low[axis] + depth)
    else:
        low[axis] = max(low[axis], high[axis] - depth)
    return Box((low + high) / 2, (high - low) / 2, np.eye(3))


def _reaching(box: Box, side: tuple[int, int], points: Sequence[Array], plain: Box) -> Box:
    """A strip, deepened to carry the objects that extend a little further."""
    deep = _strip(box, side, DEPTH + _OVER)
    axis, sign = side
    edge = box.low[axis] if sign < 0 else box.high[axis]
    beyond = [
        abs(float(point[axis] - edge)) + 0.05
        for point in points
        if _over(deep, point) and not _over(plain, point)
    ]
    return _strip(box, side, max([DEPTH, *beyond]))


def _over(part: Box, point: Array) -> bool:
    return bool((np.abs(point - part.center)[[0, 2]] <= part.reach[[0, 2]]).all())


def into(frame: Box, mesh: Mesh) -> Mesh:
    """A mesh from the world's frame in the frame of a box."""
    return replace(
        mesh,
        vertices=((mesh.vertices - frame.center) @ frame.axes).astype(np.float32),
        normals=(mesh.normals @ frame.axes).astype(np.float32),
    )


def out_of(frame: Box, mesh: Mesh) -> Mesh:
    """A mesh from the frame of a box in the world's frame."""
    return replace(
        mesh,
        vertices=(mesh.vertices @ frame.axes.T + frame.center).astype(np.float32),
        normals=(mesh.normals @ frame.axes.T).astype(np.float32),
    )


def height_at(mesh: Mesh, frame: Box, point: Array, below: float) -> float:
    """Height of a mesh at a horizontal position, in world metres.

    Args:
        mesh: in the frame of a box.
        frame: that box.
        point: (2,), x and z.
        below: parts that are higher than this don't count.

    Returns:
        The height of its highest face there; -inf if there is none.
    """
    corners = (mesh.vertices @ frame.axes.T + frame.center)[mesh.faces]
    a, b, c = (corners[:, i] for i in range(3))
    ab, ac, ap = (v[:, [0, 2]] for v in (b - a, c - a, np.array((point[0], 0.0, point[1])) - a))
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    level = np.abs(area) > 1e-9
    ab, ac, ap, area = ab[level], ac[level], ap[level], area[level]
    u = (ap[:, 0] * ac[:, 1] - ap[:, 1] * ac[:, 0]) / area
    v = (ab[:, 0] * ap[:, 1] - ab[:, 1] * ap[:, 0]) / area
    inside = (u >= 0) & (v >= 0) & (u + v <= 1)
    y = corners[level][:, :, 1][inside]
    u, v = u[inside], v[inside]
    heights = y[:, 0] * (1 - u - v) + y[:, 1] * u + y[:, 2] * v
    return float(heights[heights <= below].max(initial=-np.inf))
