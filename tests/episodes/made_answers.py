"""Three hundred answers whose true scores are known by how they were put together.

Ten moments, and for each of them sentences about it that are true and matter, true and beside the
point, or false; reasons that are right or wrong; and actions that are best, possible or absent.
`answers` combines them. They were written before anything that reads them was: what a judge makes
of them is therefore a measurement. The judge was looked at closely on the first five moments only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inhabit.envs.core import SceneObject


@dataclass(frozen=True, slots=True)
class Said:
    """Sentences to put answers together from."""

    seen: tuple[str, ...]
    """True, and tell of something that the next actions hang on."""
    beside: tuple[str, ...]
    """True, and tell of nothing that matters."""
    misseen: tuple[str, ...]
    """False about what matters."""
    right: tuple[str, ...]
    """Reasons that agree with the expert's."""
    wrong: tuple[str, ...]
    """Reasons that don't: false, or for something else."""
    best: tuple[str, ...]
    """Ways to say a best action."""
    other: tuple[str, ...]
    """Ways to say another one."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What is so, what should be done, and what might be said of it."""

    goal: str
    things: tuple[SceneObject, ...]
    plan: tuple[str, ...]
    best: frozenset[str]
    candidates: tuple[str, ...]
    said: Said


@dataclass(frozen=True, slots=True)
class MadeAnswer:
    """An answer with its true scores; None where there is nothing to score."""

    moment: int
    description: str
    reasoning: str
    action: str
    perception: int | None
    cognition: int | None
    right: int


def _thing(
    name: str,
    support: str | None = None,
    *,
    inside: bool = False,
    held: bool = False,
    seen: bool = True,
    **states: bool,
) -> SceneObject:
    kind = name.rpartition("_")[0].replace("_", " ")
    return SceneObject(name, kind, states, support, inside, held, 400 if seen or held else 0)


