"""Long kitchen tools. Each is built along x with its handle at -x, and laid into its box."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from random import Random

from inhabit.envs.simulators.render.lathe import Point, lathe
from inhabit.envs.simulators.render.material import Material
from inhabit.envs.simulators.render.mesh import Mesh, Vector, join
from inhabit.envs.simulators.render.shapes.finishes import BLACK, PLASTICS, STEEL, WALNUT, plain
from inhabit.envs.simulators.render.shapes.look import Form, Look
from inhabit.envs.simulators.render.shapes.parts import lying
from inhabit.envs.simulators.render.solids import box
from inhabit.envs.simulators.render.sweep import prism, tube

_BLADE = plain(0.62, 0.64, 0.67, gloss=0.85)


def knife(size: Vector, look: Look, choose: Random) -> Mesh:
    """A kitchen knife: a dark grip and a pointed blade."""
    grip = choose.choice((BLACK, BLACK, WALNUT))

    def build(size: Vector) -> Mesh:
        x, y, z = size
        blade = [
            (-0.12, -0.5),
            (-0.12, 0.32),
            (0.22, 0.34),
            (0.42, 0.12),
            (0.5, -0.42),
            (0.48, -0.5),
        ]
        handle = [(-0.5, 0.35), (-0.46, 0.5), (-0.1, 0.42), (-0.1, -0.15), (-0.42, -0.22)]
        steel = prism([(a * x, b * z) for a, b in blade], 0.35 * y, _BLADE)
        return join([steel, prism([(a * x, b * z) for a, b in handle], y, grip)]).fitted(size)

    return lying(size, 0.16, build)


def butter_knife(size: Vector, look: Look, choose: Random) -> Mesh:
    """A table knife of one piece of steel, with a round end."""
    outline = [(-0.5, -0.3), (-0.5, 0.3), (-0.05, 0.22), (0.1, 0.3), (0.42, 0.5), (0.5, 0.1)]
    outline += [(0.48, -0.35), (0.0, -0.3)]
    return lying(size, 0.1, partial(_flat, outline))


def _flat(outline: list[Point], size: Vector) -> Mesh:
    x, y, z = size
    return prism([(a * x, b * z) for a, b in outline], y, _BLADE).fitted(size)


def _stem(size: Vector, end: float, material: Material, width: float = 0.5) -> Mesh:
    """A flat handle from -x that narrows towards `end`, and arches a little."""
    x, y, z = size
    thick = max(0.45 * y, 0.0012)
    outline = [(-0.5, -0.3), (-0.5, 0.3), (end - 0.2, 0.14), (end, 0.2), (end, -0.2)]
    outline.append((end - 0.2, -0.14))
    return prism([(a * x, 2 * b * width * z) for a, b in outline], thick, material)


def fork(size: Vector, look: Look, choose: Random) -> Mesh:
    """A fork with four tines."""

    def build(size: Vector) -> Mesh:
        x, y, z = size
        palm = [(0.15, -0.2), (0.15, 0.2), (0.26, 0.5), (0.32, 0.5), (0.32, -0.5), (0.26, -0.5)]
        thick = max(0.5 * y, 0.0012)
        parts = [_stem(size, 0.17, _BLADE), prism([(a * x, b * z) for a, b in palm], thick, _BLADE)]
        for k in range(4):
            tine = box((0.2 * x, thick, 0.14 * z), _BLADE)
            parts.append(tine.shifted(0.4 * x, 0.2 * y, (k - 1.5) * 0.285 * z))
        return join(parts).fitted(size)

    return lying(size, 0.13, build)


def spoon(size: Vector, look: Look, choose: Random) -> Mesh:
    """A spoon with a hollow bowl."""

    def build(size: Vector) -> Mesh:
        x, y, z = size
        bowl = _bowl((0.3 * x, 0.9 * y, z), _BLADE).shifted(0.35 * x)
        return join([_stem(size, 0.22, _BLADE, 0.35).shifted(y=0.05 * y), bowl]).fitted(size)

    return lying(size, 0.2, build)


def _bowl(size: Vector, material: Material) -> Mesh:
    """An oval hollow that fills a box."""
    profile = [(0.0, 0.0), (0.5, 0.08), (0.82, 0.4), (1.0, 1.0), (0.92, 1.0), (0.74, 0.48)]
    return lathe([*profile, (0.45, 0.22), (0.0, 0.16)], material, segments=12).fitted(size)


def ladle(size: Vector, look: Look, choose: Random) -> Mesh:
    """A deep round bowl on a long handle that rises."""
    metal = choose.choice((STEEL, BLACK))

    def build(size: Vector) -> Mesh:
        x, y, z = size
        bowl = _bowl((0.34 * x, y, z), metal).shifted(0.33 * x)
        path = [(-0.5 * x, 0.42 * y, 0.0), (-0.05 * x, 0.42 * y, 0.0), (0.18 * x, 0.4 * y, 0.0)]
        arm = tube(path, [0.09 * z, 0.06 * z, 0.06 * z], metal, sides=6)
        return join([bowl, arm]).fitted(size)

    return lying(size, 0.3, build)


def spatula(size: Vector, look: Look, choose: Random) -> Mesh:
    """A turner: a slotted blade on a long handle."""
    blade = choose.choice((STEEL, BLACK, PLASTICS[1]))

    def build(size: Vector) -> Mesh:
        x, y, z = size
        parts = [_stem(size, 0.2, BLACK, 0.3).shifted(y=0.15 * y)]
        thick = max(0.2 * y, 0.0015)
        for k in range(4):
            parts.append(
                box((0.3 * x, thick, 0.19 * z), blade).shifted(0.35 * x, 0, (k - 1.5) * 0.27 * z)
            )
        for end in (0.21, 0.49):
            parts.append(box((0.05 * x, thick, z), blade).shifted(end * x - 0.01 * x))
        return join(parts).fitted(size)

    return lying(size, 0.28, build)


KINDS: Mapping[str, Form] = {
    "Knife": Form(knife, (0.04, 0.015, 0.32)),
    "ButterKnife": Form(butter_knife, (0.02, 0.006, 0.24)),
    "Fork": Form(fork, (0.03, 0.02, 0.25)),
    "Spoon": Form(spoon, (0.04, 0.02, 0.21)),
    "Ladle": Form(ladle, (0.1, 0.06, 0.33)),
    "Spatula": Form(spatula, (0.08, 0.03, 0.32)),
}
