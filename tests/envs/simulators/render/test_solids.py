from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surfaces import agreement, assert_sound, open_edges, volume

from inhabit.envs.simulators.render.lathe import (
    box,
    cylinder,
    ellipsoid,
    lathe,
    sheet,
    terrace,
    torus,
)
from inhabit.envs.simulators.render.mesh import Material
from inhabit.envs.simulators.render.sweep import prism, tube

CLAY, GLAZE = Material((0.7, 0.5, 0.4)), Material((0.2, 0.3, 0.8))
CUP = [(0, 0), (0.4, 0), (0.5, 1), (0.45, 1), (0.35, 0.1), (0, 0.1)]
L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3)]

# name: (mesh, its volume, the share by which corners may fall short of a round body)
BODIES = {
    "box": (box((1, 2, 3), CLAY), 6, 0),
    "rounded box": (box((1, 2, 3), CLAY, bevel=0.1), 6, 0.03),
    "cylinder": (cylinder(0.5, 2, CLAY, segments=48), pi / 2, 0.01),
    "rounded cylinder": (cylinder(0.5, 2, CLAY, bevel=0.05, segments=48), pi / 2, 0.02),
    "cone": (cylinder(0.5, 1, CLAY, top=0, segments=48), pi / 12, 0.01),
    "funnel": (cylinder(0, 1, CLAY, top=0.5, segments=48), pi / 12, 0.01),
    "ellipsoid": (ellipsoid((1, 2, 3), CLAY, rings=24, segments=48), pi, 0.02),
    "cushion": (ellipsoid((1, 2, 3), CLAY, square=(0.9, 0.9), rings=24, segments=48), 6, 0.1),
    "torus": (torus(1, 0.5, CLAY, segments=48, sides=32), pi * pi / 8, 0.02),
    "cup": (lathe(CUP, CLAY, segments=48), pi * (0.61 / 3 - 0.9 * 0.4825 / 3), 0.02),
    "bar": (tube([(0, 0, 0), (0, 3, 0)], 0.5, CLAY, sides=48), 3 * pi / 4, 0.01),
    "bent bar": (tube([(0, 0, 0), (0, 1, 0), (1, 1, 0)], 0.1, CLAY), 2 * pi / 100, 0.2),
    "prism": (prism(L_SHAPE, 0.5, CLAY), 2, 0),
    "prism, the other way round": (prism(L_SHAPE[::-1], 0.5, CLAY), 2, 0),
    "tray": (terrace([(2, 3, 0), (2, 3, 1), (1.8, 2.8, 1), (1.8, 2.8, 0.1)], CLAY), 1.464, 0),
    "sheet": (sheet(np.ones((4, 5)), (2, 0.5, 3), CLAY), 3, 0),
    "crumpled sheet": (
        sheet(np.random.default_rng(0).random((6, 5)), (1, 0.3, 1), CLAY), 0.15, 0.3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_bodies_are_closed_and_of_the_right_volume(name):
    mesh, expected, short = BODIES[name]
    assert_sound(mesh)
    assert open_edges(mesh) == 0
    assert agreement(mesh).min() > 0.3
    assert expected * (1 - short) - 1e-4 <= volume(mesh) <= expected * (1 + short / 2) + 1e-4


@pytest.mark.parametrize("mesh", [box((1, 2, 3), CLAY, bevel=0.2), ellipsoid((1, 2, 3), CLAY)])
def test_rounded_bodies_still_fill_their_box(mesh):
    low, high = mesh.bounds
    np.testing.assert_allclose(high - low, (1, 2, 3), atol=1e-6)


def test_a_turned_body_is_smooth_where_its_profile_is_and_sharp_where_not():
    ball = lathe([(np.cos(a), np.sin(a)) for a in np.linspace(-pi / 2, pi / 2, 13)], CLAY)
    assert len(ball.vertices) == 13 * 16
    can = cylinder(1, 1, CLAY)
    assert len(can.vertices) == 6 * 16  # each rim twice
    sides = can.vertices[:, 1][np.abs(can.normals[:, 1]) < 1e-6]
    assert set(sides.tolist()) == {-0.5, 0.5}


def test_each_belt_has_its_own_material():
    cup = lathe(CUP, [CLAY, CLAY, GLAZE, GLAZE, GLAZE])
    heights = cup.vertices[cup.faces].mean(axis=1)[:, 1]
    assert heights[cup.materials < 2].min() == 0
    assert {cup.palette[m] for m in cup.materials[heights == 1]} == {GLAZE}
    tray = terrace([(2, 2, 0), (2, 2, 1), (1, 1, 1), (1, 1, 0.5)], (CLAY, CLAY, GLAZE))
    heights = tray.vertices[tray.faces][..., 1]
    inner = (heights == 0.5).all(axis=1)
    assert {tray.palette[m] for m in tray.materials[inner]} == {GLAZE}


@settings(max_examples=50, deadline=None)
@given(radii=st.lists(st.floats(0.2, 2), min_size=3, max_size=14), height=st.floats(0.1, 2))
def test_any_simple_outline_makes_a_prism(radii, height):
    turn = np.arange(len(radii)) * 2 * pi / len(radii)
    star = [(float(r * np.cos(a)), float(r * np.sin(a))) for r, a in zip(radii, turn, strict=True)]
    x, z = np.array(star).T
    area = abs(float((x * np.roll(z, -1) - np.roll(x, -1) * z).sum())) / 2
    mesh = prism(star, height, CLAY)
    assert open_edges(mesh) == 0
    assert volume(mesh) == pytest.approx(area * height, rel=1e-3)
