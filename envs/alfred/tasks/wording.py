"""Our own wordings of the goals."""

from __future__ import annotations

import random
from collections.abc import Mapping

from inhabit.envs.alfred.language.grammar import preposition
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.world.words import plural, with_article


def instruction(goal: AlfredGoal, rng: random.Random) -> str:
    """A random wording of a goal."""
    return rng.choice(goal.kind.says).format_map(_terms(goal))


def instructions(goal: AlfredGoal) -> list[str]:
    """All wordings of a goal."""
    return [wording.format_map(_terms(goal)) for wording in goal.kind.says]


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
