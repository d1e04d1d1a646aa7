import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import (
    STEP,
    Box,
    Outline,
    Solid,
    along_walls,
    strips,
    yaw,
)
from inhabit.envs.simulators.household.geometry.grid import (
    BODY,
    Shapes,
    clear,
    distance,
    fits,
    reachable,
    region,
)

ROOM = Outline((0.0, 0.0), (4.0, 3.0), 0.0, 2.5)


def _box(low: tuple[float, float, float], high: tuple[float, float, float]) -> Box:
    a, b = np.array(low), np.array(high)
    return Box((a + b) / 2, (b - a) / 2, np.eye(3))


def test_an_empty_room_is_reachable_up_to_its_walls() -> None:
    cells = reachable([], ROOM)
    assert cells == {(x, z) for x in range(2, 15) for z in range(2, 11)}


def test_a_bar_across_the_room_leaves_the_larger_side() -> None:
    cells = reachable([Solid("Dresser", _box((1.4, 0.0, 0.0), (1.5, 1.0, 3.0)))], ROOM)
    assert min(x for x, _ in cells) * STEP >= 1.5 + BODY
    assert max(x for x, _ in cells) == 14


def test_what_is_low_or_high_is_not_in_the_way() -> None:
    rug = Solid("Towel", _box((1.0, 0.0, 1.0), (3.0, 0.05, 2.0)))
    shelf = Solid("Shelf", _box((1.0, 1.9, 1.0), (3.0, 2.0, 2.0)))
    assert reachable([rug, shelf], ROOM) == reachable([], ROOM)


def test_a_turned_box_blocks_as_it_is_turned() -> None:
    table = Box(np.array((2.0, 0.4, 1.5)), np.array((1.0, 0.4, 0.1)), yaw(45.0))
    cells = reachable([Solid("DiningTable", table)], ROOM)
    assert (8, 6) not in cells  # its middle
    assert (10, 8) in cells and (6, 4) in cells  # beside it, within the box around it
    points = np.array(sorted(cells)) * STEP
    assert (distance(table, points) >= BODY - 1e-6).all()


def test_a_room_without_space_has_no_cells() -> None:
    assert reachable([Solid("Bed", _box((0, 0, 0), (4, 1, 3)))], ROOM) == frozenset()


def test_a_counter_around_a_corner_is_strips_along_its_walls() -> None:
    counter = _box((0.0, 0.9, 0.0), (3.0, 0.92, 2.5))
    made = strips(counter, ROOM, [])
    assert len(made) == 2
    assert all(min(2 * part.reach[[0, 2]]) < 0.7 for part in made)


def test_a_counter_has_a_side_wherever_something_stands() -> None:
    counter = _box((0.0, 0.9, 0.0), (3.0, 0.92, 2.5))
    pot = np.array((2.8, 1.0, 2.0))
    made = strips(counter, ROOM, [pot])
    assert any((np.abs(pot - part.center)[[0, 2]] <= part.reach[[0, 2]]).all() for part in made)
    assert len(made) == 3


def test_islands_and_narrow_counters_stay_whole() -> None:
    island, narrow = _box((1, 0.9, 1), (3, 0.92, 2.1)), _box((0, 0.9, 0), (3, 0.92, 0.6))
    assert strips(island, ROOM, []) == [island]
    assert strips(narrow, ROOM, []) == [narrow]
    assert along_walls(island, ROOM, 0.1) == [island]


def _clear(x: float, z: float, solid: Solid, shapes: Shapes | None = None) -> bool:
    """Whether the agent fits beside an object, by default a plain box."""
    return bool(clear(np.array([[x, z]]), [solid], ROOM, shapes or {})[0])


def test_off_the_grid_the_agent_fits_where_its_capsule_is_clear() -> None:
    table = Solid("Desk", _box((1.0, 0.0, 1.0), (2.0, 0.8, 2.0)))
    assert _clear(0.79, 1.5, table)
    assert not _clear(0.85, 1.5, table)
    assert _clear(0.85, 0.85, table), "A corner is 0.21 m away."


def test_low_and_high_things_are_in_the_way_of_less_of_a_round_body() -> None:
    low, high = (
        Solid("Desk", _box((1.0, bottom, 1.0), (2.0, top, 2.0)))
        for bottom, top in ((0.0, 0.05), (1.75, 2.0))
    )
    for solid in (low, high):
        assert _clear(0.85, 1.5, solid)
        assert not _clear(0.95, 1.5, solid)
    assert _clear(1.5, 1.5, Solid("Shelf", _box((1.0, 1.8, 1.0), (2.0, 2.0, 2.0))))


def test_walls_and_round_things() -> None:
    assert fits(0.15, 1.5, [], ROOM) and not fits(0.14, 1.5, [], ROOM)
    can = Solid("GarbageCan", _box((1.0, 0.0, 1.0), (1.4, 0.6, 1.4)))
    assert not _clear(0.9, 0.93, can)
    assert _clear(0.9, 0.93, can, {"GarbageCan": (1.0, 0.0)})
    assert _clear(0.9, 1.2, can, {"GarbageCan": (0.0, 0.1)})


def test_the_region_of_known_cells_goes_around_obstacles_and_ends_at_bars() -> None:
    bar = Solid("Dresser", _box((1.9, 0.0, 0.0), (2.1, 1.0, 3.0)))
    table = Solid("Desk", _box((0.9, 0.0, 1.4), (1.1, 0.8, 1.6)))
    found = region(frozenset({(2, 2)}), [bar, table], ROOM, {})
    assert (4, 6) not in found, "It is on the table."
    assert {(2, 10), (6, 10), (6, 2)} <= found
    assert max(column for column, _ in found) * STEP <= 1.9 - BODY


def test_known_cells_are_free_and_lie_inside_the_walls_whatever_we_compute() -> None:
    bed = Solid("Bed", _box((0.0, 0.0, 0.0), (4.0, 1.0, 3.0)))
    assert region(frozenset({(4, 4)}), [bed], ROOM, {}) == {(4, 4)}
    beyond = region(frozenset({(4, 4), (20, 4)}), [], ROOM, {})
    assert (18, 4) in beyond and (22, 4) not in beyond


def test_beside_recorded_cells_the_agent_may_squeeze_by_but_stand_in_nothing() -> None:
    bed = Solid("Bed", _box((1.1, 0.0, 0.0), (1.9, 1.0, 3.0)))
    known = frozenset({(3, row) for row in range(2, 11)})
    assert (4, 5) not in region(known, [bed], ROOM, {})
    assert region(known, [bed], ROOM, {}, beside=0.12) >= {(4, row) for row in range(2, 11)}
    assert (5, 5) not in region(known, [bed], ROOM, {}, beside=0.12), "It is in the bed."
