"""Bottles, dispensers and shakers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from random import Random

import numpy as np

from inhabit.envs.simulators.render.lathe import Point, cylinder, lathe
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import (
    BLACK,
    CHROME,
    GLASS,
    PAPER,
    PLASTICS,
    WHITE,
    liquid,
    plain,
    shade,
)
from inhabit.envs.simulators.render.shapes.look import BROKEN, FILLED, USED_UP, Form, Look
from inhabit.envs.simulators.render.shapes.parts import along_longer, cutout
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import tube

_GREEN_GLASS = plain(0.14, 0.30, 0.17, gloss=0.9)
_DARK_GLASS = plain(0.17, 0.11, 0.09, gloss=0.9)
_CLEAR_BROWN = plain(0.55, 0.36, 0.18, gloss=0.9)
_SALT = plain(0.95, 0.95, 0.94)
_PEPPER = plain(0.27, 0.22, 0.19)


def _banded(outline: list[Point], bands: list[tuple[float, Material]], segments: int = 16) -> Mesh:
    """A closed body of revolution whose material changes at heights: (up to height, material)."""
    radii, heights = np.array(outline).T
    levels = sorted({float(h) for h in heights} | {h for h, _ in bands[:-1]})
    profile = [(float(np.interp(y, heights, radii)), y) for y in levels]
    surfaces = [
        next(material for top, material in bands if (low + high) / 2 <= top)
        for low, high in pairwise(levels)
    ]
    whole = [(0.0, levels[0]), *profile, (0.0, levels[-1])]
    return lathe(whole, [surfaces[0], *surfaces, surfaces[-1]], segments=segments)


def bottle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A glass bottle. What is in it shows through, up to the shoulder."""
    glass = choose.choice((GLASS, _CLEAR_BROWN, _GREEN_GLASS))
    content = glass if look.filled is None else liquid(look.filled)
    outline = [(0.9, 0.0), (1.0, 0.03), (1.0, 0.55), (0.85, 0.66), (0.4, 0.8), (0.36, 0.92)]
    outline += [(0.42, 0.925), (0.42, 1.0)]
    return _banded(outline, [(0.04, glass), (0.55, content), (0.92, glass), (1.0, CHROME)]).fitted(
        size
    )


def wine_bottle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A wine bottle with a label and a capsule; a full one is dark to the neck."""
    glass, capsule = choose.choice((_GREEN_GLASS, _DARK_GLASS)), choose.choice(PLASTICS)
    content = shade(glass, 1.7) if look.filled is None else liquid(look.filled)
    outline = [(0.95, 0.0), (1.0, 0.02), (1.0, 0.58), (0.9, 0.65), (0.42, 0.76), (0.36, 0.84)]
    outline += [(0.36, 0.95), (0.42, 0.955), (0.42, 1.0)]
    bands = [(0.16, glass), (0.45, PAPER), (0.7, content), (0.84, glass), (1.0, capsule)]
    return _banded(outline, bands).fitted(size)


def soap_bottle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A dispenser with a pump whose spout points to the front."""
    color, label = choose.choice(PLASTICS), choose.choice((WHITE, PAPER))
    if look.used_up:
        color = shade(GLASS, 0.95)
    outline = [(0.92, 0.0), (1.0, 0.04), (1.0, 0.6), (0.8, 0.68), (0.4, 0.72), (0.4, 0.8)]
    body = _banded(outline, [(0.15, color), (0.48, label), (0.72, color), (0.8, WHITE)])
    stem = cylinder(0.13, 0.14, WHITE, segments=8).shifted(y=0.86)
    head = box((0.42, 0.07, 0.5), WHITE, bevel=0.02).shifted(0, 0.965, 0.05)
    spout = box((0.18, 0.05, 0.7), WHITE, bevel=0.02).shifted(0, 0.965, 0.6)
    return join([body, stem, head, spout]).fitted(size)


def spray_bottle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A spray gun on a bottle, its nozzle to the front, or along the longer side."""
    color, head = choose.choice(PLASTICS), choose.choice((WHITE, BLACK, PLASTICS[1]))
    content = shade(GLASS, 0.95) if look.used_up else color
    outline = [(0.9, 0.0), (1.0, 0.03), (1.0, 0.4), (0.75, 0.55), (0.34, 0.66), (0.34, 0.74)]
    body = _banded(outline, [(0.1, content), (0.34, PAPER), (0.66, content), (0.74, head)], 14)
    gun = [
        (-0.7, 0.74),
        (-0.6, 0.9),
        (-0.3, 1.0),
        (0.9, 1.0),
        (1.0, 0.96),
        (0.9, 0.88),
        (0.35, 0.86),
    ]
    gun += [(0.3, 0.74)]
    top = cutout(gun, 0.5, head).turned("y", -90)
    trigger = tube([(0, 0.88, 0.5), (0, 0.8, 0.62), (0, 0.7, 0.6)], 0.05, BLACK, sides=5)
    whole = join([body, top, trigger]).turned("y", 90)
    return along_longer(size, whole.fitted)


def salt_shaker(size: Vector, look: Look, choose: Random) -> Mesh:
    """A glass shaker with salt in it and a metal top."""
    return _shaker(size, _SALT)


def pepper_shaker(size: Vector, look: Look, choose: Random) -> Mesh:
    """The same shaker, with pepper."""
    return _shaker(size, _PEPPER)


def _shaker(size: Vector, content: Material) -> Mesh:
    outline = [
        (1.0, 0.0),
        (0.96, 0.1),
        (0.72, 0.66),
        (0.76, 0.68),
        (0.76, 0.85),
        (0.5, 0.97),
        (0.2, 1.0),
    ]
    bands = [(0.08, GLASS), (0.5, content), (0.66, GLASS), (1.0, CHROME)]
    return _banded(outline, bands, 12).fitted(size)


KINDS: Mapping[str, Form] = {
    "Bottle": Form(bottle, (0.1, 0.25, 0.1), FILLED[:1] + BROKEN),
    "Glassbottle": Form(bottle, (0.08, 0.24, 0.08), FILLED[:1]),
    "WineBottle": Form(wine_bottle, (0.085, 0.33, 0.085), (("wine", Look(filled="wine")), *BROKEN)),
    "SoapBottle": Form(soap_bottle, (0.1, 0.22, 0.1), USED_UP),
    "SprayBottle": Form(spray_bottle, (0.07, 0.25, 0.11), USED_UP),
    "SaltShaker": Form(salt_shaker, (0.06, 0.11, 0.06)),
    "PepperShaker": Form(pepper_shaker, (0.06, 0.11, 0.06)),
}
