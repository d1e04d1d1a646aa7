import random

from alfred_teaching import Rewording, SpokenGoal
from inhabit.agents.dialogue.synonyms import surface_forms
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.tasks.sampling import instructions

GOAL = AlfredGoal(type="pick_heat_then_place_in_recep", object="Mug", parent="Fridge")


def spoken(text: str, thing: str, place: str) -> SpokenGoal:
    return SpokenGoal(text, (), "pick_heat_then_place_in_recep", (thing, place, ""), "", "")


def said(rewording: Rewording, goal: AlfredGoal = GOAL) -> set[str]:
    return {rewording(goal, random.Random(seed)) for seed in range(60)}


def test_without_people_goals_are_in_our_wordings() -> None:
    assert said(Rewording((), surface_forms)) == set(instructions(GOAL))


def test_sentences_of_people_are_taken_for_the_same_goal() -> None:
    own = spoken("nuke the cup, chill", "mug", "fridge")
    assert said(Rewording([own], surface_forms, people=1.0)) == {"nuke the cup, chill"}


def test_nouns_are_exchanged_where_both_are_named() -> None:
    both = spoken("Cook a potato and store it in the bin.", "potato", "garbage can")
    one = spoken("Cook it for the bin.", "potato", "garbage can")
    found = said(Rewording([both, one], surface_forms, people=1.0))
    assert "cook a mug and store it in the fridge." in found
    assert all("mug" in text and ("fridge" in text or "refrigerator" in text) for text in found)


def test_a_sentence_of_another_kind_of_task_is_not_taken() -> None:
    cold = AlfredGoal(type="pick_cool_then_place_in_recep", object="Mug", parent="Fridge")
    both = spoken("Cook a potato and store it in the bin.", "potato", "garbage can")
    assert said(Rewording([both], surface_forms, people=1.0), cold) == set(instructions(cold))
