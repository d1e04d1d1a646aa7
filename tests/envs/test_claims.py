"""What texts claim of a scene, and whether it is so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inhabit.envs.claims import About, Reader, holds
from inhabit.envs.core import SceneObject

THINGS = (
    SceneObject("apple_1", "apple", {"sliced": False}, "fridge_1", inside=True),
    SceneObject("counter_top_1", "counter top", {}, pixels=900),
    SceneObject("fridge_1", "fridge", {"open": False}, pixels=500),
    SceneObject("knife_1", "knife", {}, held=True, pixels=40),
    SceneObject("mug_1", "mug", {"dirty": True}, "counter_top_1", pixels=80),
    SceneObject("mug_2", "mug", {"dirty": False}, "tray_1", pixels=70),
    SceneObject("tray_1", "tray", {}, "counter_top_1", pixels=90),
)


def verdicts(text: str, *, seen: bool = False) -> set[bool | None]:
    return {holds(claim, THINGS, seen=seen) for claim in Reader(THINGS, ["cat"]).claims(text)}


@pytest.mark.parametrize(
    "text",
    [
        "The refrigerator is shut.",
        "The fridge isn't open.",
        "I'm holding a knife.",
        "I hold the knife.",
        "I find a mug on the tray.",
        "A dirty mug stands on the worktop.",
        "Mug_2 is clean.",
        "There are two mugs on the counter.",
        "The mug_2 is on the tray, which is on the counter.",
        "The apple in the fridge has not been sliced.",
        "There is no cat.",
        "My hands aren\u2019t empty.",
    ],
)
def test_true(text: str) -> None:
    assert verdicts(text) == {True}


@pytest.mark.parametrize(
    "text",
    [
        "The refrigerator is ajar.",
        "The fridge isn't closed.",
        "I'm not holding anything.",
        "Mug_2 is dirty.",
        "Three mugs are on the counter.",
        "A mug is in the fridge.",
        "There's a cat.",
        "The mug is in my hand.",
        "No mug is on the counter.",
    ],
)
def test_false(text: str) -> None:
    assert False in verdicts(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is a lovely day.",
        "The fridge has to be opened.",
        "Before the fridge is open",
        "So I open fridge_1.",
    ],
)
def test_says_nothing_of_states_or_places(text: str) -> None:
    about = {claim.about for claim in Reader(THINGS).claims(text)}
    assert about <= {About.PRESENCE}


def test_a_thing_out_of_sight_is_not_seen() -> None:
    assert verdicts("There is an apple.") == {True}
    assert verdicts("There is an apple.", seen=True) == {False}


def test_a_state_that_its_kind_lacks_is_undecided() -> None:
    assert None in verdicts("The mug is open.")


@pytest.mark.parametrize(
    ("text", "verb", "kinds"),
    [
        ("I should grab the mug.", "take", [{"mug"}]),
        ("The fridge has to be opened first.", "open", [{"fridge"}]),
        ("Put the knife on the counter.", "put", [{"knife"}, {"counter top"}]),
        ("The knife can go into the fridge.", "put", [{"knife"}, {"fridge"}]),
        ("The mug is dirty, so it must be washed.", "clean", [{"mug"}]),
        ("Now switch the fridge off.", "switch off", [{"fridge"}]),
        ("The mug is dirty, so I put the mug in the fridge.", "put", [{"mug"}, {"fridge"}]),
        ("I open fridge 1.", "open", [{"fridge"}]),
    ],
)
def test_intents(text: str, verb: str, kinds: list[set[str]]) -> None:
    (intent,) = Reader(THINGS).intents(text)
    assert intent.verb == verb
    assert [set(noun.kinds) for noun in intent.nouns] == kinds


def test_what_is_not_to_be_done_is_no_intent() -> None:
    assert not Reader(THINGS).intents("I can't open the fridge. The fridge is open.")


SCRAPS = """the a no not mug mugs fridge apple open closed is isn't on in it hand i hold must , .
2 and before to put take {0} \x00 % ' so that there"""
WORDS = st.sampled_from(SCRAPS.split())


@given(st.lists(WORDS, max_size=30).map(" ".join) | st.text(max_size=60))
def test_any_text_is_read(text: str) -> None:
    reader = Reader(THINGS)
    for claim in reader.claims(text):
        assert holds(claim, THINGS) in (True, False, None)
    reader.intents(text)
