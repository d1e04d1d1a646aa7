import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inhabit.envs.simulators.household.geometry.boxes import (
    Box,
    angles,
    box_metadata,
    read_box,
    rotation,
    vector,
    yaw,
)
from inhabit.envs.simulators.household.placement.surfaces import Rectangle, clear
from inhabit.envs.simulators.household.rooms import ithor

degrees = st.floats(-360, 360)


@given(degrees, degrees, degrees)
def test_angles_give_the_rotation_again(x: float, y: float, z: float) -> None:
    turn = rotation({"x": x, "y": y, "z": z})
    assert np.allclose(turn @ turn.T, np.eye(3), atol=1e-9)
    assert np.allclose(rotation(angles(turn)), turn, atol=1e-5)


def test_yaw_carries_ahead_to_the_right() -> None:
    assert np.allclose(yaw(90.0) @ (0, 0, 1), (1, 0, 0))


def test_boxes_are_read_as_thor_wrote_them() -> None:
    for metadata in ithor.load("FloorPlan1").objects:
        oriented = metadata["objectOrientedBoundingBox"]
        if oriented is None:
            continue
        box = read_box(metadata)
        assert np.allclose(box.corners, oriented["cornerPoints"], atol=0.003)
        assert np.allclose(box.axes, rotation(metadata["rotation"]))
        again = box_metadata(box, oriented=True)
        assert np.allclose(
            again["objectOrientedBoundingBox"]["cornerPoints"], oriented["cornerPoints"], atol=0.003
        )


def test_axis_aligned_corners_come_in_thors_order() -> None:
    metadata = next(o for o in ithor.load("FloorPlan1").objects if o["objectType"] == "Drawer")
    given_box = metadata["axisAlignedBoundingBox"]
    made = box_metadata(read_box(metadata), oriented=False)["axisAlignedBoundingBox"]
    assert np.allclose(made["cornerPoints"], given_box["cornerPoints"], atol=1e-5)
    assert np.allclose(vector(made["size"]), vector(given_box["size"]), atol=1e-5)


def _rectangle(x: float, z: float, half_x: float, half_z: float, turn: float) -> Rectangle:
    return Rectangle.of(Box(np.array((x, 0.0, z)), np.array((half_x, 0.1, half_z)), yaw(turn)))


@given(
    st.floats(-2, 2),
    st.floats(-2, 2),
    st.floats(0.05, 1),
    st.floats(0.05, 1),
    st.floats(0, 180),
    st.floats(0, 180),
)
def test_footprints_are_clear_exactly_where_no_point_is_shared(
    x: float, z: float, half_x: float, half_z: float, turn: float, other_turn: float
) -> None:
    shape, other = _rectangle(x, z, half_x, half_z, turn), _rectangle(0, 0, 0.4, 0.7, other_turn)
    free = bool(clear(shape, shape.center[None], [other], 0.0)[0])
    sides = np.linspace(-1, 1, 41)
    grid = np.stack(np.meshgrid(sides, sides), -1).reshape(-1, 2) * shape.half
    shared = any(other.holds(point) for point in shape.center + grid @ shape.axes.T)
    if free:
        assert not shared
    # The other way round a corner may touch between two points of the grid: shrink it a little.
    tight = _rectangle(x, z, 0.9 * half_x - 0.01, 0.9 * half_z - 0.01, turn)
    if not shared:
        assert clear(tight, tight.center[None], [_rectangle(0, 0, 0.3, 0.6, other_turn)], 0.0)[0]
