"""Goals of authors are read back: what means something else than the scene wants is found."""

from __future__ import annotations

from typing import Any

import pytest

from inhabit.eie.checking.meaning import misread, unknown_words
from inhabit.eie.checking.nouns import SceneNouns
from inhabit.envs.alfred.evolution.template import AlfredTemplate
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import SceneObject, Task
from inhabit.envs.template import ActionKind, Event, Lexicon

TEMPLATE = AlfredTemplate(AlfredSettings())
GOAL = {"type": "pick_heat_then_place_in_recep", "object": "Mug", "parent": "CounterTop"}
TASK = Task(id="t", env="alfred", kind="", goal="-", scene={"room": "FloorPlan1", "goal": GOAL})
CHILLED = {"type": "pick_cool_then_place_in_recep", "object": "Apple", "parent": "CounterTop"}
SLICED = {**CHILLED, "sliced": True}
STORED = {"type": "pick_and_place_simple", "object": "Cup", "parent": "Drawer"}
LIT = {"type": "look_at_obj_in_light", "object": "Book", "toggle": "FloorLamp"}
TWO = {"type": "pick_two_obj_and_place", "object": "Mug", "parent": "Drawer"}
PLAIN = {**STORED, "object": "Mug"}
WASHED = {**PLAIN, "type": "pick_clean_then_place_in_recep"}
CONDITION = {"object": "mug_1", "dirty": WASHED, "clean": PLAIN}
BOTH = {"goal": CHILLED, "also": [STORED]}
FIRST = {**BOTH, "in_order": True}
DIRTY = {"goal": WASHED, "condition": CONDITION}
KINDS = ("mug", "cup", "apple", "countertop", "microwave", "fridge", "floor lamp", "drawer", "book")
THINGS = [SceneObject(f"{kind}_1", kind, {}) for kind in KINDS]


def found(goal: str, scene: dict[str, Any] | None = None) -> str:
    task = TASK.model_copy(update={"scene": {"room": "FloorPlan1", **(scene or {"goal": GOAL})}})
    conditional = "condition" in task.scene
    events = TEMPLATE.events(task)
    assert events
    return misread(goal, events, THINGS, TEMPLATE.lexicon, conditional=conditional)


@pytest.mark.parametrize(
    "goal",
    [
        "Heat a mug and put it on the counter.",
        "Could you kindly put a warm mug on the countertop for me?",
        "Warm a mug up in the microwave and put it on the counter.",
        "Please microwave the mug, then place it on the counter next to the fridge, thank you.",
        "I would like you to take the mug, warm it up and set it on the counter.",
    ],
)
def test_what_means_the_same_is_kept(goal: str) -> None:
    assert found(goal) == ""


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ("Please do not heat the mug; put it on the counter.", "'not'"),
        ("Never put a warm mug on the counter.", "'never'"),
        ("Heat the mug and put it on the counter unless it is dirty.", "'unless'"),
        ("Heat a mug and put it on the counter twice.", "'twice'"),
        ("Heat two mugs and put them on the counter.", "speaks of 2"),
        ("Put a mug on the counter.", "does not say so"),
        ("Chill a mug and put it on the counter.", "wants to heat"),
        ("Heat an apple and put it on the counter.", "does not want to heat the mug"),
        ("Heat a mug and put it in the drawer.", "does not name it"),
        ("Heat a mug, put it on the counter and open the drawer.", "drawer"),
        ("Heat the mug, put it on the counter, and turn on the lamp.", "light"),
        ("Take the heated mug from the counter.", "out of"),
    ],
)
def test_what_means_something_else_is_told(goal: str, why: str) -> None:
    assert why in found(goal)


