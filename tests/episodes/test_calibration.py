"""Whether confidences are what they say, and the plot of it."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

import pytest

from inhabit.episodes.scoring.likelihood import calibrate


def test_the_error_by_hand() -> None:
    """Four at .95, half of them right; one at .25, wrong: (4 x .45 + 1 x .25) / 5."""
    found = calibrate([(0.95, True), (0.95, False), (0.95, True), (0.95, False), (0.25, False)])
    assert found.error == pytest.approx((4 * 0.45 + 0.25) / 5)
    assert [b.decisions for b in found.bins] == [0, 0, 1, 0, 0, 0, 0, 0, 0, 4]


def test_whoever_is_right_as_often_as_sure_is_calibrated() -> None:
    draw = random.Random(0)
    sure = [draw.random() for _ in range(20_000)]
    assert calibrate([(p, draw.random() < p) for p in sure]).error < 0.02
    assert calibrate([(p, draw.random() < 0.5) for p in sure]).error > 0.2


def test_the_plot_is_svg_and_its_dots_lie_where_they_should() -> None:
    tree = ET.fromstring(calibrate([(0.1, False), (1.0, True)]).svg())
    dots = [one for one in tree.iter() if one.tag.endswith("circle")]
    assert [(dot.get("cx"), dot.get("cy")) for dot in dots] == [
        ("76.0", "364.0"),
        ("364.0", "44.0"),
    ]


def test_nothing_can_be_said_of_nothing() -> None:
    with pytest.raises(ValueError, match="one at least"):
        calibrate([])
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        calibrate([(1.5, True)])
