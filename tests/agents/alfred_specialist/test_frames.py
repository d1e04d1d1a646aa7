from pathlib import Path

import numpy as np
import pytest

from alfred_training.eyes import (
    average_precision,
    best_thresholds,
    mean_precision,
)
from alfred_training.shards import (
    classes_in,
    label_frame,
    load,
    save,
)
from inhabit.envs.core import Observation, SceneObject

THINGS = (
    SceneObject("mug_1", "mug", {}),
    SceneObject("fridge_1", "fridge", {"open": True}),
    SceneObject("pen_1", "pen", {}, held=True),
)


def seen() -> Observation:
    """160x160: a mug in the top left cell, a fridge all along the bottom, a pen in the hand."""
    ids = np.full((160, 160), -1, np.int32)
    ids[:8, :8] = 0
    ids[144:] = 1
    ids[80:96, 80:96] = 2
    names = ("mug_1", "fridge_1", "pen_1")
    return Observation("", rgb=np.zeros((160, 160, 3), np.uint8), instances=ids, names=names)


def test_cells_say_what_they_show_and_leave_out_the_hand() -> None:
    frame = label_frame(seen(), THINGS)
    bottom = frozenset(range(90, 100))
    assert frame.shown == {"mug": frozenset({0}), "fridge": bottom, "open fridge": bottom}


def test_what_is_held_is_a_class_of_its_own_where_asked() -> None:
    frame = label_frame(seen(), THINGS, cells=5, held=True)
    assert frame.shown["held"] == frame.shown["held pen"] == {12}
    assert "pen" not in frame.shown
    assert frame.shown["fridge"] == frozenset(range(20, 25))


def test_a_picture_without_masks_is_refused() -> None:
    with pytest.raises(ValueError, match="masks"):
        label_frame(Observation("", rgb=np.zeros((4, 4, 3), np.uint8)), THINGS)


def test_shards_give_back_what_was_saved(tmp_path: Path) -> None:
    frame = label_frame(seen(), THINGS)
    save(tmp_path / "a.npz", [frame, frame])
    save(tmp_path / "b.npz", [label_frame(seen(), THINGS[:1])])
    files = sorted(tmp_path.glob("*.npz"))
    assert classes_in(files, least=3) == ("mug",)
    frames = load(files, classes_in(files, least=2))
    assert frames.classes == ("fridge", "mug", "open fridge")
    assert frames.rgb.shape == (3, 160, 160, 3)
    assert frames.shown[:, 1, 0, 0].all()
    assert frames.shown[:, 0, 9].sum() == 20


def test_average_precision_of_a_known_order() -> None:
    sure = np.array([0.9, 0.8, 0.7, 0.1], np.float32)
    assert average_precision(sure, np.array([True, False, True, False])) == pytest.approx(5 / 6)


def test_rare_classes_are_not_measured_and_marks_are_where_f1_is_best(tmp_path: Path) -> None:
    save(
        tmp_path / "a.npz",
        [label_frame(seen(), THINGS[:1])] * 5 + [label_frame(seen(), THINGS[1:])] * 2,
    )
    frames = load([tmp_path / "a.npz"], ("fridge", "mug"))
    sure = np.array([[0.1, 0.6]] * 5 + [[0.8, 0.3]] * 2, np.float32)
    assert mean_precision(sure, frames) == (1.0, {"mug": 1.0})
    assert best_thresholds(sure, frames) == pytest.approx((0.8, 0.6))
