"""Ways on the grid are the shortest, and lead where they should."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inhabit.envs.alfred.thor.body import HEADINGS, Grid, Stand

cells = st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(st.sets(cells, min_size=1, max_size=20), st.data())
def test_ways_lead_there_at_their_cost(places: set[tuple[int, int]], data: st.DataObject) -> None:
    x, z = data.draw(st.sampled_from(sorted(places)))
    start: Stand = (x, z, data.draw(st.sampled_from(sorted(HEADINGS))))
    ways = Grid(places).ways(start)
    for goal, cost in ways.cost.items():
        actions = ways.to(goal)
        assert len(actions) == cost
        assert _walk(start, actions, places) == goal


@given(st.sets(cells, min_size=1, max_size=12), st.data())
def test_no_neighbour_is_nearer_than_a_step(
    places: set[tuple[int, int]], data: st.DataObject
) -> None:
    x, z = data.draw(st.sampled_from(sorted(places)))
    cost = Grid(places).ways((x, z, 0)).cost
    for stand, steps in cost.items():
        for action in ("MoveAhead", "RotateLeft", "RotateRight"):
            there = _step(stand, action)
            if there[:2] in places:
                assert cost[there] <= steps + 1


def test_a_blocked_step_is_gone_around() -> None:
    grid = Grid((x, z) for x in range(2) for z in range(3))
    assert grid.ways((0, 0, 0)).cost[0, 2, 0] == 2
    grid.block((0, 0, 0))
    assert grid.ways((0, 0, 0)).cost[0, 2, 0] > 2
    assert grid.copy().ways((0, 0, 0)).cost == grid.ways((0, 0, 0)).cost


def _walk(
    stand: Stand, actions: list[str] | tuple[str, ...], places: set[tuple[int, int]]
) -> Stand:
    for action in actions:
        stand = _step(stand, action)
        assert stand[:2] in places
    return stand


def _step(stand: Stand, action: str) -> Stand:
    x, z, turn = stand
    if action == "MoveAhead":
        dx, dz = HEADINGS[turn]
        return x + dx, z + dz, turn
    return x, z, (turn + (90 if action == "RotateRight" else -90)) % 360
