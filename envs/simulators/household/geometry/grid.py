"""The grid that the agent walks on: where a step can be made, and where it was seen to be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.plain_data import csv_rows
from inhabit.envs.simulators.household.geometry.boxes import STEP, Array, Box, Cell, Outline, Solid

BODY = 0.2
"""The agent's radius, metres."""
OPEN = frozenset({"Floor", "Window", "Blinds", "Curtains"})
_SOFT = {"ArmChair": 0.1, "Chair": 0.1, "DogBed": 0.15, "Sofa": 0.1, "Stool": 0.1}
"""Metres by which a box exceeds the real obstacle: backs lean, corners are round."""
KNEE, HEAD = 0.1, 1.8
"""Obstacles below are stepped over, those above are walked under; metres above the floor."""
_WALL_MARGIN = 0.3
"""Minimum distance of the agent's center from the room's outline, metres."""


def reachable(solids: Iterable[Solid], outline: Outline) -> frozenset[Cell]:
    """The largest connected region of free cells.

    Breadth-first search over the cells whose centres lie in the room, at least a body's radius
    from everything between knee and head.
    """
    free = _free(_obstacles(solids, outline), outline)
    regions = list(_regions(free))
    return max(regions, key=lambda region: (len(region), min(region)), default=frozenset())


def _obstacles(solids: Iterable[Solid], outline: Outline) -> list[Box]:
    floor = outline.floor
    boxes: list[Box] = []
    for kind, box in solids:
        if kind in OPEN or box.high[1] < floor + KNEE or box.low[1] > floor + HEAD:
            continue
        boxes.append(_shrunk(kind, box))
    return boxes


def _shrunk(kind: str, box: Box) -> Box:
    half = box.half - np.where(np.arange(3) == box.up, 0.0, _SOFT.get(kind, 0.0))
    return Box(box.center, np.maximum(half, 0.01), box.axes)


def _free(obstacles: Sequence[Box], outline: Outline) -> set[Cell]:
    columns, rows = (
        np.arange(np.ceil((low + _WALL_MARGIN) / STEP), np.floor((high - _WALL_MARGIN) / STEP) + 1)
        for low, high in zip(outline.low, outline.high, strict=True)
    )
    cells = np.stack(np.meshgrid(columns, rows, indexing="ij"), axis=-1).reshape(-1, 2)
    clear = np.ones(len(cells), np.bool_)
    for box in obstacles:
        clear &= distance(box, cells * STEP) >= BODY - 1e-6
    return {(int(column), int(row)) for column, row in cells[clear]}


def distance(box: Box, points: Array) -> NDArray[np.float64]:
    """Distances from points (N, 2) to a box seen from above; 0 inside.

    A box that stands upright is taken as it is turned, a tilted one by the box around it.
    """
    axes, half = box.footprint
    beyond = np.maximum(np.abs((points - box.center[[0, 2]]) @ axes) - half, 0.0)
    return np.asarray(np.hypot(beyond[:, 0], beyond[:, 1]))


def _regions(free: set[Cell]) -> Iterable[frozenset[Cell]]:
    left = set(free)
    for start in sorted(free):
        if start not in left:
            continue
        left.discard(start)
        region = [start]
        for here in region:  # It grows meanwhile.
            for cell in neighbours(here):
                if cell in left:
                    left.discard(cell)
                    region.append(cell)
        yield frozenset(region)


def neighbours(cell: Cell) -> tuple[Cell, Cell, Cell, Cell]:
    """The four neighbouring cells: along +z, +x, -z, -x."""
    column, row = cell
    return (column, row + 1), (column + 1, row), (column, row - 1), (column - 1, row)


Shape = tuple[float, float]
"""How round the corners are (0 to 1 of the smaller half side), and by how many metres the
footprint is smaller than its box on each side."""
Shapes = Mapping[str, Shape]
"""Object type -> its shape."""

_WALL = 0.15
"""Metres between the agent's middle and the room's outline. The outline is drawn around what
stands along the walls, and walls lie a little behind it."""
OTHER = "*"
"""Key of the shape of every other type; without it, they are plain boxes."""
SHAPES: Shapes = {
    row["type"]: (float(row["roundness"]), float(row["smaller"]))
    for row in csv_rows("inhabit.envs.simulators.household.geometry", "shapes.csv")
}
"""Fitted to all rooms by `scripts/fit_bodies`."""


def fits(x: float, z: float, solids: Iterable[Solid], outline: Outline) -> bool:
    """Whether the agent can stand at a point: inside the walls, and clear of every object.

    Args:
        x: metres.
        z: metres.
        solids: the obstacles in the room.
        outline: the room's walls and floor.
    """
    return bool(clear(np.array([[x, z]]), solids, outline)[0])


def clear(
    points: Array,
    solids: Iterable[Solid],
    outline: Outline,
    shapes: Shapes | None = None,
    *,
    nearer: float = 0.0,
) -> NDArray[np.bool_]:
    """Whether the agent can stand at each of many points.

    Args:
        points: (N, 2), x and z in metres.
        solids: the obstacles in the room.
        outline: the room's walls and floor.
        shapes: of the obstacles' types; by default those fitted to all rooms.
        nearer: metres by which the agent may be nearer to obstacles and walls than its radius.

    Returns:
        (N,), whether the agent can stand at each.
    """
    shapes = SHAPES if shapes is None else shapes
    other = shapes.get(OTHER, (0.0, 0.0))
    free = np.array([outline.holds(x, z, _WALL - nearer - 1e-6) for x, z in points], np.bool_)
    for solid in solids:
        radius = body_radius(solid.box, outline.floor)
        if solid.kind not in OPEN and radius > 0:
            far = gaps(solid.box, points, shapes.get(solid.kind, other))
            free &= far >= radius - nearer - 1e-3
    return free


