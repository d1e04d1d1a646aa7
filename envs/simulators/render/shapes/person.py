"""A person, standing, sitting or lying: the front looks along +z."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from inhabit.envs.simulators.render.lathe import box, ellipsoid, lathe
from inhabit.envs.simulators.render.mesh import Material, Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import BLACK, FABRICS, Form, Look, plain, shade
from inhabit.envs.simulators.render.sweep import tube

_SKINS = tuple(
    plain(*color, gloss=0.15)
    for color in ((0.93, 0.76, 0.64), (0.82, 0.62, 0.47), (0.60, 0.42, 0.31), (0.42, 0.28, 0.21))
)
_HAIRS = tuple(
    plain(*color, gloss=0.25)
    for color in ((0.18, 0.12, 0.09), (0.36, 0.22, 0.13), (0.62, 0.45, 0.25), (0.10, 0.09, 0.09))
)
_SHIRTS = tuple(
    plain(*color, gloss=0.02)
    for color in ((0.82, 0.42, 0.32), (0.28, 0.50, 0.56), (0.88, 0.72, 0.36), (0.44, 0.56, 0.40))
)
_LIP = plain(0.72, 0.38, 0.36)
Joint = Vector
Pose = Mapping[str, tuple[Joint, ...]]
"""Limbs as lines of joints from the body outward, metres, the floor at y = 0, for the person's
left (+x is their right)."""
_STANDING: Pose = {
    "leg": ((0.09, 0.88, 0.0), (0.10, 0.47, 0.02), (0.10, 0.07, -0.02)),
    "arm": ((0.185, 1.37, 0.0), (0.235, 1.10, -0.02), (0.225, 0.86, 0.10)),
}
_SITTING: Pose = {
    "leg": ((0.09, 0.53, 0.0), (0.12, 0.53, 0.42), (0.12, 0.07, 0.44)),
    "arm": ((0.185, 1.02, 0.0), (0.24, 0.76, 0.02), (0.16, 0.62, 0.26)),
}


def standing(size: Vector, look: Look, choose: Random) -> Mesh:
    """Upright, the arms at the sides."""
    return _person(_STANDING, hip=0.90, choose=choose).fitted(size)


def sitting(size: Vector, look: Look, choose: Random) -> Mesh:
    """A person as on a chair: thighs level, hands on them."""
    return _person(_SITTING, hip=0.55, choose=choose).fitted(size)


def lying(size: Vector, look: Look, choose: Random) -> Mesh:
    """On the back, the head to -z, the face up."""
    upright = _person(_STANDING, hip=0.90, choose=choose)
    return upright.turned("x", -90).turned("y", 180).fitted(size)


def _person(pose: Pose, hip: float, choose: Random) -> Mesh:
    skin, hair = choose.choice(_SKINS), choose.choice(_HAIRS)
    shirt, cloth = choose.choice(_SHIRTS), choose.choice((FABRICS[1], FABRICS[5], FABRICS[2]))
    long_hair = choose.random() < 0.5
    parts = [
        _trunk(shirt, cloth).shifted(y=hip),
        _head(skin, hair, long_hair).shifted(y=hip + 0.67),
    ]
    for limb, build in (("leg", partial(_leg, cloth)), ("arm", partial(_arm, shirt, skin))):
        right = build(pose[limb])
        parts += [right, right.scaled(-1, 1, 1)]
    return join(parts)


def _trunk(shirt: Material, cloth: Material) -> Mesh:
    """From the hips (y = 0) to the neck (y = 0.6)."""
    profile = [(0.0, -0.08), (0.15, -0.07), (0.175, 0.02), (0.155, 0.16), (0.175, 0.34)]
    profile += [(0.19, 0.44), (0.15, 0.52), (0.07, 0.56), (0.0, 0.565)]
    surfaces = [cloth, cloth, shirt, shirt, shirt, shirt, shirt, shirt]
    return lathe(profile, surfaces, segments=10).scaled(1.0, 1.0, 0.62)


def _head(skin: Material, hair: Material, long_hair: bool) -> Mesh:
    """About the ears (y = 0), on its neck."""
    neck = tube([(0, -0.16, -0.01), (0, -0.05, 0.0)], 0.052, skin, sides=6)
    skull = ellipsoid((0.165, 0.235, 0.195), skin, square=(0.1, 0.05), rings=6, segments=10)
    cap = ellipsoid((0.19, 0.19, 0.21), hair, square=(0.1, 0.1), rings=5, segments=10)
    parts = [neck, skull, cap.shifted(0, 0.055, -0.028)]
    if long_hair:
        fall = ellipsoid((0.19, 0.32, 0.10), hair, square=(0.4, 0.3), rings=4, segments=8)
        parts.append(fall.shifted(0, -0.06, -0.075))
    nose = box((0.022, 0.04, 0.03), shade(skin, 0.96), bevel=0.0).shifted(0, -0.015, 0.092)
    mouth = box((0.046, 0.010, 0.008), _LIP).shifted(0, -0.062, 0.083)
    parts += [nose, mouth]
    for side in (-1, 1):
        eye = box((0.018, 0.02, 0.008), BLACK).shifted(side * 0.035, 0.016, 0.09)
        brow = box((0.036, 0.007, 0.008), hair).shifted(side * 0.035, 0.044, 0.09)
        parts += [eye, brow]
    return join(parts)


def _leg(cloth: Material, joints: tuple[Joint, ...]) -> Mesh:
    hip, knee, ankle = joints
    trouser = tube([hip, knee, ankle], (0.088, 0.072, 0.058), cloth, sides=8)
    shoe = ellipsoid((0.095, 0.10, 0.27), BLACK, square=(0.4, 0.3), rings=4, segments=6)
    return join([trouser, shoe.shifted(ankle[0], ankle[1] - 0.02, ankle[2] + 0.055)])


def _arm(shirt: Material, skin: Material, joints: tuple[Joint, ...]) -> Mesh:
    shoulder, elbow, hand = joints
    sleeve = tube([shoulder, elbow], (0.062, 0.05), shirt, sides=8)
    cap = ellipsoid((0.13, 0.13, 0.13), shirt, rings=4, segments=8).shifted(*shoulder)
    forearm = tube([elbow, hand], (0.045, 0.032), skin, sides=6)
    palm = ellipsoid((0.06, 0.10, 0.085), skin, square=(0.2, 0.3), rings=4, segments=6)
    return join([sleeve, cap, forearm, palm.shifted(hand[0], hand[1] - 0.02, hand[2] + 0.02)])


KINDS: Mapping[str, Form] = {
    "Person": Form(standing, (0.5, 1.7, 0.34)),
    "PersonSitting": Form(sitting, (0.5, 1.35, 0.75)),
    "PersonLying": Form(lying, (0.5, 0.3, 1.7)),
}
