"""Ids and depth, against rays that are cast by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from render_primitives import UPRIGHT, Block, box, furnished, rays, sheet, sphere, turned

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.stage import Frame, Stage


def cast(blocks: list[Block], camera: Camera, width: int, height: int) -> tuple[object, object]:
    ray = rays(camera, width, height)
    depths = np.stack([block.depth(camera, ray) for block in blocks])
    depth = depths.min(axis=0)
    return np.where(np.isfinite(depth), depths.argmin(axis=0), -1), depth


def assert_same_but_edges(frame: Frame, ids: object, depth: object) -> None:
    """Rounding may decide a pixel whose centre lies on an edge; nothing else may differ."""
    wrong = frame.ids != ids
    assert wrong.mean() < 0.002
    padded = np.pad(ids, 1, mode="edge")
    height, width = frame.ids.shape
    neighbours = np.stack(
        [padded[i : i + height, j : j + width] for i in range(3) for j in range(3)]
    )
    assert (neighbours == frame.ids).any(axis=0).all()
    right = ~wrong & np.isfinite(depth)
    np.testing.assert_allclose(frame.depth[right], depth[right], rtol=2e-5, atol=1e-4)
    assert np.isinf(frame.depth[frame.ids < 0]).all()


coordinate = st.floats(-2.0, 2.0)
blocks = st.builds(
    Block,
    st.tuples(*[st.floats(0.1, 1.5)] * 3),
    st.builds(turned, st.floats(-180, 180), st.floats(-90, 90)),
    st.tuples(coordinate, coordinate, st.floats(0.0, 5.0)),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(blocks, min_size=1, max_size=6),
    st.floats(-180, 180),
    st.floats(-60, 60),
    st.floats(30, 110),
    st.integers(20, 70),
    st.integers(20, 70),
)
def test_boxes_agree_with_cast_rays(
    blocks: list[Block], yaw: float, pitch: float, fov: float, width: int, height: int
) -> None:
    stage, camera = Stage(), Camera((0.1, 0.2, -0.3), yaw, pitch, fov)
    for index, block in enumerate(blocks):
        block.stand(stage, f"box {index}")
    frame = stage.render(camera, width, height, rgb=False)
    depths = np.stack([block.depth(camera, rays(camera, width, height)) for block in blocks])
    depth = depths.min(axis=0)
    seen = frame.ids >= 0
    assert (seen != np.isfinite(depth)).mean() < 0.03
    both = seen & np.isfinite(depth)
    # Two boxes may cut through each other, so at one depth either may be named.
    named = np.take_along_axis(depths, np.maximum(frame.ids, 0)[None], axis=0)[0]
    slack = 1e-3 * np.maximum(1.0, frame.depth[both])
    assert (np.abs(named[both] - frame.depth[both]) > slack).sum() <= 0.03 * frame.ids.size
    assert (frame.depth[both] > depth[both] + slack).sum() <= 0.03 * frame.ids.size


@pytest.mark.parametrize("seed", range(6))
def test_scattered_boxes_to_the_pixel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    blocks = []
    for i in range(12):
        place = (i % 4 - 1.5, i // 4 - 1.0, rng.uniform(2.0, 5.0))
        size = tuple(rng.uniform(0.1, 0.5, 3))
        blocks.append(Block(size, turned(rng.uniform(0, 360), rng.uniform(-90, 90)), place))
    stage = Stage()
    for index, block in enumerate(blocks):
        block.stand(stage, f"box {index}")
    camera = Camera((0, 0.1, -0.5), rng.uniform(-15, 15), rng.uniform(-15, 15), 60)
    frame = stage.render(camera, 160, 120, rgb=False)
    assert_same_but_edges(frame, *cast(blocks, camera, 160, 120))
    assert len(np.unique(frame.ids)) > 6


def test_a_ball_is_round_and_as_far_as_it_should_be() -> None:
    stage, camera = Stage(), Camera((0, 0, 0), 0, 0, 60)
    stage.put("ball", sphere(0.5), turned(30, 20), (0.2, -0.1, 2.0))
    frame = stage.render(camera, 101, 101, rgb=False)
    ray = rays(camera, 101, 101)
    center = np.array((0.2, -0.1, 2.0))
    a, b, c = (ray**2).sum(-1), ray @ center, center @ center - 0.25
    inside = b * b - a * c > 0
    assert ((frame.ids == 0) != inside).mean() < 0.005
    both = (frame.ids == 0) & inside
    depth = (b - np.sqrt(np.maximum(b * b - a * c, 0))) / a
    edge = b * b - a * c < 0.02
    assert np.abs(frame.depth - depth)[both & ~edge].max() < 2e-3


@pytest.mark.parametrize("pitch", [0.0, 20.0, 45.0, 75.0])
def test_depth_of_a_floor_that_runs_under_the_camera(pitch: float) -> None:
    stage, camera = Stage(), Camera((0.3, 1.5, -0.2), 35, pitch, 80)
    stage.put("floor", sheet(60, 60), UPRIGHT, (0, 0, 0))
    frame = stage.render(camera, 120, 90, rgb=False)
    down = rays(camera, 120, 90)[..., 1]
    with np.errstate(divide="ignore"):
        depth = np.where(down < 0, -1.5 / down, np.inf)
    seen = depth < 19.99
    assert ((frame.ids == 0) == (depth < 20)).mean() > 0.999
    assert (frame.ids[seen] == 0).all()
    assert np.abs(frame.depth[seen] - depth[seen]).max() < 1e-3


def test_many_triangles_leave_no_gap_where_one_would_not() -> None:
    camera = Camera((0.13, 1.1, -0.7), 12, 33, 75, far=100)
    frames = []
    for cells in (1, 40):
        stage = Stage()
        stage.put("wall", sheet(90, 90), turned(0, 90), (0, 0, 9))
        stage.put("floor", sheet(3, 3, cells=cells), turned(9), (0, 0, 1.4))
        frames.append(stage.render(camera, 200, 200, rgb=False))
    differ = frames[0].ids != frames[1].ids
    floor = frames[0].ids == 1
    inner = floor.copy()
    for axis in (0, 1):
        inner &= np.roll(floor, 1, axis) & np.roll(floor, -1, axis)
    assert inner.mean() > 0.2
    assert not differ[inner].any()
    assert np.abs(frames[0].depth[~differ] - frames[1].depth[~differ]).max() < 1e-3


def test_nothing_before_the_near_plane_and_nothing_beyond_the_far_one() -> None:
    stage = Stage()
    stage.put("close", sheet(0.3, 0.3), turned(0, 90), (0, 0, 0.5))
    stage.put("distant", sheet(90, 90), turned(0, 90), (0, 0, 8))
    both = stage.render(Camera((0, 0, 0), 0, 0), 40, 40, rgb=False)
    assert set(np.unique(both.ids)) == {0, 1}
    far = stage.render(Camera((0, 0, 0), 0, 0, near=0.6), 40, 40, rgb=False)
    assert set(np.unique(far.ids)) == {1}
    close = stage.render(Camera((0, 0, 0), 0, 0, far=7.9), 40, 40, rgb=False)
    assert set(np.unique(close.ids)) == {-1, 0}


@pytest.mark.parametrize("depth", [0.0, 0.01, 0.05, 0.2, 1.0])
def test_a_camera_in_a_wall_sees_something_and_fails_at_nothing(depth: float) -> None:
    stage = Stage()
    stage.put("wall", box((4, 3, 2)), UPRIGHT, (0, 0, 1))
    stage.put("post", sphere(0.02, steps=6), UPRIGHT, (0.0, 0.0, depth))
    for yaw in range(0, 360, 45):
        frame = stage.render(Camera((0, 0, depth), yaw, 10), 50, 40)
        assert frame.rgb is not None and frame.rgb.shape == (40, 50, 3)
        assert (frame.depth >= 0.02 - 1e-6).all()


def test_both_sides_of_a_sheet_are_seen() -> None:
    stage = Stage()
    stage.put("sheet", sheet(2, 2), UPRIGHT, (0, 0, 2))
    above = stage.render(Camera((0, 1, 0), 0, 25), 30, 30, rgb=False)
    below = stage.render(Camera((0, -1, 0), 0, -25), 30, 30, rgb=False)
    assert (above.ids == 0).sum() > 50
    np.testing.assert_array_equal(above.ids, below.ids[::-1])


@pytest.mark.parametrize(
    ("yaw", "pitch", "place"),
    [
        (0, 0, (0, 0, 2)),
        (90, 0, (2, 0, 0)),
        (180, 0, (0, 0, -2)),
        (-90, 0, (-2, 0, 0)),
        (0, 90, (0, -2, 0)),
        (0, -90, (0, 2, 0)),
    ],
)
def test_where_a_camera_looks(yaw: float, pitch: float, place: tuple[float, float, float]) -> None:
    stage = Stage()
    stage.put("ball", sphere(0.2, steps=8), UPRIGHT, place)
    frame = stage.render(Camera((0, 0, 0), yaw, pitch), 31, 31, rgb=False)
    assert frame.ids[15, 15] == 0
    assert frame.depth[15, 15] == pytest.approx(1.8, abs=5e-3)
    assert frame.ids[0, 0] == -1


def test_right_is_right_and_up_is_up() -> None:
    stage = Stage()
    stage.put("to the right", sphere(0.1, steps=8), UPRIGHT, (0.5, 0, 2))
    stage.put("above", sphere(0.1, steps=8), UPRIGHT, (0, 0.5, 2))
    ids = stage.render(Camera((0, 0, 0), 0, 0), 60, 60, rgb=False).ids
    assert np.argwhere(ids == 0)[:, 1].min() > 30
    assert np.argwhere(ids == 1)[:, 0].max() < 30


@pytest.mark.slow
def test_ids_without_colours_are_those_of_the_full_picture() -> None:
    stage = furnished()
    for yaw in (-20, 15):
        camera = Camera((0.2, 1.5, 0), yaw, 20)
        quick = stage.render(camera, 90, 70, rgb=False)
        assert quick.rgb is None
        for full in (
            stage.render(camera, 90, 70),
            stage.render(camera, 90, 70, samples=2, shadow=False),
        ):
            np.testing.assert_array_equal(quick.ids, full.ids)
            np.testing.assert_array_equal(quick.depth, full.depth)
            assert quick.names == full.names
