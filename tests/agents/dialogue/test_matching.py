"""Which candidate free words mean, in the words of three very different worlds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from inhabit.agents.dialogue.matching import MatchKind, match
from inhabit.envs.core import Action
from inhabit.envs.toy.house import vocabulary

TOY = tuple(vocabulary())


def action(text: str, verb: str, *arguments: str) -> Action:
    return Action(text, verb, arguments)


HOUSEHOLD = (
    action("look around", "look around"),
    action("turn left", "turn left"),
    *(
        action(f"go to the {name}", "go to", name)
        for name in ("cabinet", "cabinet_2", "cabinet_10", "drawer_6", "counter top", "fridge")
    ),
    *(action(f"go to the {name}", "go to", name) for name in ("side table", "coffee table")),
    *(action(f"open the {name}", "open", name) for name in ("cabinet", "cabinet_2", "fridge")),
    *(action(f"close the {name}", "close", name) for name in ("cabinet", "cabinet_2", "fridge")),
    *(action(f"pick up the {name}", "pick up", name) for name in ("mug", "butter knife", "knife")),
    *(action(f"put it in the {name}", "put", "it", name) for name in ("cabinet", "fridge", "sink")),
    action("put it down", "put down"),
    action("turn on the desk lamp", "turn on", "desk lamp"),
    action("turn off the desk lamp", "turn off", "desk lamp"),
)
FLAT = (
    *(action(f"walk to the {name}", "WALK", name) for name in ("tv_1", "plate_3", "plate_4")),
    action("run to the tv_1", "RUN", "tv_1"),
    action("grab the plate_3", "GRAB", "plate_3"),
    action("put the thing in hand in the sink_1", "PUTIN", "thing in hand", "sink_1"),
    action("put the thing in hand on the sink_1", "PUTBACK", "thing in hand", "sink_1"),
    action("put the thing in hand on the plate_4", "PUTBACK", "thing in hand", "plate_4"),
    action("switch on the tv_1", "SWITCHON", "tv_1"),
    action("switch off the tv_1", "SWITCHOFF", "tv_1"),
    action("wear the clothesshirt_1", "PUTON", "clothesshirt_1"),
    action("sit on the sofa_1", "SIT", "sofa_1"),
    action("drop the plate_3", "DROP", "plate_3"),
    action("stand up", "STANDUP"),
)
DUTY = (
    action("enter the crossing", "enter the crossing"),
    action("do not enter the crossing", "do not enter the crossing"),
)
FREE = (action("pick up the red pepper", "pick"), action("wash the red pepper", "wash"))

MEANT = [
    (TOY, "go to the kitchen", "go to the kitchen", MatchKind.EXACT),
    (TOY, "  Go to kitchen.", "go to the kitchen", MatchKind.WORDS),
    (TOY, "Put cup into the fridge.", "put the cup in the fridge", MatchKind.PARTS),
    (TOY, "place the cup on the shelf", "put the cup in the shelf", MatchKind.PARTS),
    (TOY, "I should now walk to the kitchen", "go to the kitchen", MatchKind.PARTS),
    (TOY, "shut the refrigerator door", "close the fridge", MatchKind.PARTS),
    (TOY, "Take the apple, then go to the kitchen", "pick up the apple", MatchKind.PARTS),
    (
        TOY,
        "Since the fridge is open, I will pick up the apple",
        "pick up the apple",
        MatchKind.PARTS,
    ),
    (TOY, "pick the {cup} up", "pick up the cup", MatchKind.PARTS),
    (TOY, "grab the aple", "pick up the apple", MatchKind.PARTS),
    (HOUSEHOLD, "shut the cupboard door", "close the cabinet", MatchKind.PARTS),
    (HOUSEHOLD, "open cabinet 2", "open the cabinet_2", MatchKind.WORDS),
    (HOUSEHOLD, "open the cabinet_1", "open the cabinet", MatchKind.PARTS),
    (HOUSEHOLD, "walk over to Cabinet_10", "go to the cabinet_10", MatchKind.PARTS),
    (HOUSEHOLD, "go to the drawer", "go to the drawer_6", MatchKind.PARTS),
    (HOUSEHOLD, "navigate to the CounterTop", "go to the counter top", MatchKind.PARTS),
    (HOUSEHOLD, "take the knife", "pick up the knife", MatchKind.PARTS),
    (HOUSEHOLD, "take the butter knife", "pick up the butter knife", MatchKind.PARTS),
    (HOUSEHOLD, "place the mug in the sink", "put it in the sink", MatchKind.PARTS),
    (HOUSEHOLD, "put down the mug", "put it down", MatchKind.PARTS),
    (HOUSEHOLD, "put down the sink", "put it down", MatchKind.PARTS),
    (HOUSEHOLD, "put(mug, fridge)", "put it in the fridge", MatchKind.PARTS),
    (HOUSEHOLD, "I can\u2019t see it, so open the fridge", "open the fridge", MatchKind.PARTS),
    (HOUSEHOLD, "Don't forget to open the fridge", "open the fridge", MatchKind.PARTS),
    (HOUSEHOLD, "open the second cabinet", "open the cabinet_2", MatchKind.PARTS),
    (HOUSEHOLD, "go to the 10th cabinet", "go to the cabinet_10", MatchKind.PARTS),
    (HOUSEHOLD, "go to cabinet number 10", "go to the cabinet_10", MatchKind.PARTS),
    (HOUSEHOLD, "close cabinet two", "close the cabinet_2", MatchKind.PARTS),
    (HOUSEHOLD, "open the fridge, then go to the cabinet 2", "open the fridge", MatchKind.PARTS),
    (HOUSEHOLD, "go to the fridge instead of the cabinet", "go to the fridge", MatchKind.PARTS),
    (DUTY, "We do not enter the crossing", "do not enter the crossing", MatchKind.PARTS),
    (DUTY, "We enter the crossing", "enter the crossing", MatchKind.PARTS),
    (FLAT, "put down the plate", "drop the plate_3", MatchKind.PARTS),
    (HOUSEHOLD, "turn the desk lamp on", "turn on the desk lamp", MatchKind.PARTS),
    (HOUSEHOLD, "switch off desklamp", "turn off the desk lamp", MatchKind.PARTS),
    (FLAT, "go to the television", "walk to the tv_1", MatchKind.PARTS),
    (FLAT, "take the plate", "grab the plate_3", MatchKind.PARTS),
    (FLAT, "walk to a plate", "walk to the plate_3", MatchKind.PARTS),
    (
        FLAT,
        "Put the plate in the sink",
        "put the thing in hand in the sink_1",
        MatchKind.PARTS,
    ),
    (
        FLAT,
        "put the plate on the sink",
        "put the thing in hand on the sink_1",
        MatchKind.PARTS,
    ),
    (
        FLAT,
        "I want to put the thing in hand on the sink",
        "put the thing in hand on the sink_1",
        MatchKind.PARTS,
    ),
    (FLAT, "turn the TV on", "switch on the tv_1", MatchKind.PARTS),
    (FLAT, "put on the shirt", "wear the clothesshirt_1", MatchKind.PARTS),
    (FLAT, "[SIT] <sofa> (1)", "sit on the sofa_1", MatchKind.PARTS),
    (FLAT, "get up", "stand up", MatchKind.PARTS),
    (FREE, "wash red pepper", "wash the red pepper", MatchKind.WORDS),
    (FREE, "grab the red pepper", "pick up the red pepper", MatchKind.PARTS),
]


@pytest.mark.parametrize(("candidates", "said", "text", "how"), MEANT, ids=[m[1] for m in MEANT])
def test_words_mean_a_candidate(
    candidates: Sequence[Action], said: str, text: str, how: MatchKind
) -> None:
    found = match(said, candidates)
    assert found.action is not None
    assert (found.action.text, found.how) == (text, how)


NOT_MEANT = [
    (TOY, "throw the ball", MatchKind.NOTHING),
    (TOY, "open the window", MatchKind.NOTHING),
    (TOY, "open it", MatchKind.NOTHING),
    (TOY, "go to the living room", MatchKind.NOTHING),
    (TOY, "the kitchen", MatchKind.NOTHING),
    (TOY, "put the fridge in the cup", MatchKind.NOTHING),
    (TOY, "", MatchKind.NOTHING),
    (TOY, "?!", MatchKind.NOTHING),
    (TOY, "I can't help with that.", MatchKind.NOTHING),
    (TOY, "I can not open the fridge.", MatchKind.NOTHING),
    (TOY, "I am unable to open the fridge.", MatchKind.NOTHING),
    (HOUSEHOLD, "open the third cabinet", MatchKind.NOTHING),
    (TOY, "Don't go to the kitchen", MatchKind.NOTHING),
    (DUTY, "We won't enter the crossing", MatchKind.NOTHING),
    (HOUSEHOLD, "put the sink", MatchKind.NOTHING),
    (HOUSEHOLD, "open the cabinet_3", MatchKind.NOTHING),
    (HOUSEHOLD, "go to the table", MatchKind.AMBIGUOUS),
    (HOUSEHOLD, "turn right", MatchKind.NOTHING),
    ((), "open the fridge", MatchKind.NOTHING),
]


@pytest.mark.parametrize(("candidates", "said", "how"), NOT_MEANT, ids=[m[1] for m in NOT_MEANT])
def test_words_that_mean_no_candidate(
    candidates: Sequence[Action], said: str, how: MatchKind
) -> None:
    found = match(said, candidates)
    assert (found.action, found.how) == (None, how)


def test_every_candidate_means_itself() -> None:
    for candidates in (TOY, HOUSEHOLD, FLAT, FREE):
        for one in candidates:
            assert match(one.text, candidates).action is one
            assert match(one.text.upper().replace("_", " "), candidates).action is one


def test_who_nearly_meant_something_is_told_what() -> None:
    near = match("go to the table", HOUSEHOLD).near
    assert {a.text for a in near} == {"go to the side table", "go to the coffee table"}


@pytest.mark.parametrize(
    "candidate",
    [
        action("apple", "choose", "apple"),
        action("the apple", "choose", "apple"),
        action("apple", "", "apple"),
        action("7", "choose", "7"),
        action("press 7", "press", "7"),
        action("?!", "choose", "?!"),
        action("", "", ""),
    ],
    ids=lambda a: a.text,
)
def test_a_candidate_may_be_its_own_argument_or_no_word_at_all(candidate: Action) -> None:
    others = [action("open the fridge", "open", "fridge"), candidate]
    assert match("I would open the fridge now", others).action == others[0]
    assert match(candidate.text, [candidate]).how in (
        MatchKind.EXACT,
        MatchKind.WORDS,
        MatchKind.NOTHING,
    )
    match("take an apple, or 7 of them", others)


def test_what_is_its_own_argument_is_understood() -> None:
    fruit = [action(name, "choose", name) for name in ("apple", "pear_2")]
    assert match("the apple, please", fruit).action == fruit[0]
    assert match("pear 2", fruit).action == fruit[1]
