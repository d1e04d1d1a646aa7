"""Flats are the same for the same seed, and each caller's own."""

from __future__ import annotations

import pytest

from inhabit.envs.virtualhome.flats.build import build


@pytest.mark.parametrize("plan", [0, 3, 6])
def test_a_flat_that_somebody_changes_is_built_again_as_it_was(plan: int) -> None:
    mine = build(plan, 5)
    first, count = dict(mine["nodes"][0]), len(mine["edges"])
    mine["nodes"][0]["states"] = ["BURNT"]
    mine["edges"].clear()
    again = build(plan, 5)
    assert again["nodes"][0] == first
    assert len(again["edges"]) == count
    assert build(plan, 6) != again
