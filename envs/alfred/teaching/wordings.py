"""Every goal that people may have in a household, in all the ways that ALFRED's tasks word it."""

from __future__ import annotations

from collections.abc import Iterator

from inhabit.eie.tuning.goals import Worded
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.tasks.sampling import TYPES, goals_of
from inhabit.envs.alfred.tasks.wording import instructions


def wordings() -> Iterator[Worded]:
    """Whether any room has what they speak of or not."""
    for type in TYPES:
        for goal in goals_of(type):
            thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
            place = word(goal.parent or str(goal.toggle))
            parts = (thing, place, word(goal.movable) if goal.movable else "")
            for text in instructions(goal):
                yield Worded(text, type, parts)
