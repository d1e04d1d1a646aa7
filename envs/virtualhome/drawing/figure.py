"""The figure of the agent, and what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import atan2, degrees, radians, tan

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.virtualhome.drawing.arranging import Arrangement
from inhabit.envs.virtualhome.drawing.layout import DrawnBox
from inhabit.envs.virtualhome.graph.names import held
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node

CELL = 0.1
"""Distance in metres between sampled positions, at least."""
_MOST_CELLS = 1000
"""Most positions along a side of a room: in a very large one they are farther apart."""
_BODY = 0.22
"""Radius of a standing person, metres."""
_STEP_OVER, _STOOP = 0.12, 1.5
"""Objects that end below the first or begin above the second height, in metres, are no
obstacles."""


def free_cells(room: DrawnBox, things: Sequence[DrawnBox]) -> NDArray[np.float64]:
    """(N, 2): free positions in a room, sorted by x, then z.

    The middle of the room alone, if it is crammed.
    """
    box = room.box
    step = max(CELL, 2 * max(box.hx, box.hz) / _MOST_CELLS)
    x = np.arange(box.x - box.hx + _BODY, box.x + box.hx - _BODY + 1e-6, step)
    z = np.arange(box.z - box.hz + _BODY, box.z + box.hz - _BODY + 1e-6, step)
    free = np.ones((len(x), len(z)), np.bool_)
    for block in (p.box for p in things if p.top > _STEP_OVER and p.bottom < _STOOP):
        if not block.overlaps(box):
            continue
        hit_x = np.abs(x - block.x) < block.hx + _BODY
        hit_z = np.abs(z - block.z) < block.hz + _BODY
        free[np.ix_(hit_x, hit_z)] = False
    i, k = np.nonzero(free)
    cells = np.stack([x[i], z[k]], axis=1)
    return cells if len(cells) else np.array([[box.x, box.z]])


HEIGHT = 1.7
"""Size of a character, metres."""
_ARM = 0.6
"""Distance in metres between a standing character and the furniture it uses."""
_TALL = 1.3
"""An object farther back on furniture than this, in metres, is viewed from farther away."""
_SHAPES: Mapping[str, tuple[float, float, float]] = {
    "Person": (0.5, HEIGHT, 0.34),
    "PersonSitting": (0.5, 1.35, 0.75),
    "PersonLying": (0.5, 0.3, HEIGHT),
}
_SEAT_HEIGHT = 0.46
"""Height of the seated figure's thighs, metres."""

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Figure:
    """The drawn pose of a character."""

    shape: str
    """Shape of the body: Person, PersonSitting or PersonLying."""
    place: DrawnBox
    eyes: Point
    target: Point
    """The point that the character looks at."""


def figure(
    world: FlatWorld, character: int, home: Mapping[int, DrawnBox], arranged: Arrangement
) -> Figure | None:
    """Find a character's pose.

    It stands in front of what it is CLOSE to, otherwise at the door of its room. It looks at what
    it is FACING, otherwise at the object that it went to, or at the furniture.

    Returns:
        None if it is in no room that has a box.
    """
    room = world.room(character)
    if room is None or room not in home:
        return None
    states = arranged.nodes[character].states
    seat = _seat(world, character, arranged) if states & {"SITTING", "LYING"} else None
    facing = _facing(world, character, arranged)
    if seat is not None:
        return _resting(arranged.places[seat], "LYING" in states, facing)
    return _standing(world, character, room, home, arranged, facing)


def _seat(world: FlatWorld, character: int, arranged: Arrangement) -> int | None:
    """What it sits or lies on. Old seats stay in the graph after getting up, so the near one."""
    seats = [i for i in world.targets(character, "ON") if i in arranged.places]
    near = set(world.targets(character, "CLOSE"))
    return min(seats, key=lambda i: (i not in near, i), default=None)


def _facing(world: FlatWorld, character: int, arranged: Arrangement) -> Point | None:
    for id_ in world.targets(character, "FACING"):
        if id_ in arranged.places:
            place = arranged.places[id_]
            return place.x, place.y, place.z
    return None