@pytest.mark.parametrize(
    ("goal", "scene"),
    [
        ("Chill an apple and put it on the counter, and put a cup in a drawer.", BOTH),
        ("Place the cup in the drawer and a cold apple on the counter, please.", BOTH),
        ("Put a cup in the drawer after you put a chilled apple on the counter.", FIRST),
        ("Once the cold apple is on the counter, put a cup in the drawer.", FIRST),
        ("Turn the floor lamp on while you hold the book.", {"goal": LIT}),
        ("Examine the book in the light of the floor lamp.", {"goal": LIT}),
        ("Put two mugs in the drawer.", {"goal": TWO}),
        ("Put a mug in the drawer, then put another one in it.", {"goal": TWO}),
        ("Put a pair of mugs in the drawer.", {"goal": TWO}),
        ("If the mug is dirty, rinse it, and put it in the drawer.", DIRTY),
        ("It would be lovely if two mugs were in the drawer.", {"goal": TWO}),
        ("Put a mug in the drawer so that I can't break it.", {"goal": PLAIN}),
        ("Don't forget to put the mug that is on the counter in a drawer.", {"goal": PLAIN}),
        ("Take the mug to the drawer and leave it there.", {"goal": PLAIN}),
        ("A mug in the drawer.", {"goal": PLAIN}),
        ("Put the mug in the drawer, but wash it first unless it is clean.", DIRTY),
        ("Put a cup in a drawer, then cool an apple and put it on the counter.", BOTH),
        ("Put both mugs in the drawer, one after the other.", {"goal": TWO}),
        ("Heat a mug until piping hot and put it on the counter for a bit.", {"goal": GOAL}),
    ],
)
def test_numbers_places_and_order_that_are_the_same_are_kept(
    goal: str, scene: dict[str, Any]
) -> None:
    assert found(goal, scene) == ""


@pytest.mark.parametrize(
    ("goal", "scene", "why"),
    [
        ("Chill an apple, put it in a drawer, and put a cup on the counter.", BOTH, "does not say"),
        ("Chill a cup, put it in a drawer, and put an apple on the counter.", BOTH, "cool the app"),
        ("Chill two apples and put them on the counter, and a cup in a drawer.", BOTH, "of 2"),
        ("Before you put a cold apple on the counter, put a cup in a drawer.", FIRST, "order"),
        ("Put a cup in a drawer, then a cold apple on the counter.", FIRST, "order"),
        ("Put a cold apple on the counter, and a cup in a drawer.", FIRST, "order"),
        ("Put the book on the floor lamp and turn it on.", {"goal": LIT}, "to be turned on"),
        ("Put a mug in the drawer.", {"goal": TWO}, "speaks of 1"),
        ("Hold the book, but leave the floor lamp off.", {"goal": LIT}, "light"),
        ("Hold the book beside the floor lamp.", {"goal": LIT}, "light"),
        ("Put a mug next to the drawer.", {"goal": PLAIN}, "does not say"),
        ("Put a cup in a drawer and an apple on the counter, then cool it.", BOTH, "put away"),
        (
            "Put a cold apple on the counter and a cup in a drawer, then cool the fridge.",
            BOTH,
            "away",
        ),
        ("Put a cold apple on the counter until you have a cup in a drawer.", BOTH, "'until'"),
        ("Put the second mug in the drawer.", {"goal": TWO}, "speaks of 1"),
        ("Put two mugs in the second drawer.", {"goal": TWO}, "another drawer"),
        ("Put two mugs in the 3rd small drawer.", {"goal": TWO}, "another drawer"),
        ("Chill an apple, then slice it and put a slice on the counter.", {"goal": SLICED}, "cut"),
        ("Put a mug on top of the drawer.", {"goal": PLAIN}, "on top"),
        ("Look for the mug in the drawer.", {"goal": PLAIN}, "wants to put"),
        ("Put a mug in the drawer, then take it out.", {"goal": PLAIN}, "again"),
        ("Put a mug in the drawer and fill it.", {"goal": PLAIN}, "fill"),
        ("If the mug is clean, wash it; put it in the drawer.", DIRTY, "opposite"),
        ("Wash the mug and put it in the drawer.", DIRTY, "condition"),
        ("If the mug is dirty, do not put it in the drawer.", DIRTY, "'not'"),
    ],
)
def test_other_numbers_places_and_orders_are_told(
    goal: str, scene: dict[str, Any], why: str
) -> None:
    assert why in found(goal, scene)


