"""What can be said is understood, however it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inhabit.envs.alfred.language.verbs import say, understand, vocabulary
from inhabit.envs.alfred.world.things import Kind


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("go to the Mug 2", "go to the mug_2"),
        ("Walk to a counter top.", "go to the countertop"),
        ("pick up the CreditCard", "pick up the credit card"),
        ("take the apple from the fridge", "pick up the apple"),
        ("put it in the fridge", "put it in the fridge"),
        ("Put the mug_2 into the cabinet 1", "put the mug_2 in the cabinet_1"),
        ("place the remote on the TV stand", "put the remote control on the tv stand"),
        ("put down the object in hand", "put it down"),
        ("put the plate down", "put the plate down"),
        ("drop the object in hand", "drop it"),
        ("turn on the DeskLamp", "turn on the desk lamp"),
        ("switch the tap off", "turn off the faucet"),
        ("slice the Bread", "slice the bread"),
        ("find a SinkBasin_2", "find the sink_2"),
        ("  LOOK   around ", "look around"),
        ("open the unicorn 3", "open the unicorn_3"),
    ],
)
def test_wordings_are_understood(said: str, meant: str) -> None:
    action = understand(said)
    assert action is not None and action.text == meant
    assert understand(meant) == action


@pytest.mark.parametrize("said", ["", "put {mug} in it", "dance", "go to", "open \x00", "a" * 500])
def test_nonsense_is_not_understood(said: str) -> None:
    assert understand(said) is None


@given(st.text(max_size=60))
def test_any_text_is_understood_once_and_for_all(text: str) -> None:
    action = understand(text)
    assert action is None or understand(action.text) == action


@given(
    st.sampled_from(["go to", "pick up", "open", "close", "turn on", "turn off", "slice", "find"]),
    st.text(st.sampled_from("abz _-019éß"), min_size=1, max_size=20),
)
def test_any_name_is_understood_once_and_for_all(verb: str, name: str) -> None:
    action = understand(f"{verb} the {name}")
    assert action is None or understand(action.text) == action


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("find", [False, True])
def test_vocabulary_is_small_and_means_what_it_says(kind: Kind, find: bool) -> None:
    words = vocabulary(kind, find)
    assert len(words) == len({a.text for a in words}) <= 250
    for action in words:
        understood = understand(action.text)
        assert understood == action
        assert understood.verb == action.verb and understood.arguments == action.arguments
    assert any(a.verb == "find" for a in words) == find


def test_things_are_put_in_and_on() -> None:
    assert say("put", "it", "sink_2").text == "put it in the sink_2"
    assert say("put", "it", "dining table").text == "put it on the dining table"
