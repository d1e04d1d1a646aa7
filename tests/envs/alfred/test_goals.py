"""ALFRED's goal conditions, counted as ALFRED counts them."""

from __future__ import annotations

from typing import Any

import pytest

from inhabit.envs.alfred.scenes.scene import AlfredGoal, History, basin_of, conditions
from inhabit.envs.alfred.thor.objects import ThorObjects
from tests.envs.alfred.rooms_for_tests import linked, record

ITEM, HOLDER, BOTH = ("pickupable",), ("receptacle",), ("pickupable", "receptacle")


def world(*records: dict[str, Any]) -> ThorObjects:
    return ThorObjects(linked(records))


def met(goal: AlfredGoal, room: ThorObjects, **history: set[str]) -> tuple[int, int]:
    return conditions(goal, room, History({k: frozenset(v) for k, v in history.items()}))


def test_simple() -> None:
    goal = AlfredGoal(type="pick_and_place_simple", object="Mug", parent="Fridge")
    fridge = record("Fridge", 1, *HOLDER)
    assert met(goal, world(fridge, record("Mug", 1, *BOTH))) == (0, 1)
    fridge = record("Fridge", 1, *HOLDER)
    assert met(goal, world(fridge, record("Mug", 1, *BOTH, parent="Fridge|1"))) == (1, 1)


def test_what_lies_on_a_plate_in_the_sink_is_in_the_sink() -> None:
    goal = AlfredGoal(type="pick_and_place_simple", object="Fork", parent="SinkBasin")
    room = world(
        record("SinkBasin", 1, *HOLDER),
        record("Plate", 1, *BOTH, parent="SinkBasin|1"),
        record("Fork", 1, *ITEM, parent="Plate|1"),
    )
    assert met(goal, room) == (1, 1)


def test_a_pencil_is_no_pen() -> None:
    goal = AlfredGoal(type="pick_and_place_simple", object="Pen", parent="Desk")
    room = world(record("Desk", 1, *HOLDER), record("Pencil", 1, *ITEM, parent="Desk|1"))
    assert met(goal, room) == (0, 1)


@pytest.mark.parametrize(("places", "count"), [("11", 2), ("12", 1), ("1-", 1), ("--", 0)])
def test_two_must_be_in_the_same_place(places: str, count: int) -> None:
    goal = AlfredGoal(type="pick_two_obj_and_place", object="CD", parent="Drawer")
    discs = [
        record("CD", i, *ITEM, parent=None if p == "-" else f"Drawer|{p}")
        for i, p in enumerate(places)
    ]
    room = world(record("Drawer", 1, *HOLDER), record("Drawer", 2, *HOLDER), *discs)
    assert met(goal, room) == (count, 2)


def test_slices_count_of_their_own() -> None:
    goal = AlfredGoal(type="pick_two_obj_and_place", object="Apple", parent="Fridge", sliced=True)
    fridge = record("Fridge", 1, *HOLDER)
    assert met(goal, world(fridge, record("Apple", 1, *ITEM, "sliceable"))) == (0, 4)
    slices = [record("AppleSliced", i, *ITEM, parent="Fridge|1") for i in (1, 2, 3)]
    whole = record("Apple", 1, *ITEM, "sliceable", "isSliced", parent="Fridge|1")
    assert met(goal, world(record("Fridge", 1, *HOLDER), whole, *slices)) == (4, 4)


def test_look_needs_hand_and_lamp_and_sight() -> None:
    goal = AlfredGoal(type="look_at_obj_in_light", object="Book", toggle="DeskLamp")
    for held in (False, True):
        for lamp in ((), ("isToggled",), ("isToggled", "visible")):
            room = world(
                record("Book", 1, *ITEM, *(("isPickedUp",) if held else ())),
                record("DeskLamp", 1, "toggleable", *lamp),
            )
            assert met(goal, room) == (held + (len(lamp) == 2), 2)


@pytest.mark.parametrize("kind", ["heat", "cool", "clean"])
def test_treated_and_placed_must_be_the_same_thing(kind: str) -> None:
    goal = AlfredGoal.model_validate(
        {"type": f"pick_{kind}_then_place_in_recep", "object": "Mug", "parent": "Shelf"}
    )
    room = world(
        record("Shelf", 1, *HOLDER),
        record("Mug", 1, *BOTH),
        record("Mug", 2, *BOTH, parent="Shelf|1"),
    )
    assert met(goal, room) == (1, 3)
    assert met(goal, room, **{kind: {"Mug|1"}}) == (2, 3)
    assert met(goal, room, **{kind: {"Mug|2"}}) == (3, 3)


def test_movable_receptacle_with_its_load() -> None:
    goal = AlfredGoal(
        type="pick_and_place_with_movable_recep", object="Fork", movable="Plate", parent="Desk"
    )
    desk, fork = record("Desk", 1, *HOLDER), record("Fork", 1, *ITEM, parent="Plate|1")
    room = world(desk, record("Plate", 1, *BOTH), fork, record("Plate", 2, *BOTH, parent="Desk|1"))
    assert met(goal, room) == (2, 3)
    desk, fork = record("Desk", 1, *HOLDER), record("Fork", 1, *ITEM, parent="Plate|1")
    assert met(goal, world(desk, record("Plate", 1, *BOTH, parent="Desk|1"), fork)) == (3, 3)


def test_history_is_what_was_inside() -> None:
    room = world(
        record("Microwave", 1, *HOLDER, at=9),
        record("Mug", 1, *BOTH, parent="Microwave|1"),
        record("Fridge", 1, *HOLDER, at=9),
        record("Egg", 1, *ITEM, parent="Fridge|1"),
        record("SinkBasin", 1, *HOLDER, at=1),
        record("SinkBasin", 2, *HOLDER, at=5),
        record("Faucet", 1, "toggleable", at=4.5),
        record("Fork", 1, *ITEM, parent="SinkBasin|1"),
        record("Plate", 1, *BOTH, parent="SinkBasin|2"),
        record("Spoon", 1, *ITEM, parent="Plate|1"),
    )
    history = History()
    for action, thing in (
        ("ToggleObjectOn", "Microwave|1"),
        ("CloseObject", "Fridge|1"),
        ("ToggleObjectOn", "Faucet|1"),
        ("OpenObject", "Fridge|1"),
        ("ToggleObjectOff", "Microwave|1"),
    ):
        history = history.after(action, thing, room)
    washed = frozenset({"Plate|1", "Spoon|1"})
    treated = {"heat": frozenset({"Mug|1"}), "cool": frozenset({"Egg|1"}), "clean": washed}
    assert history == History(treated)
    basin = basin_of(room["Faucet|1"], room)
    assert basin is not None and basin.id == "SinkBasin|2"