LAMP, WASHER, FRIDGE = "ceiling lamp", "washing machine", "fridge"
OFF = [Event(f"off {n}", f"turn off the {LAMP}", "", ActionKind.SWITCH_OFF, LAMP) for n in "12"]
SHIRT = [
    Event("take", "pick up the shirt", "", ActionKind.TAKE, "shirt"),
    Event("put", f"put the shirt in the {WASHER}", "", ActionKind.PUT, WASHER, ("take",)),
    Event("on", f"turn on the {WASHER}", "", ActionKind.SWITCH_ON, WASHER, ("put",)),
]
PIE = [
    Event("take", "pick up the pie", "", ActionKind.TAKE, "pie"),
    Event("put", f"put the pie in the {FRIDGE}", "", ActionKind.PUT, FRIDGE, ("take",)),
    Event("close", f"close the {FRIDGE}", "", ActionKind.CLOSE, FRIDGE, ("put",)),
]
TORCHES = [
    Event("stick", "make a stick", "", ActionKind.MAKE, "stick"),
    Event("torch", "get three torches", "", ActionKind.MAKE, "torch", ("stick",)),
]
SHEEP = [Event("sheep", "defeat a sheep", "", ActionKind.GATHER, "sheep")]
EVERYWHERE = Lexicon(
    frozenset((LAMP, WASHER, FRIDGE, "shirt", "pie", "stick", "torch", "sheep")), {}
)


@pytest.mark.parametrize(
    ("goal", "events", "why"),
    [
        ("Switch off every ceiling lamp.", OFF, ""),
        ("Switch off a ceiling lamp.", OFF, "wants 2"),
        ("Wash the shirt: put it in the washing machine and turn it on.", SHIRT, ""),
        ("Put the shirt in the washing machine and leave it off.", SHIRT, "light"),
        ("Keep the pie cold in the fridge, and shut it.", PIE, ""),
        ("Put the pie in the fridge.", PIE, "close"),
        ("Close the fridge, then put the pie in it and leave the fridge open.", PIE, "open"),
        ("Put the pie in the fridge after closing it.", PIE, "open"),
        ("Craft three torches out of a stick.", TORCHES, ""),
        ("Craft four torches.", TORCHES, "'four'"),
        ("Craft three torches and a stick.", TORCHES, "besides"),
        ("Craft three torches and three sticks.", TORCHES, "number"),
        ("Place three torches.", TORCHES, "get"),
        ("Craft a stick.", TORCHES, "does not name"),
        ("Slay a sheep.", SHEEP, ""),
        ("Feed a sheep.", SHEEP, "eat"),
        ("Follow a sheep.", SHEEP, "defeat"),
        ("Slay a sheep only after nightfall.", SHEEP, "'only'"),
        ("Slay a sheep and hide its wool.", SHEEP, "'hide'"),
        ("Put the shirt in the washing machine, shut it and start it.", SHIRT, ""),
        ("Put half of the pie in the fridge and shut it.", PIE, "'half'"),
        ("The pie has to be kept cool: it goes in the fridge, which must be closed.", PIE, ""),
    ],
)
def test_goals_of_other_environments(goal: str, events: list[Event], why: str) -> None:
    things = [SceneObject(f"{LAMP}_{n}", LAMP, {}) for n in "12"]
    said = misread(goal, events, things, EVERYWHERE)
    assert why in said if why else not said


def put(thing: str, place: str) -> Event:
    wish = f"put the {thing.partition('_')[0]} in the {place.partition('_')[0]}"
    return Event(f"{wish} {thing}", wish, "-", ActionKind.PUT, place, objects=(thing, place))


