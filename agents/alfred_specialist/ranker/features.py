"""Features of notes and actions, the inputs of `network.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.alfred_specialist.ranker.parsing import (
    CLOSE,
    GO,
    LOOKS,
    OPEN,
    PUT,
    SLICE,
    TAKE,
    TURN_ON,
    VERBS,
    NotedAction,
    ParsedNotes,
    uncut,
)
from inhabit.agents.alfred_specialist.ranker.progress import WORKS, Progress, progress
from inhabit.agents.alfred_specialist.reading.reading import ROLES

_OF_NOUN = 3 * len(ROLES) + 2 * len(VERBS) + 15
CHOICE = _OF_NOUN + 15
"""Number of features of an action."""
_LATELY = 4.0
"""Half-life of a past action, in steps."""


class ActionFeatures:
    """Computes the features of actions at one step; those of each noun once."""

    def __init__(self, parsed: ParsedNotes, outcome: Progress) -> None:
        """Describe the step of `parsed`, with what past actions have changed."""
        self._noted, self._come = parsed, outcome
        self._left_at = {at for (noun, _), at in outcome.left.items() if noun == parsed.nouns[0]}
        self._own: dict[str, list[tuple[int, NotedAction]]] = {}
        for ago, step in enumerate(reversed(parsed.done), start=1):
            self._own.setdefault(step.noun, []).insert(0, (ago, step))

    def choices(self, actions: Sequence[NotedAction]) -> NDArray[np.float32]:
        """Features of each action, (actions, CHOICE)."""
        of_noun = {noun: self._of_noun(noun) for noun in {step.noun for step in actions}}
        found = np.zeros((len(actions), CHOICE), np.float32)
        for row, step in zip(found, actions, strict=True):
            row[:_OF_NOUN] = of_noun[step.noun]
            if step.number or step.noun in self._own:
                row[_OF_NOUN:] = self._of_action(step)
        return found

    def _of_action(self, step: NotedAction) -> Sequence[float]:
        noun, number, done = step.noun, step.number, self._noted.done
        alike = [(ago, d) for ago, d in self._own.get(noun, ()) if d.verb == step.verb]
        numbered = [d for _, d in alike if d.number == number and not d.failed]
        opened = [d for _, d in self._own.get(noun, ()) if d.verb == OPEN and not d.failed]
        outcome, left_at = self._come, self._left_at
        return [
            bool(alike) and alike[-1][1].failed,
            min(len(alike), 6) / 6,
            sum(d.failed for _, d in alike) / 3,
            0.5 ** (alike[-1][0] / _LATELY) if alike else 0.0,
            # An instance came a second time: all have been tried.
            len(alike) - len({d.number for _, d in alike}) > 0,
            bool(number),
            bool(number) and bool(numbered),
            bool(number) and any(d.number == number for d in opened),
            bool(number) and outcome.at == (noun, number),
            bool(number) and bool(done) and done[-1].number == number,
            # The agent is at an instance that it opened before.
            outcome.at[0] == noun and any(d.number == outcome.at[1] for d in opened),
            # The wanted object was left in this instance, or in the one where the agent is.
            (noun, number) in left_at,
            outcome.at[0] == noun and outcome.at in left_at,
            # This instance was put down, and something was done to it there.
            (noun, number) in outcome.left,
            (noun, number) in outcome.worked,
        ]

    def _of_noun(self, noun: str) -> NDArray[np.float32]:
        parsed, outcome = self._noted, self._come
        own = [step for _, step in self._own.get(noun, ())]
        worked = [step for step in own if not step.failed]
        parts = np.zeros((3, len(ROLES)), np.float32)
        counts = np.zeros((2, len(VERBS)), np.float32)
        if noun:
            for i, played in enumerate(self._noted.nouns):
                parts[:, i] = (
                    noun == played,
                    noun == uncut(played),
                    outcome.within(played, noun) > 0,
                )
        for step in worked:
            counts[0, step.verb] = min(counts[0, step.verb] + 0.25, 1.5)
        if own:
            counts[1, own[-1].verb] = 1.0
        numbers = {
            verb: {step.number for step in worked if step.verb == verb} for verb in (GO, OPEN, TAKE)
        }
        rest = [
            bool(noun),
            parsed.seen.get(noun, 0.0),
            parsed.seen.get(noun, 0.0) == 0.5,
            parsed.here.get(noun, 0.0),
            parsed.here.get(noun, 0.0) == 0.5,
            bool(noun) and parsed.held == noun,
            bool(noun) and outcome.at[0] == noun,
            bool(noun) and bool(parsed.done) and parsed.done[-1].noun == noun,
            bool(own) and own[-1].failed,
            bool(noun) and outcome.within(noun) / 2,
            len(numbers[GO]) / 6,
            len(numbers[OPEN]) / 6,
            len(numbers[TAKE]) / 3,
            len(numbers[GO] - numbers[OPEN]) / 3,
            0.5 ** (self._own[noun][-1][0] / _LATELY) if own else 0.0,
        ]
        return np.concatenate([parts.ravel(), counts.ravel(), np.array(rest, np.float32)])


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
    """(2 + len(USES) + len(WORKS), nouns + 2): how sure each noun is to have been seen and to be
    here, what was used, and what was worked for the things of the goal."""
    named: NDArray[np.int64]
    """(len(ROLES) + 3,): the goal's nouns, what is held, and the nouns of the last two actions."""
    moment: NDArray[np.float32]
    """Features of the step, (MOMENT,)."""
    verbs: NDArray[np.int64]
    """Index in `VERBS` of each candidate's verb, (choices,)."""
    nouns: NDArray[np.int64]
    """Index of each candidate's noun, by `RankerVocabulary.numbers`, (choices,)."""
    choices: NDArray[np.float16]
    """Features of each candidate, (choices, CHOICE)."""


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