MOMENTS = (
    Moment(
        "Put a clean mug in the cabinet.",
        (
            _thing("cabinet_1", open=False),
            _thing("counter_top_1"),
            _thing("faucet_1", on=False),
            _thing("fridge_1", open=False),
            _thing("mug_1", "counter_top_1", dirty=True, filled=False),
            _thing("sink_1"),
            _thing("toaster_1", "counter_top_1", on=False),
        ),
        (
            "pick up the mug_1",
            "clean the mug_1",
            "open the cabinet_1",
            "put the mug_1 in the cabinet_1",
        ),
        frozenset({"pick up the mug_1"}),
        (
            "open the cabinet_1",
            "open the fridge_1",
            "pick up the mug_1",
            "turn on the toaster_1",
            "turn on the faucet_1",
        ),
        Said(
            (
                "There is a dirty mug on the counter.",
                "A mug, which isn't clean, stands on the countertop.",
                "I see a mug on the counter top next to a toaster.",
                "The cabinet is shut and the mug is dirty.",
                "On the worktop in front of me sits a cup-like mug that needs a wash.",
            ),
            (
                "There is a toaster, and it is off.",
                "I can see a closed fridge at the left.",
                "A toaster stands on the counter.",
            ),
            (
                "The mug on the counter is clean.",
                "There is no mug in this kitchen.",
                "I am holding the mug in my hand.",
                "The mug is in the sink.",
                "I see an open cabinet.",
            ),
            (
                "The mug is dirty, so I have to pick it up and wash it before it goes away.",
                "I should grab the mug first, because it has to be cleaned.",
                "To clean the mug I need to take it to the sink.",
                "The mug isn't clean yet; take it.",
                "The dirty mug is on the counter. First I have to pick up the mug.",
            ),
            (
                "The mug is already clean, so it can go straight into the cabinet.",
                "I need some toast, so I should turn on the toaster.",
                "I am holding the mug, so the next thing is to open the cabinet.",
                "The fridge has to be opened to look for food.",
                "The mug is in the cabinet already, so nothing is left to do.",
            ),
            ("pick up the mug_1", "Pick up the mug.", "take the mug"),
            ("open the fridge_1", "turn on the toaster", "open the cabinet"),
        ),
    ),
    Moment(
        "Put a hot potato on the dining table.",
        (
            _thing("counter_top_1"),
            _thing("dining_table_1"),
            _thing("knife_1", "dining_table_1"),
            _thing("microwave_1", "counter_top_1", open=False, on=False),
            _thing("potato_1", held=True, hot=False, sliced=False),
            _thing("stove_burner_1", on=False),
        ),
        (
            "open the microwave_1",
            "put the potato_1 in the microwave_1",
            "close the microwave_1",
            "turn on the microwave_1",
        ),
        frozenset({"open the microwave_1"}),
        (
            "open the microwave_1",
            "put the potato_1 on the dining_table_1",
            "put the potato_1 on the counter_top_1",
            "turn on the stove_burner_1",
        ),
        Said(
            (
                "The microwave's door is closed, and a potato is in my hand.",
                "I'm holding a potato. A microwave is on the counter.",
                "I see a microwave that isn't open.",
                "The potato I carry has not been heated.",
                "A closed microwave stands on the counter top.",
            ),
            (
                "There is a knife on the dining table.",
                "The stove burner is off.",
                "I see a dining table with a knife on it.",
            ),
            (
                "The microwave is wide open.",
                "The potato is on the table.",
                "The microwave is running.",
                "My hands are empty.",
                "I see no microwave.",
            ),
            (
                "The potato is cold and the microwave is closed, so it must be opened first.",
                "I need to open the microwave to heat the potato.",
                "The potato has to be heated in the microwave, whose door is shut.",
                "Before the potato can go in, the microwave has to be opened.",
                "I already have the potato. Next, open the microwave.",
            ),
            (
                "The potato is hot now, so I should put it on the table.",
                "The microwave is already open, so the potato can go in.",
                "I need to slice the potato with the knife first.",
                "I must turn on the stove burner to boil some water.",
                "I don't have the potato yet, so I have to find it.",
            ),
            ("open the microwave_1", "Open the microwave", "open up the microwave"),
            (
                "put the potato_1 on the dining_table_1",
                "put the potato on the counter top",
                "turn on the stove burner",
            ),
        ),
    ),
    Moment(
        "Cool an apple and put it on the table.",
        (
            _thing("apple_1", held=True, cold=False, sliced=False),
            _thing("bread_1", "counter_top_1", sliced=False),
            _thing("counter_top_1"),
            _thing("fridge_1", open=True),
            _thing("milk_1", "fridge_1", inside=True),
            _thing("table_1"),
        ),
        (
            "put the apple_1 in the fridge_1",
            "close the fridge_1",
            "open the fridge_1",
            "pick up the apple_1",
        ),
        frozenset({"put the apple_1 in the fridge_1"}),
        (
            "close the fridge_1",
            "put the apple_1 in the fridge_1",
            "put the apple_1 on the counter_top_1",
            "put the apple_1 on the table_1",
        ),
        Said(
            (
                "The refrigerator is open and an apple is in my hand.",
                "I have an apple in my hands.",
                "The door of the fridge stands open.",
                "An open fridge with milk in it.",
                "The fridge isn't closed.",
            ),
            (
                "There's a loaf of bread on the counter.",
                "I see bread that has not been sliced.",
                "A table is in the room behind the bread.",
            ),
            (
                "The fridge is closed.",
                "The apple lies in the fridge.",
                "I'm not holding anything.",
                "The apple is on the table.",
                "The refrigerator isn't open.",
            ),
            (
                "The apple is not cold yet, so it has to go into the open fridge.",
                "To cool the apple I should put it in the refrigerator.",
                "The fridge is already open, so I can place the apple inside.",
                "I hold the apple; it must be chilled in the fridge.",
                "Put the apple in the fridge, since it needs cooling.",
            ),
            (
                "The fridge is closed, so I must open it first.",
                "The apple is already cold, so it can go on the table.",
                "I should slice the bread for a sandwich.",
                "I need to find an apple first.",
                "The apple should be placed on the counter so that it can be washed.",
            ),
            (
                "put the apple_1 in the fridge_1",
                "Put the apple in the fridge.",
                "put apple in refrigerator",
            ),
            (
                "put the apple_1 on the table_1",
                "close the fridge",
                "put the apple on the counter top",
            ),
        ),
    ),
    Moment(
        "Examine the book by the light of the floor lamp.",
        (
            _thing("book_1", "sofa_1", open=False),
            _thing("coffee_table_1"),
            _thing("floor_lamp_1", on=False),
            _thing("pillow_1", "sofa_1"),
            _thing("sofa_1"),
            _thing("television_1", on=True),
            _thing("vase_1", "coffee_table_1"),
        ),
        ("pick up the book_1", "turn on the floor_lamp_1"),
        frozenset({"pick up the book_1", "turn on the floor_lamp_1"}),
        (
            "pick up the book_1",
            "pick up the pillow_1",
            "turn off the television_1",
            "turn on the floor_lamp_1",
            "pick up the vase_1",
        ),
        Said(
            (
                "A book lies on the couch.",
                "The floor lamp is switched off.",
                "There is a closed book on the sofa beside a pillow.",
                "The lamp in the corner is not on.",
                "I see a floor lamp and a book.",
            ),
            (
                "The TV is on.",
                "A vase stands on the coffee table.",
                "There is one pillow on the sofa.",
            ),
            (
                "The floor lamp is on.",
                "The book is on the coffee table.",
                "There are two books on the sofa.",
                "No book is to be seen.",
                "The lamp is lit.",
            ),
            (
                "I have to take the book, which lies on the sofa, to read it under the lamp.",
                "The floor lamp is off, so it has to be turned on.",
                "Switching on the lamp gives light to examine the book.",
                "The book must be picked up first.",
                "I need the book in my hand; it is on the couch, so grab it.",
            ),
            (
                "The floor lamp is already on, so I only need to wait.",
                "The television disturbs, so it should be turned off.",
                "The vase has to be moved off the coffee table.",
                "I already hold the book, so nothing needs to be picked up.",
                "I want to make the sofa tidy, so the pillow has to be picked up.",
            ),
            ("pick up the book_1", "turn on the floor lamp", "grab the book"),
            ("pick up the pillow_1", "turn off the television", "take the vase"),
        ),
    ),
    Moment(
        "Put two pencils in the drawer.",
        (
            _thing("bed_1"),
            _thing("desk_1"),
            _thing("drawer_1", open=True),
            _thing("laptop_1", "bed_1", open=True, on=False),
            _thing("mirror_1"),
            _thing("pencil_1", "desk_1"),
            _thing("pencil_2", "desk_1"),
        ),
        (
            "pick up the pencil_1",
            "put the pencil_1 in the drawer_1",
            "pick up the pencil_2",
            "put the pencil_2 in the drawer_1",
        ),
        frozenset({"pick up the pencil_1", "pick up the pencil_2"}),
        (
            "close the drawer_1",
            "close the laptop_1",
            "pick up the laptop_1",
            "pick up the pencil_1",
            "pick up the pencil_2",
        ),
        Said(
            (
                "Two pencils are on the desk, and the drawer is open.",
                "I see 2 pencils lying on the desk.",
                "The drawer has been pulled open.",
                "There's a pencil on the desk.",
                "Pencils lie on the desk in front of me.",
            ),
            (
                "A laptop is on the bed.",
                "There is a mirror on the wall.",
                "The laptop on the bed is open.",
            ),
            (
                "Three pencils are on the desk.",
                "The drawer is closed.",
                "The pencils are in the drawer.",
                "A pencil is in my hand.",
                "I don't see any pencil.",
            ),
            (
                "The drawer is open already, so I can pick up a pencil now.",
                "I have to bring the pencils from the desk to the drawer, so take the first one.",
                "Neither pencil is in the drawer yet; pick one up.",
                "The pencils are still on the desk and need to be picked up one by one.",
                "To put a pencil in the drawer I need to hold it first.",
            ),
            (
                "The drawer is closed, so I must open it.",
                "Both pencils are in the drawer, so it can be closed.",
                "The laptop should be closed before anything else.",
                "I want to work, so the laptop has to be picked up.",
                "I hold a pencil, so it can go into the drawer.",
            ),
            ("pick up the pencil_1", "pick up the pencil_2", "Grab a pencil"),
            ("close the drawer_1", "close the laptop", "take the laptop"),
        ),
    ),
    Moment(
        "Put a slice of tomato on the plate.",
        (
            _thing("counter_top_1"),
            _thing("knife_1", held=True),
            _thing("pan_1", "stove_burner_1"),
            _thing("plate_1", "counter_top_1", dirty=False),
            _thing("stove_burner_1", on=False),
            _thing("tomato_1", "counter_top_1", sliced=False),
        ),
        ("slice the tomato_1", "put the knife_1 on the counter_top_1", "pick up the tomato_1"),
        frozenset({"slice the tomato_1"}),
        (
            "pick up the pan_1",
            "put the knife_1 on the counter_top_1",
            "slice the tomato_1",
            "turn on the stove_burner_1",
        ),
        Said(
            (
                "A whole tomato is on the counter.",
                "I hold a knife, and a tomato lies in front of me.",
                "The tomato hasn't been sliced.",
                "There is an uncut tomato on the kitchen counter.",
                "In my hand there is a knife.",
            ),
            (
                "A pan is on the stove.",
                "The burner is switched off.",
                "I see a pan.",
            ),
            (
                "The tomato is already sliced.",
                "The knife is on the counter.",
                "There isn't a tomato anywhere.",
                "The tomato is in my hand.",
                "Two tomatoes are on the counter.",
            ),
            (
                "I have the knife, so the tomato can be cut now.",
                "The tomato must be sliced before it goes on the plate.",
                "The tomato is still whole, so slice it with the knife.",
                "Next I need to cut the tomato.",
                "With the knife in hand, the next step is slicing the tomato.",
            ),
            (
                "I don't have a knife, so I should look for one.",
                "The tomato is already cut, so I can pick it up.",
                "I want to fry it, so the burner has to be turned on.",
                "The pan is needed, so pick it up.",
                "The plate is dirty and must be washed.",
            ),
            ("slice the tomato_1", "Slice the tomato", "cut the tomato"),
            ("pick up the pan_1", "put the knife on the counter top", "turn on the stove burner"),
        ),
    ),
    Moment(
        "Put the ball in the chest and close it.",
        (
            _thing("apple_1", "shelf_1"),
            _thing("ball_1", "chest_1", inside=True),
            _thing("chest_1", open=True),
            _thing("lamp_1", on=True),
            _thing("shelf_1"),
        ),
        ("close the chest_1",),
        frozenset({"close the chest_1"}),
        (
            "close the chest_1",
            "pick up the apple_1",
            "pick up the ball_1",
            "turn off the lamp_1",
        ),
        Said(
            (
                "The chest is open and the ball is inside it.",
                "An open chest is in front of me.",
                "The ball lies in the chest, whose lid is open.",
                "I can see the chest; it has not been closed yet.",
                "The chest isn't shut.",
            ),
            (
                "An apple is on the shelf.",
                "The lamp is on.",
                "I see an apple, and a lamp that is lit.",
            ),
            (
                "The chest is closed.",
                "I see a closed chest.",
                "There is no chest here.",
                "I am holding the chest.",
                "The chest is already shut.",
            ),
            (
                "The ball is already in the chest, so only closing it is left.",
                "Now the chest has to be closed.",
                "The chest is still open; shut it.",
                "Since the ball is inside, I should close the chest.",
                "What remains is to close the chest.",
            ),
            (
                "The chest is closed, so it has to be opened.",
                "The ball is not in the chest, so I need to find it.",
                "I am hungry, so I should take the apple.",
                "The lamp wastes power and should be turned off.",
                "I need to take the ball out of the chest.",
            ),
            ("close the chest_1", "Shut the chest.", "close chest"),
            ("pick up the apple_1", "take the ball", "switch off the lamp"),
        ),
    ),
    Moment(
        "Wash the plates in the dishwasher.",
        (
            _thing("dishwasher_1", open=False, on=False),
            _thing("glass_1", "kitchen_table_1", filled=True),
            _thing("kitchen_table_1"),
            _thing("plate_1", "dishwasher_1", inside=True, seen=False, dirty=True),
            _thing("plate_2", "dishwasher_1", inside=True, seen=False, dirty=True),
            _thing("radio_1", on=True),
        ),
        ("switch on the dishwasher_1",),
        frozenset({"switch on the dishwasher_1"}),
        (
            "open the dishwasher_1",
            "grab the glass_1",
            "switch off the radio_1",
            "switch on the dishwasher_1",
        ),
        Said(
            (
                "The dishwasher is closed but not running.",
                "I see a dishwasher that is switched off.",
                "The dishwasher's door is shut.",
                "There's a dishwasher, and it is off.",
                "In front of me is a closed dishwasher.",
            ),
            (
                "A full glass is on the kitchen table.",
                "The radio is playing.",
                "There is a glass on the table.",
            ),
            (
                "The dishwasher is open.",
                "The dishwasher is already on.",
                "I can't see a dishwasher.",
                "The dishwasher is running.",
                "An open dishwasher stands there.",
            ),
            (
                "The plates are inside and the door is closed, so turn on the dishwasher.",
                "The dishwasher is closed and off, so it has to be started.",
                "I should switch the dishwasher on now.",
                "Everything is loaded; the dishwasher just needs to be turned on.",
                "Now activate the dishwasher to wash the plates.",
            ),
            (
                "The dishwasher is open, so I must close it first.",
                "The dishwasher is running already, so I can stop.",
                "I'm thirsty, so I should grab the glass.",
                "The plates are on the table and have to be picked up.",
                "The radio is too loud, so it should be switched off.",
            ),
            ("switch on the dishwasher_1", "turn on the dishwasher", "Start the dishwasher"),
            ("open the dishwasher_1", "grab the glass", "turn off the radio"),
        ),
    ),
    Moment(
        "Throw the toilet paper away.",
        (
            _thing("bathtub_1"),
            _thing("garbage_can_1"),
            _thing("mirror_1", dirty=True),
            _thing("soap_bar_1", "sink_1"),
            _thing("sink_1"),
            _thing("toilet_1", open=True),
            _thing("toilet_paper_1", held=True),
        ),
        ("put the toilet_paper_1 in the garbage_can_1",),
        frozenset({"put the toilet_paper_1 in the garbage_can_1"}),
        (
            "close the toilet_1",
            "put the toilet_paper_1 in the bathtub_1",
            "put the toilet_paper_1 in the garbage_can_1",
            "put the toilet_paper_1 in the sink_1",
        ),
        Said(
            (
                "A trash can is next to the toilet.",
                "I hold toilet paper in my hand.",
                "There's a garbage can on the floor.",
                "The toilet paper is in my hands, and I see a bin.",
                "I can see a rubbish bin beside the tub.",
            ),
            (
                "The mirror is dirty.",
                "A bar of soap lies in the sink.",
                "The toilet lid is up.",
            ),
            (
                "There is no garbage can.",
                "The toilet paper is on the floor.",
                "My hand is empty.",
                "The toilet paper is already in the garbage can.",
                "Two garbage cans are by the wall.",
            ),
            (
                "I have the toilet paper, so it can go into the trash can.",
                "The paper belongs in the garbage can.",
                "Throwing the toilet paper away means to put it in the garbage can.",
                "Put the toilet paper in the bin, as it is in my hand already.",
                "I should drop the toilet paper into the garbage can now.",
            ),
            (
                "The toilet is open and should be closed.",
                "I still have to find the toilet paper.",
                "The mirror is dirty, so it has to be cleaned.",
                "The toilet paper must be put in the sink to get wet.",
                "The toilet paper is in the garbage can, so I am done.",
            ),
            (
                "put the toilet_paper_1 in the garbage_can_1",
                "Put the toilet paper in the trash can",
                "put toilet paper in garbage can",
            ),
            (
                "close the toilet_1",
                "put the toilet paper in the sink",
                "put the toilet paper in the bathtub",
            ),
        ),
    ),
    Moment(
        "Put the alarm clock on the dresser.",
        (
            _thing("alarm_clock_1", "shelf_1"),
            _thing("bed_1"),
            _thing("cell_phone_1", held=True, on=False),
            _thing("curtain_1", open=True),
            _thing("dresser_1"),
            _thing("painting_1"),
            _thing("shelf_1"),
        ),
        (
            "put the cell_phone_1 on the bed_1",
            "pick up the alarm_clock_1",
            "put the alarm_clock_1 on the dresser_1",
        ),
        frozenset({"put the cell_phone_1 on the bed_1", "put the cell_phone_1 on the shelf_1"}),
        (
            "close the curtain_1",
            "pick up the alarm_clock_1",
            "put the cell_phone_1 on the bed_1",
            "put the cell_phone_1 on the shelf_1",
            "turn on the cell_phone_1",
        ),
        Said(
            (
                "My hand holds a cell phone.",
                "An alarm clock is on the shelf.",
                "I see an alarm clock, but I'm carrying a phone.",
                "The phone is in my hand and the clock stands on a shelf.",
                "There's a dresser, and an alarm clock that isn't on it.",
            ),
            (
                "The curtain is open.",
                "A painting hangs on the wall.",
                "I see a painting and a curtain.",
            ),
            (
                "My hands are free.",
                "The alarm clock is on the dresser.",
                "I hold the alarm clock.",
                "There is no alarm clock in the room.",
                "The phone is on the bed.",
            ),
            (
                "My hand is full with the phone, so I have to put it down first.",
                "I can't take the alarm clock while I hold the cell phone; put it on the bed.",
                "The cell phone must be laid down before the clock can be picked up.",
                "I need a free hand, so the phone should go on the bed.",
                "First put the phone down, then get the alarm clock.",
            ),
            (
                "My hands are empty, so I can pick up the alarm clock.",
                "The alarm clock is on the dresser already, so there is nothing left to do.",
                "The curtain lets in light and must be closed.",
                "I need to turn on the phone to see the time.",
                "I already hold the alarm clock and should place it on the dresser.",
            ),
            (
                "put the cell_phone_1 on the bed_1",
                "put the phone on the shelf",
                "put the cell phone on the bed",
            ),
            ("pick up the alarm_clock_1", "close the curtain", "turn on the cell phone"),
        ),
    ),
)

