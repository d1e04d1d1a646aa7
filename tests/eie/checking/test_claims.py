"""What sentences claim, held against a kitchen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inhabit.eie.checking.claims import contradictions
from inhabit.eie.making.author import AuthorRequest, Procedural
from inhabit.envs.core import SceneObject
from inhabit.envs.registry import find
from inhabit.envs.template import Lexicon
from inhabit.envs.world.words import plural

LEXICON = Lexicon(
    kinds=frozenset(
        [
            "mug",
            "fridge",
            "apple",
            "apple slice",
            "countertop",
            "microwave",
            "knife",
            "plate",
            "watering can",
        ]
    ),
    states={"open": ("open", "closed"), "on": ("on", "off"), "dirty": ("dirty", "clean")},
    synonyms={"refrigerator": "fridge"},
    products={"apple slice": "apple"},
)
KITCHEN = (
    SceneObject("mug_1", "mug", {"dirty": True}, "countertop_1"),
    SceneObject("mug_2", "mug", {"dirty": False}, held=True),
    SceneObject("fridge_1", "fridge", {"open": False}),
    SceneObject("plate_1", "plate", {"dirty": False}, "fridge_1", inside=True),
    SceneObject("apple_1", "apple", {}, "plate_1"),
    SceneObject("countertop_1", "countertop", {}),
    SceneObject("watering can_1", "watering can", {}, "countertop_1"),
    SceneObject("microwave_1", "microwave", {"open": True, "on": False}),
)


def test_an_environment_may_have_no_states() -> None:
    lexicon = Lexicon(kinds=frozenset({"crate", "dock"}), states={})
    things = [SceneObject("crate", "crate", {}, "dock"), SceneObject("dock", "dock", {})]
    text = "The crate is on the dock, and the dock is where the crate, and dock, is."
    assert not contradictions(text, things, lexicon)
    assert contradictions("The crate is held.", things, lexicon)


@pytest.mark.parametrize(
    "text",
    [
        "The fridge is closed, and the apple is in the fridge.",
        "The refrigerator isn't open.",
        "The apple is on the plate.",
        "You are holding a mug. The mug is in your hand.",
        "A dirty mug is on the countertop.",
        "One mug is on the countertop already.",
        "The watering can is on the countertop. Microwave the mug.",
        "There is no knife here.",
        "The microwave is off and open.",
        "The mug_1 is dirty, but the mug_2 is clean.",
        "You don't hold the apple.",
        "Two mugs and a closed fridge can be seen.",
    ],
)
def test_what_is_so_passes(text: str) -> None:
    assert contradictions(text, KITCHEN, LEXICON) == []


@pytest.mark.parametrize(
    "text",
    [
        "The fridge is open.",
        "The refrigerator is not closed.",
        "The apple is on the countertop.",
        "The apple isn't in the fridge.",
        "You hold the apple.",
        "Your hands are empty.",
        "Three mugs are in sight.",
        "Two mugs are on the countertop.",
        "There is no mug.",
        "There is a knife on the countertop.",
        "A unicorn is on the countertop.",
        "The closed microwave is near.",
        "The mug_2 is dirty.",
        "The mug 3 is on the countertop.",
        "The dirty plate is in the fridge.",
        "You don't hold the mug.",
        "The watering can is on the plate already.",
    ],
)
def test_what_is_not_so_is_named(text: str) -> None:
    assert contradictions(text, KITCHEN, LEXICON)


def test_a_wish_claims_that_things_exist_and_nothing_else() -> None:
    def wish(text: str) -> bool:
        return not contradictions(text, KITCHEN, LEXICON, wish=True)

    assert wish("Put a clean plate on the countertop, and two mugs in the open fridge.")
    assert wish("Slice the apple and put an apple slice in the microwave.")
    assert not wish("Put the knife in the fridge.")
    assert not wish("Put three mugs in the fridge.")


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(contradictions(text, KITCHEN, LEXICON), list)


@pytest.mark.parametrize(
    ("one", "many"),
    [("butter knife", "butter knives"), ("box", "boxes"), ("potato", "potatoes"), ("toy", "toys")],
)
def test_plurals(one: str, many: str) -> None:
    assert plural(one) == many


@pytest.mark.slow
def test_the_authors_own_goals_speak_of_nothing_unknown() -> None:
    registration = find("alfred")
    assert registration.template is not None
    template = registration.template(registration.settings())
    author, lexicon = Procedural("alfred", template), template.lexicon
    everything = [SceneObject(kind, kind, {}) for kind in lexicon.kinds]
    for number in range(400):
        raw = author.reply(AuthorRequest(number, seed=3)).raw
        assert isinstance(raw, dict)
        for claim in contradictions(str(raw["goal"]), everything, lexicon, wish=True):
            assert "which no scene has" not in claim, raw["goal"]