def _resting(seat: DrawnBox, lies: bool, facing: Point | None) -> Figure:
    """The pose on a piece of furniture."""
    surface = seat.bottom + seat.size[1] * (0.6 if seat.size[2] > 1.6 or lies else 0.48)
    if lies:
        along = seat.yaw if seat.size[2] >= seat.size[0] else seat.yaw + 90.0
        body = DrawnBox(seat.x, surface + 0.15, seat.z, _SHAPES["PersonLying"], along)
        eyes = body.out(0.0, 0.35, -0.55)
        return Figure("PersonLying", body, eyes, facing or body.out(0.0, 0.1, 2.0))
    lift = surface - _SEAT_HEIGHT
    back = 0.12 if seat.size[2] > 0.7 else 0.0
    edge = 0.3 * seat.size[2] if seat.size[2] > 1.2 else back
    height = _SHAPES["PersonSitting"][1]
    x, _, z = seat.out(0.0, 0.0, edge)
    body = DrawnBox(x, height / 2 + lift, z, _SHAPES["PersonSitting"], seat.yaw)
    eyes = body.out(0.0, height / 2 - 0.1, -0.1)
    return Figure("PersonSitting", body, eyes, facing or body.out(0.0, 0.2, 3.0))


def _standing(
    world: FlatWorld,
    character: int,
    room: int,
    home: Mapping[int, DrawnBox],
    arranged: Arrangement,
    facing: Point | None,
) -> Figure:
    around = [p for i, p in arranged.places.items() if _in_way(arranged.nodes[i])]
    cells = free_cells(home[room], around)
    at = _beside(world, character, arranged)
    given = world.sources[character].get("stands_at")
    # The room it was put into: after a walk it stands in another.
    if at is None and given and _is_in(home[room], given[0], given[1]):
        return _upright(
            float(given[0]), float(given[1]), facing or (home[room].x, 0.9, home[room].z)
        )
    if at is None:
        x, z = _doorstep(world, arranged.nodes, room, home, cells)
        middle = home[room].x, 0.9, home[room].z
        return _upright(x, z, facing or middle)
    furniture, aim = arranged.places[at[0]], arranged.places[at[1]]
    x, z = _before(furniture, aim, cells)
    high = aim.top if aim is furniture and aim.size[1] < _TALL else aim.y
    return _upright(x, z, facing or (aim.x, high, aim.z))


def _is_in(room: DrawnBox, x: float, z: float) -> bool:
    box = room.box
    return abs(x - box.x) <= box.hx and abs(z - box.z) <= box.hz


def _in_way(node: Node) -> bool:
    return node.category not in ("Rooms", "Doors", "Characters")


def _upright(x: float, z: float, target: Point) -> Figure:
    yaw = degrees(atan2(target[0] - x, target[2] - z))
    body = DrawnBox(x, HEIGHT / 2, z, _SHAPES["Person"], yaw)
    return Figure("Person", body, (x, HEIGHT - 0.1, z), target)


def _beside(world: FlatWorld, character: int, arranged: Arrangement) -> tuple[int, int] | None:
    """The furniture a character is close to, and the object on it that it went to."""
    hands = set(held(world, character))
    near = [i for i in world.targets(character, "CLOSE") if i in arranged.places and i not in hands]
    above = {i: _supports(world, i) & {*near} for i in near}
    roots = [i for i in near if not above[i]]
    if not roots:
        return (near[0], near[0]) if near else None
    carried = {root: [i for i in near if root in above[i]] for root in roots}
    root = max(roots, key=lambda i: (len(carried[i]), _volume(arranged.places[i]), -i))
    return root, carried[root][0] if len(carried[root]) == 1 else root


def _supports(world: FlatWorld, id_: int) -> set[int]:
    return {t for relation in ("ON", "INSIDE") for t in world.targets(id_, relation)} - {id_}


def _volume(place: DrawnBox) -> float:
    width, height, depth = place.size
    return width * height * depth


