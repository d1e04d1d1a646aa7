"""Every goal that people may have in a household, in all the ways that ALFRED's tasks word it."""

from __future__ import annotations

from collections.abc import Iterator

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.tasks.sampling import TYPES, goals_of
from inhabit.envs.alfred.tasks.wording import instructions
from inhabit.envs.template import WordedGoal


def wordings() -> Iterator[WordedGoal]:
    """Whether any room has what they speak of or not."""
    for type in TYPES:
        for goal in goals_of(type):
            thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
            place = word(goal.parent or str(goal.toggle))
            parts = (thing, place, word(goal.movable) if goal.movable else "")
            for text in instructions(goal):
                yield WordedGoal(text, type, parts)
