"""What actions have to do with a moment, as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.models.ranker.goals import PARTS, ParsedGoal
from inhabit.agents.models.ranker.progress import Progress
from inhabit.agents.models.ranker.reading import GO, OPEN, TAKE, VERBS, Noted, NotedAction, whole

_OF_NOUN = 3 * len(PARTS) + 2 * len(VERBS) + 15
CHOICE = _OF_NOUN + 15
"""Numbers that tell of an action at a moment."""
_LATELY = 4.0
"""Steps in which what was done fades to a half."""


class MomentFeatures:
    """What actions have to do with a moment; of each noun it is found out once."""

    def __init__(self, noted: Noted, asked: ParsedGoal, come: Progress) -> None:
        """At the moment `noted`, with what is `asked`, after all that has `come` to pass."""
        self._noted, self._asked, self._come = noted, asked, come
        self._laid = {at for (noun, _), at in come.left.items() if noun == asked.nouns[0]}
        self._own: dict[str, list[tuple[int, NotedAction]]] = {}
        for ago, deed in enumerate(reversed(noted.done), start=1):
            self._own.setdefault(deed.noun, []).insert(0, (ago, deed))

    def choices(self, actions: Sequence[NotedAction]) -> NDArray[np.float32]:
        """(actions, CHOICE)."""
        of_noun = {noun: self._of_noun(noun) for noun in {deed.noun for deed in actions}}
        found = np.zeros((len(actions), CHOICE), np.float32)
        for row, deed in zip(found, actions, strict=True):
            row[:_OF_NOUN] = of_noun[deed.noun]
            if deed.number or deed.noun in self._own:
                row[_OF_NOUN:] = self._of_deed(deed)
        return found

    def _of_deed(self, deed: NotedAction) -> Sequence[float]:
        noun, number, done = deed.noun, deed.number, self._noted.done
        alike = [(ago, d) for ago, d in self._own.get(noun, ()) if d.verb == deed.verb]
        numbered = [d for _, d in alike if d.number == number and not d.failed]
        opened = [d for _, d in self._own.get(noun, ()) if d.verb == OPEN and not d.failed]
        come, laid = self._come, self._laid
        return [
            bool(alike) and alike[-1][1].failed,
            min(len(alike), 6) / 6,
            sum(d.failed for _, d in alike) / 3,
            0.5 ** (alike[-1][0] / _LATELY) if alike else 0.0,
            # The same of them came again: all have had their turn.
            len(alike) - len({d.number for _, d in alike}) > 0,
            bool(number),
            bool(number) and bool(numbered),
            bool(number) and any(d.number == number for d in opened),
            bool(number) and come.at == (noun, number),
            bool(number) and bool(done) and done[-1].number == number,
            # One stands before one of them that was opened already.
            come.at[0] == noun and any(d.number == come.at[1] for d in opened),
            # What is wanted was left in this very one, or in the one that one stands before.
            (noun, number) in laid,
            come.at[0] == noun and come.at in laid,
            # This very thing was left, and something was done to it there.
            (noun, number) in come.left,
            (noun, number) in come.worked,
        ]

    def _of_noun(self, noun: str) -> NDArray[np.float32]:
        noted, come = self._noted, self._come
        own = [deed for _, deed in self._own.get(noun, ())]
        worked = [deed for deed in own if not deed.failed]
        parts = np.zeros((3, len(PARTS)), np.float32)
        counts = np.zeros((2, len(VERBS)), np.float32)
        if noun:
            for i, played in enumerate(self._asked.nouns):
                parts[:, i] = noun == played, noun == whole(played), come.within(played, noun) > 0
        for deed in worked:
            counts[0, deed.verb] = min(counts[0, deed.verb] + 0.25, 1.5)
        if own:
            counts[1, own[-1].verb] = 1.0
        numbers = {
            verb: {deed.number for deed in worked if deed.verb == verb} for verb in (GO, OPEN, TAKE)
        }
        rest = [
            bool(noun),
            noted.seen.get(noun, 0.0),
            noted.seen.get(noun, 0.0) == 0.5,
            noted.here.get(noun, 0.0),
            noted.here.get(noun, 0.0) == 0.5,
            bool(noun) and noted.held == noun,
            bool(noun) and come.at[0] == noun,
            bool(noun) and bool(noted.done) and noted.done[-1].noun == noun,
            bool(own) and own[-1].failed,
            bool(noun) and come.within(noun) / 2,
            len(numbers[GO]) / 6,
            len(numbers[OPEN]) / 6,
            len(numbers[TAKE]) / 3,
            len(numbers[GO] - numbers[OPEN]) / 3,
            0.5 ** (self._own[noun][-1][0] / _LATELY) if own else 0.0,
        ]
        return np.concatenate([parts.ravel(), counts.ravel(), np.array(rest, np.float32)])
