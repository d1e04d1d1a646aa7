"""Whatever a text holds, it fits its place on an image."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from inhabit.episodes.reports.video.lettering import length, printable, shorten, wrap, write

widths = st.integers(40, 600)
sizes = st.sampled_from([12, 18, 26])


@given(st.text(), sizes, widths, st.integers(1, 6))
def test_no_line_is_wider_or_one_too_many(text: str, size: int, width: int, lines: int) -> None:
    wrapped = wrap(text, size, width, lines)
    assert len(wrapped) <= lines
    assert all(line and length(line, size) <= width for line in wrapped)


@given(st.text(st.characters(codec="ascii", exclude_categories=["C"])), sizes, widths)
def test_nothing_is_lost_where_there_is_room(text: str, size: int, width: int) -> None:
    joined = "".join(wrap(text, size, width, 10_000))
    assert joined.replace(" ", "") == "".join(text.split())


def test_an_ellipsis_says_that_a_text_was_cut() -> None:
    assert wrap("put the mug in the sink and wait", 20, 120, 2)[-1].endswith("…")
    assert shorten("put the mug in the sink", 20, 120).endswith("…")
    assert shorten("mug", 20, 120) == "mug"


def test_letters_that_the_typeface_lacks_are_written_plainly() -> None:
    assert printable("Café\n“mug” \ue123 ½") == "Cafe “mug” ? 12"


def test_other_scripts_are_drawn_in_typefaces_of_this_machine() -> None:
    goals = [
        text
        for text in ("把杯子放进水槽", "ضع الكوب", "שים את הספל", "Κούπα")
        if "?" not in printable(text)
    ]
    if not goals:
        pytest.skip("no typeface of this machine has other scripts")
    drawn = set()
    for goal in goals:
        canvas = Image.new("RGB", (400, 40))
        write(ImageDraw.Draw(canvas), (5, 5), goal, (255, 255, 255), 20)
        box = canvas.getbbox()
        assert box is not None and abs(box[2] - 5 - length(goal, 20)) < 6
        drawn.add(canvas.tobytes())
    assert len(drawn) == len(goals)


def test_a_very_long_text_is_quick() -> None:
    assert len(wrap("mug " * 1_000_000, 20, 400, 3)) == 3