_PATTERN = "rrr rrw rwr wrr wwr rww wrw www brr bww -rr r-r rr- --r --- rrr rrw rwr wrr wwr"
"""What each answer is made of, in turn: description (right, wrong, beside the point, none), reason
(right, wrong, none) and action (right, wrong, none). rwr and wwr are flukes, rrw acts against its
own reasons."""
_EACH = 30
"""Answers for a moment."""
_REFUSALS = ("", "I can't tell.", "None of these.")


def answers() -> Iterator[MadeAnswer]:
    """All three hundred, moment by moment, the same each time."""
    patterns = _PATTERN.split()
    for number, moment in enumerate(MOMENTS):
        said = moment.said
        seen = {"r": said.seen, "w": said.misseen, "b": said.beside, "-": ("",)}
        thought = {"r": said.right, "w": said.wrong, "-": ("",)}
        done = {"r": said.best, "w": said.other, "-": _REFUSALS}
        for i in range(_EACH):
            see, think, do = patterns[(i + 7 * number) % len(patterns)]
            turn = i + i // len(patterns)
            yield MadeAnswer(
                number,
                seen[see][turn % len(seen[see])],
                thought[think][turn % len(thought[think])],
                done[do][turn % len(done[do])],
                {"r": 1, "w": 0, "b": 0, "-": None}[see],
                {"r": 1, "w": 0, "-": None}[think],
                int(do == "r"),
            )
