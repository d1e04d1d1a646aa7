"""Features of notes and actions, the inputs of `network.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.alfred_specialist.ranker.action_features import ActionFeatures
from inhabit.agents.alfred_specialist.ranker.parsing import (
    CLOSE,
    LOOKS,
    PUT,
    SLICE,
    TURN_ON,
    VERBS,
    NotedAction,
    ParsedNotes,
    uncut,
)
from inhabit.agents.alfred_specialist.ranker.progress import WORKS, Progress, progress
from inhabit.agents.alfred_specialist.reading.reading import ROLES

USES = (TURN_ON, CLOSE, PUT)
"""Verbs that are tracked for every noun, in the goal or not."""
_OF_PART = len(VERBS) + 13 + len(ROLES) + len(WORKS)
MOMENT = 2 * len(VERBS) + 6 + (len(ROLES) + 1) * _OF_PART
"""Number of features of a step."""


@dataclass(frozen=True, slots=True)
class RankerVocabulary:
    """The vocabulary of a ranker; all other words share one entry."""

    nouns: tuple[str, ...]
    tasks: tuple[str, ...]
    """Task types."""

    def numbers(self) -> Mapping[str, int]:
        """Indices of the nouns: 0 is no noun, 1 an unknown one."""
        return {"": 0, **{noun: i for i, noun in enumerate(self.nouns, start=2)}}


@dataclass(frozen=True, slots=True, eq=False)
class RankerQuestion:
    """One step and its candidates as features."""

    task: int
    """Index of the task type."""
    kinds: NDArray[np.float32]
    """(2 + len(USES) + len(WORKS), nouns + 2): how sure each is to have been seen and to be here,
    what was used, and what was worked for the things of the goal."""
    named: NDArray[np.int64]
    """(len(ROLES) + 3,): the goal's nouns, what is held, and the nouns of the last two actions."""
    moment: NDArray[np.float32]
    """(MOMENT,)."""
    verbs: NDArray[np.int64]
    """(choices,)."""
    nouns: NDArray[np.int64]
    """(choices,)."""
    choices: NDArray[np.float16]
    """(choices, CHOICE)."""


KINDS = 2 + len(USES) + len(WORKS)
NAMED = len(ROLES) + 3


def question(
    parsed: ParsedNotes,
    actions: Sequence[NotedAction],
    vocabulary: RankerVocabulary,
) -> RankerQuestion:
    """The features of a step and its candidates."""
    last = [step.noun for step in parsed.done[-2:]]
    named = [*parsed.nouns, parsed.held, *last, "", ""]
    outcome = progress(parsed.done)
    number = vocabulary.numbers()
    return RankerQuestion(
        vocabulary.tasks.index(parsed.task) if parsed.task in vocabulary.tasks else 0,
        _kinds(parsed, outcome, number),
        np.array([number.get(noun, 1) for noun in named[:NAMED]]),
        _moment(parsed, outcome),
        np.array([step.verb for step in actions]),
        np.array([number.get(step.noun, 1) for step in actions]),
        ActionFeatures(parsed, outcome).choices(actions).astype(np.float16),
    )


def _kinds(
    parsed: ParsedNotes, outcome: Progress, number: Mapping[str, int]
) -> NDArray[np.float32]:
    found = np.zeros((KINDS, len(number) + 1), np.float32)
    for row, sighting in enumerate((parsed.seen, parsed.here)):
        for kind, sure in sighting.items():
            place = number.get(kind, 1)
            found[row, place] = max(float(found[row, place]), sure)
    for row, verb in enumerate(USES, start=2):
        for step in parsed.done:
            if step.verb == verb and not step.failed:
                found[row, number.get(step.noun, 1)] = 1.0
    wanted = [parsed.held] if parsed.held else parsed.nouns
    for verb, noun in frozenset[tuple[int, str]]().union(*map(outcome.worked_for, wanted)):
        found[2 + len(USES) + WORKS.index(verb), number.get(noun, 1)] = 1.0
    return found


def _moment(parsed: ParsedNotes, outcome: Progress) -> NDArray[np.float32]:
    done = parsed.done
    lately = [step.verb for step in done[-2:]]
    verbs = np.zeros((2, len(VERBS)), np.float32)
    for row, verb in zip(verbs[2 - len(lately) :], lately, strict=True):
        row[verb] = 1.0
    general = [
        bool(parsed.held),
        min(sum(step.verb in LOOKS for step in done), 4) / 4,
        len(done) / 30,
        bool(done) and done[-1].failed,
        sum(step.failed for step in done) / 5,
        sum(step.verb == PUT and not step.failed for step in done) / 2,
    ]
    parts = [_of_part(parsed, outcome, noun) for noun in parsed.nouns]
    parts.append(_of_part(parsed, outcome, "" if parsed.held in parsed.nouns else parsed.held))
    return np.concatenate([verbs.ravel(), np.array(general, np.float32), np.concatenate(parts)])


def _of_part(parsed: ParsedNotes, outcome: Progress, noun: str) -> NDArray[np.float32]:
    """Features of the noun that has one of `ROLES` in the goal."""
    found = np.zeros(_OF_PART, np.float32)
    if not noun:
        return found
    base = uncut(noun)
    for step in parsed.done:
        if step.noun == noun and not step.failed:
            found[step.verb] = 1.0
    works = {verb for verb, _ in outcome.worked_for(noun)}
    found[len(VERBS) :] = (
        1.0,
        parsed.seen.get(noun, 0.0),
        parsed.here.get(noun, 0.0),
        parsed.held == noun,
        bool(parsed.done) and parsed.done[-1].noun == noun,
        any(step.thing == noun for step in parsed.done),
        outcome.within(noun) / 2,
        parsed.seen.get(base, 0.0),
        parsed.here.get(base, 0.0),
        bool(base) and parsed.held == base,
        any(d.verb == SLICE and d.noun == base and not d.failed for d in parsed.done),
        parsed.here.get(noun, 0.0) * outcome.is_other_instance(noun),
        # The agent went back to an object that it had put down.
        outcome.at[0] == noun and outcome.at in outcome.left,
        *(outcome.within(noun, place) / 2 if place else 0.0 for place in parsed.nouns),
        *(verb in works for verb in WORKS),
    )
    return found
