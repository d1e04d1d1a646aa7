"""Objects renamed in the texts of an episode."""

from __future__ import annotations

import random

import pytest

from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.teaching.renaming import Renaming, renamed


def test_names_are_renamed_whole_and_longest_first() -> None:
    new = Renaming({"Bread": "Apple", "Apple": "Bread", "Pen": "Watch", "Cabinet": "Drawer"})
    text = "You see: apple slice, pencil, pen, cabinet_3. You pick up the bread."
    assert new(text) == "You see: bread slice, pencil, watch, drawer_3. You pick up the apple."


def test_nothing_renamed_changes_nothing() -> None:
    assert Renaming({})("put it in the mug") == "put it in the mug"


@pytest.mark.parametrize("seed", range(20))
def test_objects_are_swapped_with_objects_of_the_same_use(seed: int) -> None:
    types = renamed(random.Random(seed)).types
    assert sorted(types) == sorted(types.values())
    assert {types[t] for t in ("Apple", "Bread", "Lettuce", "Potato", "Tomato")} <= {*types}
    for kept in ("Fridge", "Microwave", "SinkBasin", "Knife", "ButterKnife", "GarbageCan"):
        assert types.get(kept, kept) == kept
    assert types["Apple"] in {"Apple", "Bread", "Lettuce", "Potato", "Tomato"}
    assert types["Cabinet"] in {"Cabinet", "Drawer", "Safe"}


def test_the_goal_is_renamed_like_the_texts() -> None:
    goal = AlfredGoal(type="pick_and_place_simple", object="Pen", parent="Desk")
    new = renamed(random.Random(3))
    other = new.goal(goal)
    assert (other.object, other.parent) == (new.types["Pen"], new.types["Desk"])
    assert new("put the pen on the desk") != "put the pen on the desk"
