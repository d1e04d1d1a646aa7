"""Cameras: first person, over the shoulder, top down, and in room corners."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan, atan2, degrees, hypot, radians, tan

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.virtualhome.drawing.figure import Figure
from inhabit.envs.virtualhome.drawing.place import Place

_FOV = 66.0
"""Vertical field of view, degrees."""
_DOWN, _UP = 42.0, -15.0
"""Maximum pitch of a view, degrees."""
_FROM_ABOVE = 42.0
"""Vertical field of view of the top-down camera, degrees."""
_BEHIND = (1.25, 1.0, 0.75, 0.55)
"""Distances in metres behind the character, best first."""

_AHEAD = ((1.5, 1.0), (1.5, -1.0), (1.0, 1.2), (1.0, -1.2), (0.7, 0.8), (0.7, -0.8))
"""Offset in metres ahead and to the side, if there is no space behind."""


def first_person(figure: Figure) -> Camera:
    """First person, towards the point that the character looks at."""
    yaw, pitch = _look(figure.eyes, figure.target)
    return Camera(figure.eyes, yaw, pitch, fov=_FOV, far=40.0)


def over_the_shoulder(figure: Figure, room: Place, things: Sequence[Place]) -> Camera:
    """Over the shoulder, inside the room and outside of objects."""
    x, _, z = figure.eyes
    yaw, _ = _look(figure.eyes, figure.target)
    body = Place(x, 0.0, z, (0.5, 1.7, 0.4), yaw)
    for back in _BEHIND:
        for side in (0.45, -0.45):
            spot = body.out(side, 1.72, -back)
            if is_open(spot, room, things):
                return _towards(spot, body.out(0.0, min(1.0, figure.target[1]), 0.9))
    # With a wall behind it, such as on a sofa, it is seen from the front.
    for ahead, side in _AHEAD:
        spot = body.out(side, 1.72, ahead)
        if is_open(spot, room, things):
            return _towards(spot, (figure.place.x, figure.place.y, figure.place.z))
    return _towards(body.out(0.0, 2.2, -0.1), body.out(0.0, 0.5, 1.0))


def _towards(spot: tuple[float, float, float], at: tuple[float, float, float]) -> Camera:
    yaw, pitch = _look(spot, at)
    return Camera(spot, yaw, max(pitch, 5.0), fov=_FOV, far=40.0)


def top_down(room: Place) -> Camera:
    """From above the ceiling, with the whole room in view; north (+z) is up."""
    box = room.box
    half = max(box.hz, box.hx * 3 / 4) + 0.25
    height = room.top + half / tan(radians(_FROM_ABOVE) / 2) - 0.55 * (room.top - room.bottom)
    return Camera((box.x, height, box.z), 0.0, 89.9, fov=_FROM_ABOVE, far=80.0)


def corner(room: Place, number: int) -> Camera:
    """From the upper corner 0..3 of a room, towards its center."""
    box = room.box
    sx, sz = ((-1, -1), (1, -1), (1, 1), (-1, 1))[number]
    eye = box.x + sx * (box.hx - 0.25), room.bottom + 2.2, box.z + sz * (box.hz - 0.25)
    yaw, pitch = _look(eye, (box.x, room.bottom + 0.7, box.z))
    return Camera(eye, yaw, pitch, fov=72.0, far=40.0)


def _look(eye: tuple[float, float, float], at: tuple[float, float, float]) -> tuple[float, float]:
    """Yaw and pitch from one point to another; never straight down."""
    dx, dy, dz = (b - a for a, b in zip(eye, at, strict=True))
    across = hypot(dx, dz)
    pitch = degrees(atan(-dy / across)) if across > 1e-6 else _DOWN
    return degrees(atan2(dx, dz)), min(max(pitch, _UP), _DOWN)


def is_open(spot: tuple[float, float, float], room: Place, things: Sequence[Place]) -> bool:
    """Whether a camera fits at a point: inside a room and outside of objects."""
    x, y, z = spot
    box = room.box
    if abs(x - box.x) > box.hx - 0.12 or abs(z - box.z) > box.hz - 0.12:
        return False
    return not any(
        abs(x - b.x) < b.hx + 0.15 and abs(y - b.y) < b.hy + 0.1 and abs(z - b.z) < b.hz + 0.15
        for b in (thing.box for thing in things)
    )
