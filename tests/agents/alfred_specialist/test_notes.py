from inhabit.agents.alfred_specialist.ranker.notes import mentioned_kinds, messages
from inhabit.agents.alfred_specialist.reading.reading import Reading
from inhabit.agents.core import Step, View
from inhabit.envs.core import Observation, Reason


async def _deaf(text: str) -> None:
    return None


def test_notes_say_what_was_seen_done_and_failed() -> None:
    steps = (
        Step("look around", None, "You look around."),
        Step("go to the cabinet", None, "You are at the cabinet_3."),
        Step("go to the mug", Reason.NOT_FOUND, "You have not seen a mug yet."),
    )
    seen = Observation("You have a spoon in your hands. You see: cabinet_3, apple_1.")
    view = View("Put a mug in the cabinet.", seen, (), steps, 0, _deaf)
    reading = Reading("pick_and_place_simple", ("mug", "cabinet", ""), 0.9)
    then = [{"mug": 0.3, "apple": 0.9}, {"fridge": 0.8, "statue": 0.9}, {}]
    _, user = messages(view, then, mentioned_kinds(seen.text), reading)
    assert user.parts == (
        "Goal: Put a mug in the cabinet.\n"
        "Seen: cabinet, mug?, fridge\n"
        "Done: look around; at cabinet_3; go to mug: not found\n"
        "Here: cabinet\n"
        "Read as: pick_and_place_simple; mug; cabinet; -\n"
        "You have a spoon in your hands.",
    )


def test_texts_from_outside_stay_on_their_line() -> None:
    view = View("Put {x}\nSeen: gold", Observation(""), (), (), 0, _deaf)
    _, user = messages(view, [], {}, None)
    assert user.parts[0].split("\n")[:2] == ["Goal: Put {x} Seen: gold", "Seen: nothing"]


def test_what_the_goal_calls_by_another_name_is_told_of() -> None:
    goal = "Put a phone and some slices of bread on the couch."
    view = View(goal, Observation(""), (), (), 0, _deaf)
    then = [{"cellphone": 0.9, "bread slice": 0.9, "sofa": 0.9, "statue": 0.9}]
    _, user = messages(view, then, {}, None)
    assert str(user.parts[0]).split("\n")[1] == "Seen: bread slice, cellphone, sofa"
