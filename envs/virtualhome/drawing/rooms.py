"""Rooms from within: walls with their doorways, worktops with their basins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from envs.render.mesh import Mesh
from envs.render.shell import shell
from envs.virtualhome.catalogue import ROOMS
from envs.virtualhome.drawing.doorways import pierced
from envs.virtualhome.drawing.looks import seed_of
from envs.virtualhome.drawing.place import Place
from envs.virtualhome.world import World

_DEEP = 0.4
"""Metres that a doorway is cut into the walls, to both sides of its door."""
_ELSE = "living_room"
"""What a room of another kind looks like."""


def room_meshes(world: World, home: Mapping[int, Place], seed: int) -> Iterator[tuple[str, Mesh]]:
    """Floors, ceilings and walls in the world's own frame, by names of their own.

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


def _opening(door: Place) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    box = door.box
    across_x, across_z = (abs(part) * _DEEP for part in door.front)
    return (
        (box.x - max(box.hx, across_x), box.bottom - 0.05, box.z - max(box.hz, across_z)),
        (box.x + max(box.hx, across_x), box.top, box.z + max(box.hz, across_z)),
    )


def room_at(
    place: Place, home: Mapping[int, Place], sources: Mapping[int, Mapping[str, Any]]
) -> int | None:
    """Id of the room that a place is in; the first of all if it is in none."""
    rooms = [i for i, source in sorted(sources.items()) if source.get("category") == "Rooms"]
    rooms = [i for i in rooms if i in home]
    for id_ in rooms:
        box = home[id_].box
        if abs(place.x - box.x) <= box.hx + 0.06 and abs(place.z - box.z) <= box.hz + 0.06:
            return id_
    return rooms[0] if rooms else None


def fitted(mesh: Mesh, place: Place, basins: Sequence[Place]) -> Mesh:
    """A worktop with holes for the basins that are let into it.

    Args:
        mesh: of the worktop, in its own frame.
        place: where it stands.
        basins: places of the basins in the flat.
    """
    for basin in basins:
        if not place.box.overlaps(basin.box):
            continue
        ahead_x, ahead_z = place.front
        dx, dz = basin.x - place.x, basin.z - place.z
        u, v = dx * ahead_z - dz * ahead_x, dx * ahead_x + dz * ahead_z
        half = [0.48 * side for side in basin.size]
        y = basin.y - place.y
        low, high = (
            (u - half[0], y - half[1], v - half[2]),
            (u + half[0], place.size[1], v + half[2]),
        )
        mesh = pierced(mesh, low, high)
    return mesh