def _before(furniture: DrawnBox, aim: DrawnBox, cells: NDArray[np.float64]) -> tuple[float, float]:
    """The best free position to use an object: near it, in front of its furniture."""
    box = furniture.box
    edge_x = np.maximum(np.abs(cells[:, 0] - box.x) - box.hx, 0.0)
    edge_z = np.maximum(np.abs(cells[:, 1] - box.z) - box.hz, 0.0)
    wanted = _ARM + (0.45 if furniture.size[1] > _TALL else 0.0)
    off = np.abs(np.hypot(edge_x, edge_z) - wanted)
    away_x, away_z = cells[:, 0] - aim.x, cells[:, 1] - aim.z
    far = np.hypot(away_x, away_z)
    ahead_x, ahead_z = furniture.front
    aside = 1.0 - (away_x * ahead_x + away_z * ahead_z) / np.maximum(far, 1e-6)
    cost = 2.0 * off + 0.5 * far + 1.0 * aside
    best = np.lexsort((cells[:, 1], cells[:, 0], np.round(cost, 6)))[0]
    return float(cells[best, 0]), float(cells[best, 1])


def _doorstep(
    world: FlatWorld,
    nodes: Mapping[int, Node],
    room: int,
    home: Mapping[int, DrawnBox],
    cells: NDArray[np.float64],
) -> tuple[float, float]:
    """Just inside the room's first door; without a door, where the view is widest."""
    doors = [
        home[i]
        for i, node in nodes.items()
        if node.category == "Doors" and i in home and room in world.targets(i, "BETWEEN")
    ]
    middle = home[room]
    if doors:
        away = np.abs(np.hypot(cells[:, 0] - doors[0].x, cells[:, 1] - doors[0].z) - 0.8)
    else:
        away = -np.hypot(cells[:, 0] - middle.x, cells[:, 1] - middle.z)
    best = np.lexsort((cells[:, 1], cells[:, 0], np.round(away, 6)))[0]
    return float(cells[best, 0]), float(cells[best, 1])


_BEFORE_EYES = 0.4
"""Metres from the eye at which held objects are drawn in first person."""
Size = tuple[float, float, float]
_SIDES = (("HOLDS_RH", 1.0), ("HOLDS_LH", -1.0))
_HANDS: Mapping[str, tuple[float, float, float]] = {
    "Person": (0.225, 0.02, 0.16),
    "PersonSitting": (0.16, 0.02, 0.22),
    "PersonLying": (0.225, 0.12, 0.05),
}
"""Offset of the right hand from the center of the figure's box: right, up, ahead, metres."""


def carried_by(
    figure: Figure, world: FlatWorld, person: int, sizes: Mapping[int, Size]
) -> dict[int, DrawnBox]:
    """Places of held objects as seen by others."""
    aside, up, ahead = _HANDS[figure.shape]
    found = {}
    for relation, side in _SIDES:
        for id_ in world.targets(person, relation):
            if id_ in sizes:
                size = sizes[id_]
                reach = ahead + min(size[2], 0.4) / 2
                x, y, z = figure.place.out(side * (aside + 0.3 * min(size[0], 0.3)), up, reach)
                found[id_] = DrawnBox(x, y, z, size, figure.place.yaw)
    return found


def carried_before_eyes(
    camera: Camera, world: FlatWorld, person: int, sizes: Mapping[int, Size]
) -> dict[int, DrawnBox]:
    """Places of held objects in first person: the lower corners of the image."""
    right, up, ahead = camera.axes
    found = {}
    for relation, hand in _SIDES:
        for id_ in world.targets(person, relation):
            if id_ not in sizes:
                continue
            # Smaller and nearer looks the same, and does not intersect the furniture ahead.
            share = _BEFORE_EYES / (0.5 + 0.75 * max(sizes[id_]))
            width, height, depth = (share * side for side in sizes[id_])
            size = (width, height, depth)
            half = tan(radians(camera.fov) / 2) * _BEFORE_EYES
            across, down = hand * (half * 1.2 - 0.55 * width), half * 0.98 - 0.4 * height
            x, y, z = camera.position + right * across - up * down + ahead * _BEFORE_EYES
            yaw = camera.yaw + 180.0 - 20.0 * hand
            found[id_] = DrawnBox(float(x), float(y), float(z), size, yaw)
    return found
