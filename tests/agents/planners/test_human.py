"""Pictures in a terminal."""

from __future__ import annotations

import numpy as np
import pytest

from inhabit.agents.planners.human import blocks


def test_two_pixels_a_character() -> None:
    rgb = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [9, 8, 7]]], np.uint8)
    text = blocks(rgb, width=2)
    assert text.plain == "▀▀"
    colours = [
        (span.style.color.get_truecolor(), span.style.bgcolor.get_truecolor())
        for span in text.spans
    ]
    assert colours == [((255, 0, 0), (0, 0, 255)), ((0, 255, 0), (9, 8, 7))]


@pytest.mark.parametrize(("shape", "lines"), [((300, 300), 36), ((100, 300), 12), ((1, 300), 1)])
def test_the_shape_is_kept(shape: tuple[int, int], lines: int) -> None:
    text = blocks(np.zeros((*shape, 3), np.uint8), width=72)
    assert [len(line) for line in text.plain.split("\n")] == [72] * lines
