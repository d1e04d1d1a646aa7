"""What an episode or a run has spent so far, by its records: limits hold however often it was cut
off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from inhabit.agents.core import Call
from inhabit.episodes.playing.resume import decided
from inhabit.episodes.recording.reader import Attempt, Run
from inhabit.episodes.recording.schema import DecideLine


def calls_of(run: Run) -> Iterator[Call]:
    """Every call that is on record, in all attempts, once."""
    for episode in run.episodes():
        for decide in _decided_anew(episode.attempts()):
            yield from (call.call() for call in decide.calls)


def seconds_of(attempts: Sequence[Attempt]) -> float:
    """What simulator and agent took in `attempts`, those that were cut off among them."""
    acted = (
        step.see.seconds + (step.act.seconds if step.act else 0.0)
        for attempt in attempts
        for step in attempt.steps
    )
    return math.fsum(acted) + math.fsum(decide.seconds for decide in _decided_anew(attempts))


def _decided_anew(attempts: Sequence[Attempt]) -> Iterator[DecideLine]:
    """Every decision but for those that an attempt took over from the one that it continues."""
    for attempt in attempts:
        taken_over = 0
        if (before := attempt.start.continues) is not None:
            taken_over = len(decided(attempts[before - 1]))
        for step in attempt.steps[taken_over:]:
            if step.decide is not None:
                yield step.decide
