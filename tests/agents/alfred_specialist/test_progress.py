"""What has come of things is acted out again from what was done."""

from inhabit.agents.alfred_specialist.ranker.parsing import CLOSE, TURN_ON, action
from inhabit.agents.alfred_specialist.ranker.progress import Progress, progress


def after(*done: str) -> Progress:
    return progress([action(text) for text in done])


def test_a_thing_lies_where_it_was_put_until_it_is_taken() -> None:
    done = ("pick up mug_1", "put mug_1 in sink_1")
    assert after(*done).within("mug") == 1
    assert after(*done).within("mug", "sink") == 1
    assert after(*done).within("mug", "fridge") == 0
    taken = after(*done, "pick up mug_1")
    assert taken.within("mug") == 0
    assert taken.held == ("mug", "1")


def test_two_of_a_kind_are_told_apart() -> None:
    outcome = after(
        "put pen_1 on desk_1", "put pen_2 on desk_1", "pick up pen_1", "put pen_1 on bed_1"
    )
    assert (outcome.within("pen"), outcome.within("pen", "desk"), outcome.within("pen", "bed")) == (
        2,
        1,
        1,
    )


def test_what_was_worked_while_a_thing_lay_there_is_remembered_of_it() -> None:
    heated = ("put egg_1 in microwave_1", "close microwave_1", "turn on microwave_1")
    assert after(*heated).worked_for("egg") == {(CLOSE, "microwave"), (TURN_ON, "microwave")}
    moved = after(*heated, "pick up egg_1", "close fridge_1", "put cup_1 in sink_1")
    assert moved.worked_for("egg") == {(CLOSE, "microwave"), (TURN_ON, "microwave")}
    assert moved.worked_for("cup") == frozenset()
    washed = after("put cup_1 in sink_1", "close fridge_1", "turn on faucet_1")
    assert washed.worked_for("cup") == {(TURN_ON, "faucet")}


def test_of_two_the_one_in_the_hand_counts() -> None:
    outcome = after("put egg_1 in fridge_1", "close fridge_1", "pick up egg_2")
    assert outcome.worked_for("egg") == frozenset()


def test_what_failed_changed_nothing() -> None:
    assert after("put it in the sink: no room", "pick up mug: not visible") == after()


def test_a_place_is_closed_around_what_lies_in_it_and_not_in_another() -> None:
    outcome = after("put cup_1 in drawer_1", "close drawer_2")
    assert outcome.worked_for("cup") == frozenset()


def test_one_stands_where_one_went_or_put_something_until_one_walks_on() -> None:
    assert after("at desk_1").at == ("desk", "1")
    assert after("at desk_1", "put pen_1 on bed_1").at == ("bed", "1")
    assert after("at desk_1", "explore").at == ("", "")


def test_another_one_is_none_of_those_that_were_left() -> None:
    left = ("at desk_1", "pick up pen_1", "put pen_1 on bed_1")
    assert not after("at pen_1").is_other_instance("pen"), "None was left."
    assert not after(*left).is_other_instance("pen"), "It is the one that was put here."
    assert after(*left, "at desk_1").is_other_instance("pen")
    assert not after(*left, "at desk_1", "at pen_1").is_other_instance("pen")
    assert after(*left, "at pen_2").is_other_instance("pen")
    assert not after(*left, "explore").is_other_instance("pen"), "Nobody knows where one stands."
