"""Places held objects: in the hands, or in the image of a first-person view."""

from __future__ import annotations

from collections.abc import Mapping
from math import radians, tan

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.virtualhome.drawing.figure import Figure
from inhabit.envs.virtualhome.drawing.place import Place
from inhabit.envs.virtualhome.graph.world import FlatWorld

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
) -> dict[int, Place]:
    """Places of held objects as seen by others."""
    aside, up, ahead = _HANDS[figure.shape]
    found = {}
    for relation, side in _SIDES:
        for id_ in world.targets(person, relation):
            if id_ in sizes:
                size = sizes[id_]
                reach = ahead + min(size[2], 0.4) / 2
                x, y, z = figure.place.out(side * (aside + 0.3 * min(size[0], 0.3)), up, reach)
                found[id_] = Place(x, y, z, size, figure.place.yaw)
    return found


def carried_before_eyes(
    camera: Camera, world: FlatWorld, person: int, sizes: Mapping[int, Size]
) -> dict[int, Place]:
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
            found[id_] = Place(float(x), float(y), float(z), size, yaw)
    return found
