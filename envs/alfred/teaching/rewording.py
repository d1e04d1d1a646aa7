"""Other words for a goal: our own wordings, and those that people wrote for similar goals."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.tasks.sampling import goals_of
from inhabit.envs.alfred.tasks.wording import instructions
from inhabit.envs.alfred.teaching.spoken_goals import SpokenGoal
from inhabit.envs.alfred.world.kinds import KIND_NAMES
from inhabit.envs.template import WordedGoal

Parts = tuple[str, str, str]
"""The nouns of object, place (or lamp) and movable receptacle; empty if there is none."""
Forms = Callable[[str], Iterable[str]]
"""Gives the names that people use for a noun, singular and plural; its own name first."""


class Rewording:
    """Says goals in other words."""

    def __init__(self, spoken: Iterable[SpokenGoal], forms: Forms, *, people: float = 0.5) -> None:
        """Say goals in our wordings and in those of people.

        Args:
            spoken: goals of people.
            forms: names that people use for a noun.
            people: probability of a sentence of people where there is one.
        """
        self._people, self._forms = people, forms
        self._said: dict[tuple[str, Parts], list[str]] = {}
        self._frames: dict[tuple[str, bool], list[tuple[str, Parts]]] = {}
        for goal in spoken:
            self._said.setdefault((goal.kind, goal.parts), []).append(goal.text)
            if _with_slots(goal.text, goal.parts, forms) is not None:
                cut = goal.parts[0].endswith(" slice")
                self._frames.setdefault((goal.kind, cut), []).append((goal.text, goal.parts))

    def __call__(self, goal: AlfredGoal, rng: random.Random) -> str:
        """A sentence for `goal`."""
        kind, parts = str(goal.type), parts_of(goal)
        frames = self._frames.get((kind, goal.sliced), ())
        said = self._said.get((kind, parts), ())
        if rng.random() >= self._people or not (frames or said):
            return rng.choice(instructions(goal))
        # Few people spoke of some goals: their sentences would be learned by heart.
        if said and (not frames or rng.random() < len(said) / (len(said) + 5)):
            return rng.choice(said)
        text, theirs = rng.choice(frames)
        pattern = _with_slots(text, theirs, self._forms)
        assert pattern is not None
        names = [_name(part, self._forms, rng) for part in parts]
        return pattern.format(*names)


def parts_of(goal: AlfredGoal) -> Parts:
    """The nouns of `goal`."""
    thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
    return (
        thing,
        word(goal.parent or str(goal.toggle)),
        word(goal.movable) if goal.movable else "",
    )


def _name(noun: str, forms_of: Forms, rng: random.Random) -> str:
    """A name for `noun`: mostly its own."""
    forms = [form for form in forms_of(noun) if not form.endswith("s") or form == noun]
    return noun if rng.random() < 0.7 or not forms else rng.choice(forms)


@lru_cache(maxsize=65536)
def _with_slots(text: str, parts: Parts, forms: Forms) -> str | None:
    """`text` with "{0}", "{1}" and "{2}" for the names of `parts`; None if one is not named."""
    found = text.lower().replace("{", "(").replace("}", ")")
    for number, part in enumerate(parts):
        if not part:
            continue
        found, count = _names(part, forms).subn(f"{{{number}}}", found)
        if not count:
            return None
    return found


@lru_cache(maxsize=1024)
def _names(noun: str, forms_of: Forms) -> re.Pattern[str]:
    forms: Sequence[str] = sorted(forms_of(noun), key=len, reverse=True)
    return re.compile(rf"(?<!\{{)\b(?:{'|'.join(map(re.escape, forms))})\b")


def goal_of(scene: Mapping[str, object]) -> AlfredGoal:
    """The goal of a task's scene."""
    return AlfredGoal.model_validate(scene["goal"])


def wordings() -> Iterator[WordedGoal]:
    """All pairs of text and goal, whether or not any room has their objects."""
    for type in KIND_NAMES:
        for goal in goals_of(type):
            thing = word(f"{goal.object}Sliced" if goal.sliced else str(goal.object))
            place = word(goal.parent or str(goal.toggle))
            parts = (thing, place, word(goal.movable) if goal.movable else "")
            for text in instructions(goal):
                yield WordedGoal(text, type, parts)
