"""Builds room meshes: walls with doorways, and worktops with cut-outs for basins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.plain_data import seed_of
from inhabit.envs.simulators.render.mesh import Mesh
from inhabit.envs.simulators.render.shell import shell
from inhabit.envs.virtualhome.drawing.layout import DrawnBox
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.world.catalogue import ROOMS

_Corners = NDArray[np.float64]
"""(N, 6): the corners of a planar convex polygon, each a point and its normal."""


def pierced(mesh: Mesh, low: Sequence[float], high: Sequence[float]) -> Mesh:
    """Subtract a box from a mesh. The cut edges stay open.

    Args:
        mesh: in any frame.
        low: the box's lowest corner, in that frame.
        high: the box's highest.
    """
    bounds = np.array(low, np.float64), np.array(high, np.float64)
    corners = mesh.vertices[mesh.faces]
    touched = ((corners.max(1) > bounds[0]) & (corners.min(1) < bounds[1])).all(axis=1)
    if not touched.any():
        return mesh
    vertices, normals = [mesh.vertices], [mesh.normals]
    faces, materials = [mesh.faces[~touched]], [mesh.materials[~touched]]
    count = len(mesh.vertices)
    for face in np.flatnonzero(touched):
        index = mesh.faces[face]
        whole = np.concatenate([mesh.vertices[index], mesh.normals[index]], axis=1)
        for piece in _outside(whole.astype(np.float64), *bounds):
            fan = [(count, count + i, count + i + 1) for i in range(1, len(piece) - 1)]
            vertices.append(piece[:, :3].astype(np.float32))
            normals.append(piece[:, 3:].astype(np.float32))
            faces.append(np.array(fan, np.int32))
            materials.append(np.full(len(fan), mesh.materials[face], np.int16))
            count += len(piece)
    return replace(
        mesh,
        vertices=np.concatenate(vertices),
        normals=np.concatenate(normals),
        faces=np.concatenate(faces),
        materials=np.concatenate(materials),
    )


def _outside(
    polygon: _Corners, low: NDArray[np.float64], high: NDArray[np.float64]
) -> list[_Corners]:
    """The parts of a polygon outside a box, cut plane by plane."""
    pieces = []
    for axis in range(3):
        for sign, limit in ((1.0, low[axis]), (-1.0, -high[axis])):
            away = limit - sign * polygon[:, axis]
            pieces.append(_half(polygon, away))
            polygon = _half(polygon, -away)
            if len(polygon) < 3:
                return [piece for piece in pieces if len(piece) >= 3]
    return [piece for piece in pieces if len(piece) >= 3]


def _half(polygon: _Corners, away: NDArray[np.float64]) -> _Corners:
    """The part of a polygon where `away` (a number per corner) is positive.

    Cut after Sutherland and Hodgman (1974).
    """
    kept = []
    for here, there, a, b in zip(
        polygon, np.roll(polygon, -1, axis=0), away, np.roll(away, -1), strict=True
    ):
        if a > 0:
            kept.append(here)
        if (a > 0) != (b > 0):
            kept.append(here + (there - here) * (a / (a - b)))
    return np.array(kept).reshape(-1, 6)


_DEEP = 0.4
"""Depth in metres of a doorway on both sides of its door."""
_ELSE = "living_room"
"""Room type used for other rooms."""


def room_meshes(
    world: FlatWorld, home: Mapping[int, DrawnBox], seed: int
) -> Iterator[tuple[str, Mesh]]:
    """Floors, ceilings and walls in the world's frame, by name.

    Args:
        world: for its rooms and doors.
        home: where they are.
        seed: of the flat: chooses colours.
    """
    doors = [home[n.id] for n in world.nodes() if n.category == "Doors" and n.id in home]
    for node in world.nodes():
        if node.category != "Rooms" or node.id not in home:
            continue
        box = home[node.id].box
        low = (box.x - box.hx, box.bottom, box.z - box.hz)
        high = (box.x + box.hx, box.top, box.z + box.hz)
        kind = ROOMS.get(node.class_name.replace("_", ""), _ELSE)
        for part, mesh in shell(low, high, kind, seed_of(seed, node.id)):
            if part.startswith("wall"):
                for door in doors:
                    mesh = pierced(mesh, *_opening(door))
            yield f"{node.id} {part}", mesh


def _opening(door: DrawnBox) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    box = door.box
    across_x, across_z = (abs(part) * _DEEP for part in door.front)
    return (
        (box.x - max(box.hx, across_x), box.bottom - 0.05, box.z - max(box.hz, across_z)),
        (box.x + max(box.hx, across_x), box.top, box.z + max(box.hz, across_z)),
    )


def room_at(
    place: DrawnBox, home: Mapping[int, DrawnBox], sources: Mapping[int, Mapping[str, Any]]
) -> int | None:
    """Id of the room at a position; the first room if it is in none."""
    rooms = [i for i, source in sorted(sources.items()) if source.get("category") == "Rooms"]
    rooms = [i for i in rooms if i in home]
    for id_ in rooms:
        box = home[id_].box
        if abs(place.x - box.x) <= box.hx + 0.06 and abs(place.z - box.z) <= box.hz + 0.06:
            return id_
    return rooms[0] if rooms else None


def fitted(mesh: Mesh, place: DrawnBox, basins: Sequence[DrawnBox]) -> Mesh:
    """A worktop with cut-outs for its basins.

    Args:
        mesh: of the worktop, in its own frame.
        place: where it stands.
        basins: places of the basins in the flat.
    """
    for basin in basins:
        if not place.box.overlaps(basin.box):
            continue
        u, y, v = place.toward(basin)
        half = [0.48 * side for side in basin.size]
        low = (u - half[0], y - half[1], v - half[2])
        high = (u + half[0], place.size[1], v + half[2])
        mesh = pierced(mesh, low, high)
    return mesh
