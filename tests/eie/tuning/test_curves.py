"""The page of a training is drawn from any log, also one without a step or with no numbers."""

from __future__ import annotations

import math

import pytest
from pydantic import JsonValue

from inhabit.eie.tuning.curves import page
from inhabit.eie.tuning.log import LogLine
from inhabit.eie.tuning.settings import TuneSettings

FIRST = LogLine(kind="judge", step=0, loss=2.5, accuracy=0.25, chance=0.2)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [FIRST],
        [FIRST, LogLine(kind="step", step=1, loss=math.nan, accuracy=0.5, rate=0.1, norm=math.inf)],
        [LogLine(kind="step", step=1, loss=2.0, rate=0.1, norm=1.0)],
    ],
    ids=["nothing", "no step", "no number", "no accuracy"],
)
def test_a_page_is_drawn(lines: list[LogLine]) -> None:
    asked: dict[str, JsonValue] = {
        "base": "local:{b}",
        "settings": TuneSettings().model_dump(mode="json"),
        "seed": 0,
        "sets": [],
        "software": {},
    }
    text = page(asked, lines)
    assert "local:{b}, tuned" in text
    assert "nan" not in text.lower()
