"""Continues an interrupted episode: which recorded steps are re-executed first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.envs.core import Determinism
from inhabit.episodes.recording.reader import Attempt, StepRecord
from inhabit.episodes.recording.schema import Ending


@dataclass(frozen=True, slots=True)
class Prefix:
    """The steps of an attempt that are re-executed before the agent is asked."""

    attempt: int
    """Number of that attempt, from 1."""
    steps: tuple[StepRecord, ...]
    """From step 0 on, each decided; the last one may lack an outcome."""
    level: Determinism
    """The level at which they have to be identical."""

    def step(self, number: int) -> StepRecord | None:
        """The step of that number; None once the agent decides again."""
        return self.steps[number] if number < len(self.steps) else None


def prefix_of(attempts: Sequence[Attempt], level: Determinism) -> Prefix | None:
    """The longest sequence of decisions of the attempts that were interrupted, or that a fault of
    the model ended.

    None where nothing was decided yet, or where the backend is not deterministic.
    """
    if level is Determinism.NONE:
        return None
    faults = (Ending.MODEL_FAULT, Ending.BUDGET)
    cut = [a for a in attempts if a.end is None or a.end.again or a.end.ending in faults]
    found = [Prefix(a.start.attempt, decided(a), level) for a in cut]
    furthest = max(found, key=lambda prefix: len(prefix.steps), default=None)
    return furthest if furthest is not None and furthest.steps else None


def without_last_step(attempts: Sequence[Attempt], level: Determinism) -> Prefix | None:
    """The last attempt without its last step; None where no step is left."""
    last = attempts[-1]
    steps = decided(last)[:-1]
    return Prefix(last.start.attempt, steps, level) if steps else None


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
