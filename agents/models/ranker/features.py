"""Notes and actions as numbers: what `network.py` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from agents.models.ranker.choices import About
from agents.models.ranker.progress import WORKS, Progress, progress
from agents.models.ranker.reading import (
    CLOSE,
    LOOKS,
    PUT,
    SLICE,
    SLOTS,
    TURN_ON,
    VERBS,
    Deed,
    Noted,
    whole,
)

USES = (TURN_ON, CLOSE, PUT)
"""What is remembered of every noun, whether the goal speaks of it or not."""
_OF_SLOT = len(VERBS) + 11 + SLOTS + len(WORKS)
MOMENT = 2 * len(VERBS) + 6 + (SLOTS + 1) * _OF_SLOT
"""Numbers that tell of a moment."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words that a reader has learnt; all others are one."""

    nouns: tuple[str, ...]
    words: tuple[str, ...]
    """Single words of goals, and pairs of them, such as "put a"."""

    def numbers(self) -> Mapping[str, int]:
        """Of the nouns: 0 is none at all, and 1 is left for those that are not known."""
        return {"": 0, **{noun: i for i, noun in enumerate(self.nouns, start=2)}}


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A moment and its choices, in numbers."""

    goal: NDArray[np.int64]
    """Numbers of the goal's words and pairs, from 1."""
    kinds: NDArray[np.float32]
    """(2 + len(USES) + len(WORKS), nouns + 2): how sure each is to have been seen and to be here,
    what was used, and what was worked for the things of the goal."""
    named: NDArray[np.int64]
    """(SLOTS + 3,): the goal's nouns, what is held, and the nouns of the last two deeds."""
    moment: NDArray[np.float32]
    """(MOMENT,)."""
    verbs: NDArray[np.int64]
    """(choices,)."""
    nouns: NDArray[np.int64]
    """(choices,)."""
    choices: NDArray[np.float16]
    """(choices, CHOICE)."""


KINDS = 2 + len(USES) + len(WORKS)
NAMED = SLOTS + 3


def question(noted: Noted, actions: Sequence[Deed], lexicon: Lexicon) -> Question:
    """The numbers of a moment and of what may be done."""
    place = {word: i + 1 for i, word in enumerate(lexicon.words)}
    last = [deed.noun for deed in noted.done[-2:]]
    named = [*noted.slots, *[""] * (SLOTS - len(noted.slots)), noted.held, *last, "", ""]
    come = progress(noted.done)
    number = lexicon.numbers()
    return Question(
        np.array([place[word] for word in pairs(noted.goal) if word in place] or [0]),
        _kinds(noted, come, number),
        np.array([number.get(noun, 1) for noun in named[:NAMED]]),
        _moment(noted, come),
        np.array([deed.verb for deed in actions]),
        np.array([number.get(deed.noun, 1) for deed in actions]),
        About(noted, come).choices(actions).astype(np.float16),
    )


def pairs(goal: Sequence[str]) -> list[str]:
    """Its words, and every two that follow one another."""
    return [*goal, *(f"{a} {b}" for a, b in pairwise(goal))]


def _kinds(noted: Noted, come: Progress, number: Mapping[str, int]) -> NDArray[np.float32]:
    found = np.zeros((KINDS, len(number) + 1), np.float32)
    for row, sighting in enumerate((noted.seen, noted.here)):
        for kind, sure in sighting.items():
            place = number.get(kind, 1)
            found[row, place] = max(float(found[row, place]), sure)
    for row, verb in enumerate(USES, start=2):
        for deed in noted.done:
            if deed.verb == verb and not deed.failed:
                found[row, number.get(deed.noun, 1)] = 1.0
    wanted = [noted.held] if noted.held else noted.slots
    for verb, noun in frozenset[tuple[int, str]]().union(*map(come.worked_for, wanted)):
        found[2 + len(USES) + WORKS.index(verb), number.get(noun, 1)] = 1.0
    return found


def _moment(noted: Noted, come: Progress) -> NDArray[np.float32]:
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
    slots = [_of_slot(noted, come, noun) for noun in (*noted.slots, *[""] * SLOTS)[:SLOTS]]
    slots.append(_of_slot(noted, come, "" if noted.held in noted.slots else noted.held))
    return np.concatenate([verbs.ravel(), np.array(general, np.float32), np.concatenate(slots)])


def _of_slot(noted: Noted, come: Progress, noun: str) -> NDArray[np.float32]:
    """What has become of a noun."""
    found = np.zeros(_OF_SLOT, np.float32)
    if not noun:
        return found
    base = whole(noun)
    for deed in noted.done:
        if deed.noun == noun and not deed.failed:
            found[deed.verb] = 1.0
    works = {verb for verb, _ in come.worked_for(noun)}
    places = (*noted.slots, *[""] * SLOTS)[:SLOTS]
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
        *(come.within(noun, place) / 2 if place else 0.0 for place in places),
        *(verb in works for verb in WORKS),
    )
    return found
