"""Shares of ranked candidates."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inhabit.agents.core import Ranked
from inhabit.episodes.scoring.likelihood import shares

logprobs = st.lists(st.floats(max_value=0.0) | st.just(math.nan), max_size=8)


def ranked(values: list[float]) -> list[Ranked]:
    return [Ranked(text=f"a{i}", logprob=v, tokens=2) for i, v in enumerate(values)]


@given(logprobs)
def test_shares_are_of_one_whole(values: list[float]) -> None:
    found = shares(ranked(values))
    assert [one.text for one in found] == [f"a{i}" for i in range(len(values))]
    assert all(0 <= one.share <= 1 for one in found)
    if values:
        assert sum(one.share for one in found) == pytest.approx(1)


def test_a_share_is_the_probability_among_those_recorded() -> None:
    first, second = shares(ranked([math.log(0.03), math.log(0.01)]))
    assert (first.share, second.share) == (pytest.approx(0.75), pytest.approx(0.25))
    assert first.mean == pytest.approx(math.log(0.03) / 2)


def test_very_unlikely_texts_are_told_apart_too() -> None:
    first, second = shares(ranked([-2000.0, -2001.0]))
    assert first.share / second.share == pytest.approx(math.e)
