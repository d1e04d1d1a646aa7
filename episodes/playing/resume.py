"""What earlier attempts leave to an episode: steps that are re-executed first, and what was spent.

Limits hold however often an episode or a run was cut off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inhabit.agents.core import Call
from inhabit.envs.core import Determinism
from inhabit.episodes.recording.reader import Attempt, Run, StepRecord
from inhabit.episodes.recording.schema import UNANSWERED, DecideLine, Ending, EndLine


@dataclass(frozen=True, slots=True)
class Prefix:
    """The steps of an attempt that are re-executed before the agent is asked."""

    attempt: int
    """Number of the recorded attempt, from 1."""
    steps: tuple[StepRecord, ...]
    """Steps from 0 on, each decided; the last one may lack an outcome."""
    level: Determinism
    """Level at which the steps have to be identical."""

    def step(self, number: int) -> StepRecord | None:
        """The step of that number; None once the agent decides again."""
        return self.steps[number] if number < len(self.steps) else None


def prefix_of(attempts: Sequence[Attempt], level: Determinism) -> Prefix | None:
    """The longest sequence of decisions of the attempts that were interrupted, or that a fault of
    the model ended, since a person took a step back; without that step.

    None where nothing was decided yet, or where the backend is not deterministic.
    """
    if level is Determinism.NONE:
        return None
    found: list[Prefix] = []
    for attempt in attempts:
        prefix, end = Prefix(attempt.start.attempt, _left(attempt), level), attempt.end
        if _is_taken_back(end):
            found = [prefix]
        elif end is None or end.again or end.ending in UNANSWERED:
            found.append(prefix)
    furthest = max(found, key=lambda prefix: len(prefix.steps), default=None)
    return furthest if furthest is not None and furthest.steps else None


def decided(attempt: Attempt) -> tuple[StepRecord, ...]:
    """The steps of an attempt up to the last decision that can be re-executed."""
    steps: list[StepRecord] = []
    for step in attempt.steps:
        if (line := step.decide) is None:
            break
        if step.act is None and line.action is None and not line.stop:
            break  # Perhaps what a model had said when it failed: it is asked again.
        steps.append(step)
    return tuple(steps)


def _left(attempt: Attempt) -> tuple[StepRecord, ...]:
    """The steps of an attempt that another one takes over: not the one that a person took back."""
    steps = decided(attempt)
    return steps[:-1] if _is_taken_back(attempt.end) else steps


def _is_taken_back(end: EndLine | None) -> bool:
    return end is not None and end.again and end.ending is Ending.STOPPED


def calls_of(run: Run) -> Iterator[Call]:
    """Every call that is on record, in all attempts, once."""
    for episode in run.episodes():
        for decide in _decided_anew(episode.attempts()):
            yield from decide.calls


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
            taken_over = len(_left(attempts[before - 1]))
        for step in attempt.steps[taken_over:]:
            if step.decide is not None:
                yield step.decide
