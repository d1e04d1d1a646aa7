"""Every plausible goal in every wording of ALFRED's task texts."""

from __future__ import annotations

from collections.abc import Iterator

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.tasks.sampling import goals_of
from inhabit.envs.alfred.tasks.wording import instructions
from inhabit.envs.alfred.world.kinds import KIND_NAMES
from inhabit.envs.template import WordedGoal


def wordings() -> Iterator[WordedGoal]:
    """All pairs of text and goal, whether or not any room has their objects."""
    for type in KIND_NAMES:
        for goal in goals_of(type):
            thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
            place = word(goal.parent or str(goal.toggle))
            parts = (thing, place, word(goal.movable) if goal.movable else "")
            for text in instructions(goal):
                yield WordedGoal(text, type, parts)
