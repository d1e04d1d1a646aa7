import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from surfaces import agreement, assert_sound, open_edges, volume

from inhabit.envs.simulators.render.lathe import box
from inhabit.envs.simulators.render.mesh import AXES, Material, join
from inhabit.envs.simulators.render.sweep import prism

RED, BLUE = Material((1, 0, 0)), Material((0, 0, 1))
WEDGE = prism([(0, 0), (3, 0), (0, 1)], 2, RED)
"""Has no symmetry that could hide a mirrored or a swapped axis."""

factor = st.floats(0.1, 3).flatmap(lambda size: st.sampled_from((size, -size)))


@given(x=factor, y=factor, z=factor, degrees=st.floats(-400, 400), axis=st.sampled_from(AXES))
def test_transforms_keep_the_inside_inside(x, y, z, degrees, axis):
    moved = WEDGE.scaled(x, y, z).turned(axis, degrees).shifted(1, -2, 3)
    assert_sound(moved)
    assert volume(moved) == pytest.approx(3 * abs(x * y * z), rel=1e-4)
    assert agreement(moved).min() > 0.999


def test_turning_is_in_unitys_sense():
    right, up, forward = np.eye(3)
    for axis, start, end in (("y", forward, right), ("x", up, forward), ("z", right, up)):
        arrow = box((0.1, 0.1, 0.1), RED).shifted(*start).turned(axis, 90)
        np.testing.assert_allclose(arrow.vertices.mean(axis=0), end, atol=1e-6)


@given(order=st.permutations([0, 1, 2]))
def test_axes_can_be_reordered(order):
    moved = WEDGE.reordered(*order)
    np.testing.assert_array_equal(moved.vertices, WEDGE.vertices[:, order])
    assert volume(moved) == pytest.approx(3)
    assert agreement(moved).min() > 0.999


@pytest.mark.parametrize("axis", AXES)
def test_what_stood_along_y_lies_along_another_axis(axis):
    tall = box((0.2, 1.0, 0.1), RED).along(axis)
    low, high = tall.bounds
    assert (high - low)[AXES.index(axis)] == pytest.approx(1.0)


def test_fitting_fills_a_box_exactly():
    fitted = WEDGE.shifted(5, 5, 5).fitted((0.3, 0.7, 0.2))
    low, high = fitted.bounds
    np.testing.assert_allclose(high, (0.15, 0.35, 0.1), atol=1e-6)
    np.testing.assert_allclose(low, (-0.15, -0.35, -0.1), atol=1e-6)


def test_fitting_like_another_takes_along_what_sticks_out():
    body = box((2, 2, 2), RED)
    opened = join([body, box((1, 1, 1), BLUE).shifted(z=2)])
    low, high = opened.fitted((1, 1, 1), like=body).bounds
    np.testing.assert_allclose(low, (-0.5, -0.5, -0.5), atol=1e-6)
    np.testing.assert_allclose(high, (0.5, 0.5, 1.25), atol=1e-6)


def test_joining_keeps_each_faces_material_and_each_material_once():
    both = join([box((1, 1, 1), RED), box((1, 1, 1), BLUE).shifted(2), box((1, 1, 1), RED)])
    assert_sound(both)
    assert both.palette == (RED, BLUE)
    assert [both.palette[m] for m in both.materials] == [RED] * 12 + [BLUE] * 12 + [RED] * 12
    blue = both.vertices[both.faces[12:24]]
    assert blue[..., 0].min() == pytest.approx(1.5)
    assert open_edges(both) == 0


def test_a_mesh_is_never_changed_in_place():
    before = WEDGE.vertices.tobytes(), WEDGE.normals.tobytes(), WEDGE.faces.tobytes()
    WEDGE.shifted(1).scaled(-1, 2, 3).turned("x", 20).reordered(2, 1, 0).fitted((1, 1, 1))
    assert before == (WEDGE.vertices.tobytes(), WEDGE.normals.tobytes(), WEDGE.faces.tobytes())


def test_mistakes_are_told():
    with pytest.raises(ValueError, match="at least one mesh"):
        join([])
    with pytest.raises(ValueError, match="must not be zero"):
        WEDGE.scaled(1, 0, 1)