@pytest.mark.parametrize(
    ("goal", "means_it"),
    [
        ("put cup 1 in the drawer and put cup 2 in the fridge", True),
        ("put cup 2 in the fridge and put cup 1 in drawer 1", True),
        ("put cup 2 in the drawer and put cup 1 in the fridge", False),
        ("put cup 1 in drawer 2 and put cup 2 in the fridge", False),
    ],
)
def test_each_of_several_objects_of_a_kind_goes_where_the_scene_wants_it(
    goal: str, means_it: bool
) -> None:
    events = [
        *(Event(f"take {n}", "pick up the cup", "-", ActionKind.TAKE, "cup") for n in (1, 2)),
        put("cup_1", "drawer_1"),
        put("cup_2", "fridge_1"),
    ]
    assert (misread(goal, events, THINGS, TEMPLATE.lexicon) == "") is means_it


@pytest.mark.parametrize(
    ("goal", "means_it"),
    [
        ("Turn off the floor lamp in the bedroom.", True),
        ("Turn off the bedroom floor lamp.", True),
        ("Turn off the floor lamp in the kitchen.", False),
        ("Turn off the kitchen floor lamp.", False),
    ],
)
def test_a_goal_names_the_room_of_what_it_is_about(goal: str, means_it: bool) -> None:
    things = [
        SceneObject("floor lamp_1", "floor lamp", {"on": True}, room="kitchen"),
        SceneObject("floor lamp_2", "floor lamp", {"on": True}, room="bedroom"),
    ]
    wish = "turn off the floor lamp"
    off = Event("off", wish, "-", ActionKind.SWITCH_OFF, "floor lamp", objects=("floor lamp_2",))
    assert (misread(goal, [off], things, TEMPLATE.lexicon) == "") is means_it


@pytest.mark.parametrize(
    ("goal", "means_it"),
    [
        ("Take the cup from the bedroom to the kitchen and put it in the drawer.", True),
        ("Put the cup that is in the bedroom in the kitchen drawer.", True),
        ("Carry the cup to the bedroom and put it in the drawer.", False),
        ("Put the cup in the drawer in the bathroom.", False),
    ],
)
def test_what_is_moved_may_be_named_with_the_room_it_goes_to(goal: str, means_it: bool) -> None:
    things = [
        SceneObject("cup_1", "cup", {}, room="bedroom"),
        SceneObject("drawer_1", "drawer", {}, room="kitchen"),
        SceneObject("book_1", "book", {}, room="bathroom"),
    ]
    take = Event("take", "pick up the cup", "-", ActionKind.TAKE, "cup", objects=("cup_1",))
    events = [take, put("cup_1", "drawer_1")]
    assert (misread(goal, events, things, TEMPLATE.lexicon) == "") is means_it


@pytest.mark.parametrize(
    ("goal", "means_it"),
    [
        ("Put the cup from the countertop in the drawer.", True),
        ("Put the cup that's on countertop 1 in the drawer.", True),
        ("Put the cup from the microwave in the drawer.", False),
        ("Put the cup that was left in the fridge in the drawer.", False),
        ("Take the cup out of the fridge and put it in the drawer.", False),
    ],
)
def test_a_thing_is_where_the_goal_says_that_it_is(goal: str, means_it: bool) -> None:
    things = [
        *THINGS,
        SceneObject("cup_1", "cup", {}, "countertop_1"),
        SceneObject("cup_2", "cup", {}, "fridge_1", inside=True),
    ]
    take = Event("take", "pick up the cup", "-", ActionKind.TAKE, "cup", objects=("cup_1",))
    events = [take, put("cup_1", "drawer_1")]
    assert (misread(goal, events, things, TEMPLATE.lexicon) == "") is means_it


