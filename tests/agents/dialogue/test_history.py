"""What planners leave out after what was done."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.history import offered, without_failed, without_repeated
from inhabit.envs.core import Reason
from tests.agents.views import view

WORDS = ("go to the sink", "open the drawer", "pick up the mug", "look around")


def did(action: str, came: str = "Done.", reason: Reason | None = None) -> Step:
    return Step(action, reason, came)


def after(*steps: Step) -> View:
    return view(*WORDS, history=steps)


def left(moment: View) -> Sequence[str]:
    return [action.text for action in without_repeated(moment)]


def test_what_failed_is_left_out_until_something_works() -> None:
    failed = did("open the drawer", "It is locked.", Reason.BLOCKED)
    assert "open the drawer" not in [a.text for a in without_failed(after(failed))]
    assert "open the drawer" in [a.text for a in without_failed(after(failed, did("look around")))]


def test_where_no_thing_of_a_kind_was_found_none_of_its_numbers_is_left() -> None:
    offered = ("go to the cabinet", "go to the cabinet_2", "open the cabinet_2", "go to the mug_2")

    def left_after(reason: Reason) -> Sequence[str]:
        failed = did("go to the cabinet", "You have seen none.", reason)
        return [a.text for a in without_failed(view(*offered, history=(failed,)))]

    assert left_after(Reason.NOT_FOUND) == ["open the cabinet_2", "go to the mug_2"]
    assert left_after(Reason.BLOCKED) == list(offered[1:])


def test_what_came_to_the_same_twice_more_is_left_out() -> None:
    circle = [did("go to the sink"), did("look around")]
    assert "go to the sink" in left(after(*circle))
    assert "go to the sink" in left(after(*circle, *circle))
    assert "go to the sink" not in left(after(*circle, *circle, *circle))


def test_what_comes_to_something_else_each_time_is_not_left_out() -> None:
    drawers = [did("open the drawer", f"You open the drawer_{i}.") for i in range(9)]
    assert "open the drawer" in left(after(*drawers))


def test_after_something_new_all_may_be_tried_again() -> None:
    circle = [did("go to the sink"), did("look around")] * 3
    assert "go to the sink" in left(after(*circle, did("pick up the mug")))
    in_vain = did("pick up the mug", "Too far away.", Reason.OUT_OF_REACH)
    assert "go to the sink" not in left(after(*circle, in_vain))


STEPS = st.builds(
    did,
    st.sampled_from(WORDS),
    st.sampled_from(("Done.", "Not so.")),
    st.sampled_from((None, Reason.BLOCKED)),
)


@given(st.lists(STEPS, max_size=30))
def test_something_is_always_left_and_nothing_is_made_up(steps: list[Step]) -> None:
    assert left(after(*steps))
    assert set(left(after(*steps))) <= set(WORDS)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
def test_no_circle_goes_on(circle: list[str]) -> None:
    """Whoever would do the same few things for ever does something else before the fourth time."""
    steps: list[Step] = []
    for action in circle * 4:
        if action not in left(after(*steps)):
            break
        steps.append(did(action))
    assert len(steps) < 4 * len(circle) or len(circle) == len(WORDS)


def test_repeats_are_offered_unless_the_settings_leave_them_out() -> None:
    circle = [did("go to the sink"), did("look around")] * 3
    assert "go to the sink" in [a.text for a in offered(after(*circle), repeats=True)]
    assert "go to the sink" not in [a.text for a in offered(after(*circle), repeats=False)]
