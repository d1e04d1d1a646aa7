"""Notes and actions as numbers: what `network.py` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.models.ranker.choices import MomentFeatures
from inhabit.agents.models.ranker.goals import PARTS, ParsedGoal
from inhabit.agents.models.ranker.progress import WORKS, Progress, progress
from inhabit.agents.models.ranker.reading import (
    CLOSE,
    LOOKS,
    PUT,
    SLICE,
    TURN_ON,
    VERBS,
    Noted,
    NotedAction,
    whole,
)

USES = (TURN_ON, CLOSE, PUT)
"""What is remembered of every noun, whether the goal speaks of it or not."""
_OF_PART = len(VERBS) + 13 + len(PARTS) + len(WORKS)
MOMENT = 2 * len(VERBS) + 6 + (len(PARTS) + 1) * _OF_PART
"""Numbers that tell of a moment."""


@dataclass(frozen=True, slots=True)
class RankerVocabulary:
    """What a ranker has words for; all other words are one."""

    nouns: tuple[str, ...]
    words: tuple[str, ...]
    """Of goals."""
    tasks: tuple[str, ...]
    """The types of tasks that goals may ask for."""

    def numbers(self) -> Mapping[str, int]:
        """Of the nouns: 0 is none at all, and 1 is left for those that are not known."""
        return {"": 0, **{noun: i for i, noun in enumerate(self.nouns, start=2)}}


@dataclass(frozen=True, slots=True, eq=False)
class RankerQuestion:
    """A moment and its choices, in numbers."""

    task: int
    """The type of task that the goal asks for."""
    kinds: NDArray[np.float32]
    """(2 + len(USES) + len(WORKS), nouns + 2): how sure each is to have been seen and to be here,
    what was used, and what was worked for the things of the goal."""
    named: NDArray[np.int64]
    """(len(PARTS) + 3,): the goal's nouns, what is held, and the nouns of the last two deeds."""
    moment: NDArray[np.float32]
    """(MOMENT,)."""
    verbs: NDArray[np.int64]
    """(choices,)."""
    nouns: NDArray[np.int64]
    """(choices,)."""
    choices: NDArray[np.float16]
    """(choices, CHOICE)."""


KINDS = 2 + len(USES) + len(WORKS)
NAMED = len(PARTS) + 3


def question(
    noted: Noted, asked: ParsedGoal, actions: Sequence[NotedAction], lexicon: RankerVocabulary
) -> RankerQuestion:
    """The numbers of a moment, of what its goal asks for, and of what may be done."""
    last = [deed.noun for deed in noted.done[-2:]]
    named = [*asked.nouns, noted.held, *last, "", ""]
    come = progress(noted.done)
    number = lexicon.numbers()
    return RankerQuestion(
        asked.task,
        _kinds(noted, asked, come, number),
        np.array([number.get(noun, 1) for noun in named[:NAMED]]),
        _moment(noted, asked, come),
        np.array([deed.verb for deed in actions]),
        np.array([number.get(deed.noun, 1) for deed in actions]),
        MomentFeatures(noted, asked, come).choices(actions).astype(np.float16),
    )


def _kinds(
    noted: Noted, asked: ParsedGoal, come: Progress, number: Mapping[str, int]
) -> NDArray[np.float32]:
    found = np.zeros((KINDS, len(number) + 1), np.float32)
    for row, sighting in enumerate((noted.seen, noted.here)):
        for kind, sure in sighting.items():
            place = number.get(kind, 1)
            found[row, place] = max(float(found[row, place]), sure)
    for row, verb in enumerate(USES, start=2):
        for deed in noted.done:
            if deed.verb == verb and not deed.failed:
                found[row, number.get(deed.noun, 1)] = 1.0
    wanted = [noted.held] if noted.held else asked.nouns
    for verb, noun in frozenset[tuple[int, str]]().union(*map(come.worked_for, wanted)):
        found[2 + len(USES) + WORKS.index(verb), number.get(noun, 1)] = 1.0
    return found


def _moment(noted: Noted, asked: ParsedGoal, come: Progress) -> NDArray[np.float32]:
    done = noted.done
    lately = [deed.verb for deed in done[-2:]]
    verbs = np.zeros((2, len(VERBS)), np.float32)
    for row, verb in zip(verbs[2 - len(lately) :], lately, strict=True):
        row[verb] = 1.0
    general = [
        bool(noted.held),
        min(sum(deed.verb in LOOKS for deed in done), 4) / 4,
        len(done) / 30,
        bool(done) and done[-1].failed,
        sum(deed.failed for deed in done) / 5,
        sum(deed.verb == PUT and not deed.failed for deed in done) / 2,
    ]
    parts = [_of_part(noted, asked, come, noun) for noun in asked.nouns]
    parts.append(_of_part(noted, asked, come, "" if noted.held in asked.nouns else noted.held))
    return np.concatenate([verbs.ravel(), np.array(general, np.float32), np.concatenate(parts)])


def _of_part(noted: Noted, asked: ParsedGoal, come: Progress, noun: str) -> NDArray[np.float32]:
    """What has become of the noun that plays a part."""
    found = np.zeros(_OF_PART, np.float32)
    if not noun:
        return found
    base = whole(noun)
    for deed in noted.done:
        if deed.noun == noun and not deed.failed:
            found[deed.verb] = 1.0
    works = {verb for verb, _ in come.worked_for(noun)}
    found[len(VERBS) :] = (
        1.0,
        noted.seen.get(noun, 0.0),
        noted.here.get(noun, 0.0),
        noted.held == noun,
        bool(noted.done) and noted.done[-1].noun == noun,
        any(deed.thing == noun for deed in noted.done),
        come.within(noun) / 2,
        noted.seen.get(base, 0.0),
        noted.here.get(base, 0.0),
        bool(base) and noted.held == base,
        any(d.verb == SLICE and d.noun == base and not d.failed for d in noted.done),
        noted.here.get(noun, 0.0) * come.is_another(noun),
        # One went back to what one had left.
        come.at[0] == noun and come.at in come.left,
        *(come.within(noun, place) / 2 if place else 0.0 for place in asked.nouns),
        *(verb in works for verb in WORKS),
    )
    return found
