"""Continues an interrupted episode: re-executes its decisions and compares with the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.agents.core import Decision
from inhabit.envs.core import Action, Determinism, Outcome
from inhabit.envs.errors import ExitCode, UserError
from inhabit.episodes.recording.reader import Attempt, StepRecord
from inhabit.episodes.recording.schema import DecideLine, Ending
from inhabit.episodes.recording.writer import ObservedState
from inhabit.episodes.replaying.diff import Difference, ended_differently, seen_differently


class DivergedError(UserError, RuntimeError):
    """A re-executed step differs from the record."""

    exit_code = ExitCode.STOPPED

    def __init__(self, different: Difference) -> None:
        super().__init__(
            f"Step {different.step} differs from the record when it is re-executed: "
            f"{different.what} was {different.recorded!r} and is now {different.replayed!r}."
        )
        self.difference = different


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded decision that is re-executed."""

    step: StepRecord
    line: DecideLine
    level: Determinism
    """The level at which it has to be identical."""

    def check_seen(self, observed: ObservedState) -> None:
        """Check that the observation before the step is the recorded one.

        Raises:
            DivergedError: it is not.
        """
        _check(seen_differently(self.step, observed, self.level))

    def check_outcome(self, outcome: Outcome) -> None:
        """Check that the outcome is the recorded one, if one is recorded.

        Raises:
            DivergedError: it is not.
        """
        _check(ended_differently(self.step, outcome, self.level))

    def decision(self, action: Action | None) -> Decision:
        """The recorded decision, with its action as the environment parses it now.

        Raises:
            DivergedError: the environment does not understand the recorded action.
        """
        line = self.line
        if line.action is not None and action is None:
            _check(Difference(self.step.number, "action", line.action, None))
        return line.decision(action)


@dataclass(frozen=True, slots=True)
class Prefix:
    """The steps of an attempt that are re-executed before the agent is asked."""

    attempt: int
    """Number of that attempt, from 1."""
    steps: tuple[Recorded, ...]
    """From step 0 on; the last one may lack an outcome."""

    def step(self, number: int) -> Recorded | None:
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
    found = [Prefix(a.start.attempt, decided(a, level)) for a in cut]
    furthest = max(found, key=lambda prefix: len(prefix.steps), default=None)
    return furthest if furthest is not None and furthest.steps else None


def without_last_step(attempts: Sequence[Attempt], level: Determinism) -> Prefix | None:
    """The last attempt without its last step; None where no step is left."""
    last = attempts[-1]
    steps = decided(last, level)[:-1]
    return Prefix(last.start.attempt, steps) if steps else None


def decided(attempt: Attempt, level: Determinism) -> tuple[Recorded, ...]:
    """The steps of an attempt up to the last decision that can be re-executed."""
    steps: list[Recorded] = []
    for step in attempt.steps:
        if (line := step.decide) is None:
            break
        if step.act is None and line.action is None and not line.stop:
            break  # Perhaps what a model had said when it failed: it is asked again.
        steps.append(Recorded(step, line, level))
    return tuple(steps)


def _check(different: Difference | None) -> None:
    if different is not None:
        raise DivergedError(different)