@pytest.mark.parametrize(
    "goal",
    [
        "Put the cup in the drawer, then bring it back here.",
        "Put the cup in the drawer, then put it down here.",
        "Put the cup in the drawer, then put it in the sink.",
        "Put the cup in the drawer and the knife in the sink.",
        "Put the cup in the drawer and wash it.",
        "Take the cup in the drawer and hold it.",
        "Bring me the cup that is in the drawer.",
        "Is the cup in the drawer?",
        "You have put the cup in the drawer already.",
        "Put each cup in the drawer.",
        "The cup cannot go in the drawer.",
        "Make sure nobody puts the cup in the drawer.",
        "Put the cup in the drawer only when I come home.",
        "Put the cup in the other drawer.",
        "Let my sister put the cup in the drawer.",
        "Put the cup in the drawer? Just kidding.",
    ],
)
@pytest.mark.parametrize("plain", [False, True])
def test_what_is_wanted_besides_or_not_at_all_is_found(goal: str, plain: bool) -> None:
    take = Event("take", "pick up the cup", "-", ActionKind.TAKE, "cup")
    things = [*THINGS, SceneObject("sink_1", "sink", {}), SceneObject("knife_1", "knife", {})]
    events = [take, put("cup_1", "drawer_1")]
    assert misread(goal, events, things, TEMPLATE.lexicon, plain=plain)
    assert not misread("Put the cup in the drawer", events, things, TEMPLATE.lexicon, plain=plain)


@pytest.mark.parametrize(
    ("goal", "means_it"),
    [
        ("Make a wooden hoe and use it.", True),
        ("Use a wooden hoe that you have made for us.", True),
        ("Make a wooden hoe and wield it.", True),
        ("Make a wooden hoe for us.", False),
    ],
)
def test_what_is_to_be_used_has_to_be_said(goal: str, means_it: bool) -> None:
    events = [
        Event("wooden_hoe", "get a wooden hoe", "", ActionKind.MAKE, "wooden_hoe"),
        Event("use", "use the wooden hoe", "", ActionKind.OTHER, "wooden_hoe", ("wooden_hoe",)),
    ]
    lexicon = Lexicon(frozenset(["wooden hoe"]), {}, {})
    assert (misread(goal, events, [], lexicon) == "") is means_it
    assert misread("Make a wooden hoe and use it.", events[:1], [], lexicon)


@pytest.mark.parametrize(
    ("goal", "means_it"),
    [
        ("Make a furnace, put it down and cook some mutton in it.", True),
        ("Make a furnace, put it down and get some cooked mutton in the furnace.", True),
        (
            "Make a furnace, put it down and fire the mutton until you have got some cooked one",
            False,
        ),
        ("Make a furnace, put it down, get cooked mutton and put it in the furnace.", False),
        ("Make a furnace, put it down and cook some beef in it.", False),
        ("Make a furnace, put it down and get some mutton.", False),
        ("Make a furnace, put it down and cook no mutton.", False),
        ("Make a furnace, put it down and cook five mutton.", False),
        ("Make a furnace, put it down, so that you can cook some mutton.", False),
        ("Make a furnace, put it down, cook some mutton and leave it there.", False),
        ("Make a furnace, put it down and leave the cooked mutton in the furnace.", False),
    ],
)
def test_cooking_something_gets_it_cooked(goal: str, means_it: bool) -> None:
    events = [
        Event("furnace", "make a furnace", "", ActionKind.MAKE, "furnace"),
        Event("down", "put down the furnace", "", ActionKind.DROP, "furnace", ("furnace",)),
        Event("mutton", "get some cooked mutton", "", ActionKind.MAKE, "mutton", ("down",)),
    ]
    kinds = ("furnace", "mutton", "cooked mutton", "beef", "cooked beef", "fire")
    lexicon = Lexicon(frozenset(kinds), {}, products={"cooked mutton": "mutton"})
    assert (misread(goal, events, [], lexicon) == "") is means_it


def test_a_noun_before_what_is_done_to_something_is_a_verb() -> None:
    nouns = SceneNouns(Lexicon(frozenset(("fire", "clay")), {}))
    assert [m.kind for m in nouns.mentions("then fire some clay in the fire")] == ["clay", "fire"]
    assert [m.kind for m in nouns.mentions("put the fire and clay down")] == ["fire", "clay"]


def test_words_that_no_scene_explains_are_listed_once() -> None:
    said = "Don't put the mug in the caf\u00e9, won't you, café or not; wash the mug well"
    assert unknown_words(said, TEMPLATE.lexicon, "wash the mug") == ["caf\u00e9", "well"]
