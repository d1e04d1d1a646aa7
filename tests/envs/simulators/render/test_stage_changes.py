"""Bodies come, move and go."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from render_primitives import UPRIGHT, box, furnish, furnished, sphere, turned
from waiting import PATIENCE

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.stage import Frame, Light, Stage

VIEW = Camera((0.2, 1.5, 0), 5, 20)


def assert_equal(one: Frame, other: Frame) -> None:
    assert one.names == other.names
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.depth, other.depth)
    np.testing.assert_array_equal(one.rgb, other.rgb)


def test_a_stage_with_a_past_looks_like_a_new_one() -> None:
    old, new = Stage(), furnished()
    new.put("cup", box((0.1, 0.2, 0.1)), turned(30), (0.4, 0.9, 1.9))
    old.put("floor", box((1, 1, 1)), UPRIGHT, (0, 3, 0))
    old.put("gone", box((1, 1, 1)), UPRIGHT, (0, 1, 2))
    old.render(VIEW, 40, 40)
    furnish(old)
    old.put("cup", box((0.1, 0.2, 0.1)), UPRIGHT, (0, 0, 0))
    old.render(VIEW, 40, 40)
    old.remove("gone")
    old.render(VIEW, 40, 40)
    old.move("cup", turned(30), (0.4, 0.9, 1.9))
    assert_equal(old.render(VIEW, 80, 60, samples=2), new.render(VIEW, 80, 60, samples=2))


def test_a_moved_body_is_where_it_went_and_takes_its_shadow_along() -> None:
    stage = furnished()
    before = stage.render(VIEW, 80, 60)
    index = stage.names.index("ball")
    stage.move("ball", UPRIGHT, (0.9, 0.15, 1.4))
    after = stage.render(VIEW, 80, 60)
    assert (before.ids == index).any() and (after.ids == index).any()
    assert (
        np.argwhere(after.ids == index)[:, 1].min() > np.argwhere(before.ids == index)[:, 1].max()
    )
    same = (before.ids == after.ids) & (before.ids == stage.names.index("floor"))
    assert (before.rgb[same] != after.rgb[same]).any()


def test_a_removed_body_uncovers_what_was_behind() -> None:
    stage = furnished()
    name = stage.names.index("ball")
    behind = stage.render(VIEW, 80, 60).ids == name
    stage.remove("ball")
    frame = stage.render(VIEW, 80, 60)
    assert "ball" not in frame.names
    assert behind.any()
    bare = Stage()
    furnish(bare, ball=False)
    np.testing.assert_array_equal(frame.ids, bare.render(VIEW, 80, 60).ids)


def test_another_mesh_in_place_keeps_the_index() -> None:
    stage = furnished()
    stage.put("floor", box((6, 0.1, 6)), UPRIGHT, (0, -0.05, 0))
    assert stage.names == ("floor", "table", "ball")


def test_what_casts_no_shadow_may_move_freely() -> None:
    stage, bare = furnished(), furnished()
    stage.put("held", sphere(0.1, steps=8), UPRIGHT, (5.0, 5.0, 5.0), casts_shadow=False)
    stage.render(VIEW, 20, 20)
    stage.move("held", UPRIGHT, (0.0, 2.2, 1.0))
    np.testing.assert_array_equal(stage.render(VIEW, 80, 60).rgb, bare.render(VIEW, 80, 60).rgb)


def test_an_empty_stage_is_a_picture_of_nothing() -> None:
    frame = Stage().render(VIEW, 20, 10)
    assert frame.rgb.shape == (10, 20, 3)
    assert (frame.ids == -1).all() and np.isinf(frame.depth).all() and frame.names == ()


def test_mistakes_are_named() -> None:
    stage = furnished()
    with pytest.raises(KeyError, match="spoon"):
        stage.move("spoon", UPRIGHT, (0, 0, 0))
    with pytest.raises(KeyError, match="spoon"):
        stage.remove("spoon")
    with pytest.raises(ValueError, match="rotation"):
        stage.put("spoon", box((1, 1, 1)), (0, 90, 0), (0, 0, 0))
    with pytest.raises(ValueError, match="finite"):
        stage.move("ball", UPRIGHT, (0, float("nan"), 0))
    with pytest.raises(ValueError, match="pixel"):
        stage.render(VIEW, 0, 10)
    with pytest.raises(ValueError, match="sample"):
        stage.render(VIEW, 10, 10, samples=0)
    with pytest.raises(ValueError, match="reach"):
        Light((0, 3, 0), reach=0.0)
    with pytest.raises(ValueError, match="finite"):
        Light((0, float("inf"), 0))
    with pytest.raises(ValueError, match="field of view"):
        Camera((0, 0, 0), 0, 0, fov=180)
    with pytest.raises(ValueError, match="near"):
        Camera((0, 0, 0), 0, 0, near=2, far=1)
    with pytest.raises(ValueError, match="finite"):
        Camera((0, 0, float("inf")), 0, 0)


def digest() -> str:
    frame = furnished().render(VIEW, 90, 60, samples=2)
    parts = (frame.rgb, frame.depth, frame.ids)
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


@pytest.mark.slow  # the golden record compares pictures of other processes too
def test_another_process_draws_the_same_bytes() -> None:
    here = Path(__file__).parent
    # The package of this process, not another one that is installed: it may draw differently.
    paths = [str(here), *filter(None, sys.path)]
    found = subprocess.run(
        [sys.executable, "-c", "from test_stage_changes import digest; print(digest())"],
        cwd=here,
        env={**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert found.stdout.strip() == digest() == digest()
