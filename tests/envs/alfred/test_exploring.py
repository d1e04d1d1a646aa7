"""Where one looks around next."""

from __future__ import annotations

import math

from inhabit.envs.alfred.skills.walking import choose, turn_for
from inhabit.envs.alfred.thor.body import STEP, Cell, Grid


def test_a_room_is_searched_to_the_end() -> None:
    places = {(x, z) for x in range(20) for z in range(12) if not (4 < x < 15 and z > 5)}
    grid, stand = Grid(places), (0, 0, 0)
    searched: dict[Cell, None] = {}
    while (goal := choose(grid.ways(stand), searched)) is not None:
        assert goal[:2] not in searched, "It goes to the same place again."
        searched[goal[:2]] = None
        stand = goal
        if len(searched) == 4:  # By then nothing is far from where it looked.
            assert all(min(math.dist(p, s) for s in searched) * STEP < 3 for p in places)
    assert all(min(math.dist(p, s) for s in searched) * STEP <= 0.75 for p in places)


def test_turns_leave_nothing_out() -> None:
    for field_of_view in range(10, 121):
        turn = turn_for(field_of_view)
        assert turn <= field_of_view and 360 % turn == 0
