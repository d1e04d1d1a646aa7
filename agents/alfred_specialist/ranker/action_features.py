"""Features of candidate actions at one step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.alfred_specialist.ranker.parsing import (
    GO,
    OPEN,
    TAKE,
    VERBS,
    NotedAction,
    ParsedNotes,
    uncut,
)
from inhabit.agents.alfred_specialist.ranker.progress import Progress
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
        """(actions, CHOICE)."""
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