def body_radius(box: Box, floor: float) -> float:
    """The capsule's largest radius in metres at the heights of a box; 0 if it misses the box."""
    low, high = box.low[1] - floor, box.high[1] - floor
    if high <= 0.02 or low >= HEAD:
        return 0.0
    if high < BODY:
        return sqrt(BODY**2 - (BODY - high) ** 2)
    if low > HEAD - BODY:
        return sqrt(BODY**2 - (low - (HEAD - BODY)) ** 2)
    return BODY


def gaps(box: Box, points: Array, shape: Shape) -> Array:
    """Metres (N,) from points (N, 2) in the plane to a footprint; negative inside rounded ends."""
    roundness, inset = shape
    axes, half = box.footprint
    half = np.maximum(half - inset, 0.01)
    corner = roundness * float(half.min())
    across = np.abs((points - box.center[[0, 2]]) @ axes)
    beyond = np.maximum(across - (half - corner), 0.0)
    return np.asarray(np.hypot(beyond[:, 0], beyond[:, 1])) - corner


_FROM_WALL = 0.3
"""Least distance in metres from a known cell to a wall."""
BESIDE = 0.12
"""Metres by which the agent may be nearer to obstacles in cells beside recorded ones: ALFRED's
grids leave out cells where it cannot turn to all sides. Fitted to the walks of 1,000 training
trajectories, each room with shapes of other rooms: 53 are blocked without it, 23 with it."""


def region(
    known: frozenset[Cell],
    solids: Iterable[Solid],
    outline: Outline,
    shapes: Shapes | None = None,
    *,
    beside: float = 0.0,
) -> frozenset[Cell]:
    """The known cells, and every cell that the agent fits in and can walk to from them.

    Args:
        known: cells in which THOR's agent stood; not empty.
        solids: the obstacles in the room.
        outline: the room's. It is extended to hold the known cells.
        shapes: of the obstacles' types; by default those fitted to all rooms.
        beside: metres by which the agent may be nearer to obstacles in cells beside known ones:
            BESIDE, where these are recorded.
    """
    found = np.array(sorted(known)) * STEP
    walls = replace(
        outline,
        low=_pair(np.minimum(outline.low, found.min(axis=0) - _FROM_WALL)),
        high=_pair(np.maximum(outline.high, found.max(axis=0) + _FROM_WALL)),
    )
    lowest, highest = np.floor(np.array(walls.low) / STEP), np.ceil(np.array(walls.high) / STEP)
    columns, rows = (np.arange(a, b + 1) for a, b in zip(lowest, highest, strict=True))
    cells = np.stack(np.meshgrid(columns, rows, indexing="ij"), axis=-1).reshape(-1, 2)
    solids = list(solids)
    free = {(int(c), int(r)) for c, r in cells[clear(cells * STEP, solids, walls, shapes)]}
    edge = sorted({cell for own in known for cell in neighbours(own)} - known - free)
    if beside and edge:
        near = clear(np.array(edge) * STEP, solids, walls, shapes, nearer=beside)
        free |= {cell for cell, fits in zip(edge, near, strict=True) if fits}
    return _connected(known, free)


def _connected(known: frozenset[Cell], free: set[Cell]) -> frozenset[Cell]:
    reached, edge = set(known), set(known)
    while edge:
        edge = {cell for own in edge for cell in neighbours(own)} & free - reached
        reached |= edge
    return frozenset(reached)


def _pair(of: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    return float(of[0]), float(of[1])


_WALKED = Path(__file__).with_name("walked.json")


@cache
def recorded_folder() -> Path | None:
    """Folder of the grids; None if the package is not installed."""
    spec = find_spec("alfworld")  # found, not imported: it would want a game engine
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(place) / "gen" / "layouts"
        if path.is_dir():
            return path
    return None


def recorded_cells(room: str) -> frozenset[Cell] | None:
    """Recorded or visited cells of a room; None if it has no recorded grid."""
    recorded = recorded_layout(room)
    return None if recorded is None else recorded | walked().get(room, frozenset())


def recorded_layout(room: str) -> frozenset[Cell] | None:
    """The recorded cells of a room alone; None if it has no recorded grid."""
    home = recorded_folder()
    file = None if home is None else home / f"{room}-layout.npy"
    if file is None or not file.is_file():
        return None
    recorded = np.rint(np.load(file, allow_pickle=False)[:, :2] / STEP).astype(int).tolist()
    return frozenset((column, row) for column, row in recorded)


@cache
def walked() -> dict[str, frozenset[Cell]]:
    """The cells that ALFRED's experts walked on, by room."""
    rooms = json.loads(_WALKED.read_text(encoding="utf-8"))
    return {room: frozenset((c, r) for c, r in walked) for room, walked in rooms.items()}
