"""Our own wordings of the goals."""

from __future__ import annotations

import random
from collections.abc import Mapping

from inhabit.envs.alfred.language.grammar import preposition
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.world.words import plural, with_article

_WORDINGS: Mapping[str, tuple[str, ...]] = {
    "pick_and_place_simple": (
        "Put {a_thing} {in_the_place}.",
        "Place {a_thing} {in_the_place}.",
        "Find {a_thing} and put it {in_the_place}.",
        "Move {a_thing} so that it ends up {in_the_place}.",
        "I would like {a_thing} to be {in_the_place}.",
        "{A_thing} belongs {in_the_place}. Bring it there.",
    ),
    "pick_two_obj_and_place": (
        "Put two {things} {in_the_place}.",
        "Place two {things} {in_the_place}.",
        "Gather two {things} {in_the_place}.",
        "Find two {things} and put both of them {in_the_place}.",
        "Two {things} should be together {in_the_place}.",
        "Bring one {thing} and then another, and leave both {in_the_place}.",
    ),
    "look_at_obj_in_light": (
        "Look at {a_thing} under {a_lamp}.",
        "Examine {a_thing} by the light of {a_lamp}.",
        "Hold {a_thing} and turn on {a_lamp}.",
        "Pick up {a_thing} and look at it in the light of {a_lamp}.",
        "Switch on {a_lamp} while you hold {a_thing}.",
        "Take {a_thing} to {a_lamp} and light it up.",
    ),
    "pick_clean_then_place_in_recep": (
        "Wash {a_thing} and put it {in_the_place}.",
        "Put {a_clean_thing} {in_the_place}.",
        "Rinse {a_thing} under the faucet, then place it {in_the_place}.",
        "Clean {a_thing} and leave it {in_the_place}.",
        "I need {a_clean_thing} {in_the_place}.",
        "Give {a_thing} a wash before you put it {in_the_place}.",
    ),
    "pick_heat_then_place_in_recep": (
        "Heat {a_thing} and put it {in_the_place}.",
        "Put {a_hot_thing} {in_the_place}.",
        "Warm {a_thing} in the microwave, then place it {in_the_place}.",
        "Microwave {a_thing} and leave it {in_the_place}.",
        "I need {a_hot_thing} {in_the_place}.",
        "Make {a_thing} hot before you put it {in_the_place}.",
    ),
    "pick_cool_then_place_in_recep": (
        "Cool {a_thing} and put it {in_the_place}.",
        "Put {a_cold_thing} {in_the_place}.",
        "Chill {a_thing} in the fridge, then place it {in_the_place}.",
        "Let {a_thing} get cold in the fridge and move it so that it is {in_the_place}.",
        "I need {a_cold_thing} {in_the_place}.",
        "Make {a_thing} cold before you put it {in_the_place}.",
    ),
    "pick_and_place_with_movable_recep": (
        "Put {a_thing} {in_a_movable} and put both {in_the_place}.",
        "Place {a_movable} with {a_thing} {in_it} {in_the_place}.",
        "Move {a_movable} {in_the_place} once {a_thing} is {in_it}.",
        "Set {a_thing} {in_a_movable}, then set the {movable} {in_the_place}.",
        "There should be {a_movable} {in_the_place} with {a_thing} {in_it}.",
        "Load {a_movable} with {a_thing} and leave it {in_the_place}.",
    ),
}


def instruction(goal: AlfredGoal, rng: random.Random) -> str:
    """A random wording of a goal."""
    return rng.choice(_WORDINGS[goal.type]).format_map(_terms(goal))


def instructions(goal: AlfredGoal) -> list[str]:
    """All wordings of a goal."""
    return [wording.format_map(_terms(goal)) for wording in _WORDINGS[goal.type]]


def _terms(goal: AlfredGoal) -> Mapping[str, str]:
    thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
    place, movable, lamp = (word(t) if t else "" for t in (goal.parent, goal.movable, goal.toggle))
    inside = preposition(movable)
    return {
        "thing": thing,
        "things": plural(thing),
        "a_thing": with_article(thing),
        "A_thing": with_article(thing).capitalize(),
        "a_clean_thing": with_article(f"clean {thing}"),
        "a_hot_thing": with_article(f"hot {thing}"),
        "a_cold_thing": with_article(f"cold {thing}"),
        "in_the_place": f"{preposition(place)} the {place}",
        "movable": movable,
        "a_movable": with_article(movable),
        "in_a_movable": f"{inside} {with_article(movable)}",
        "in_it": f"{inside} it",
        "a_lamp": with_article(lamp),
    }
