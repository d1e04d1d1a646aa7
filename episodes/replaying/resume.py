"""Half an episode that goes on: what was decided is acted again, held against the record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.agents.core import Call, Decision, Ranked
from inhabit.envs.core import Action, Determinism, Outcome
from inhabit.envs.errors import ExitCode, UserError
from inhabit.episodes.recording.reader import Attempt, StepRecord
from inhabit.episodes.recording.schema import CallRecord, DecideLine
from inhabit.episodes.recording.writer import ObservedState
from inhabit.episodes.replaying.diff import Difference, ended_differently, seen_differently


class DivergedError(UserError, RuntimeError):
    """A step that is acted again came out differently. Names it, and how."""

    exit_code = ExitCode.STOPPED

    def __init__(self, different: Difference) -> None:
        super().__init__(
            f"Acted again, step {different.step} comes out differently: {different.what} was "
            f"{different.recorded!r}, is {different.replayed!r}."
        )
        self.difference = different


@dataclass(frozen=True, slots=True)
class Recorded:
    """A step that was decided already."""

    step: StepRecord
    line: DecideLine
    level: Determinism
    """At which it has to come out alike."""

    def check_seen(self, moment: ObservedState) -> None:
        """See that what is seen before the step is what was seen then.

        Raises:
            DivergedError: it isn't.
        """
        _check(seen_differently(self.step, moment, self.level))

    def check_outcome(self, outcome: Outcome) -> None:
        """See that the same came of it, as far as that was recorded.

        Raises:
            DivergedError: it did not.
        """
        _check(ended_differently(self.step, outcome, self.level))

    def decision(self, action: Action | None) -> Decision:
        """What was decided; `action` is what its words mean to the environment now.

        Raises:
            DivergedError: they mean nothing any more.
        """
        line = self.line
        if line.action is not None and action is None:
            _check(Difference(self.step.number, "action", line.action, None))
        return Decision(
            action=action,
            stop=line.stop,
            raw=line.raw,
            description=line.description,
            reasoning=line.reasoning,
            ranked=tuple(Ranked(r.text, r.logprob, r.tokens, r.blind) for r in line.ranked),
            calls=tuple(map(call_of, line.calls)),
        )


@dataclass(frozen=True, slots=True)
class Prefix:
    """The steps of an attempt that are acted again before anybody is asked."""

    attempt: int
    """Whose they are; from 1."""
    steps: tuple[Recorded, ...]
    """From step 0 on; the last of them may have been cut off before it was acted."""

    def step(self, number: int) -> Recorded | None:
        """The step of that number; None from where play goes on."""
        return self.steps[number] if number < len(self.steps) else None


def prefix_of(attempts: Sequence[Attempt], level: Determinism) -> Prefix | None:
    """What there is to go on from: of the attempts that were cut short, the one that came furthest.

    None where nothing was decided yet, or where the backend promises nothing to go by.
    """
    if level is Determinism.NONE:
        return None
    cut = [a for a in attempts if a.end is None or a.end.again]
    found = [Prefix(a.start.attempt, decided(a, level)) for a in cut]
    furthest = max(found, key=lambda prefix: len(prefix.steps), default=None)
    return furthest if furthest is not None and furthest.steps else None


def decided(attempt: Attempt, level: Determinism) -> tuple[Recorded, ...]:
    """The steps of an attempt up to the last decision that can be acted again."""
    steps: list[Recorded] = []
    for step in attempt.steps:
        if (line := step.decide) is None:
            break
        if step.act is None and line.action is None and not line.stop:
            break  # Perhaps what a model had said when it failed: it is asked again.
        steps.append(Recorded(step, line, level))
    return tuple(steps)


def call_of(call: CallRecord) -> Call:
    """A call as it was before it was written down."""
    return Call(
        messages=call.messages,
        reply=call.reply,
        tokens_in=call.tokens_in,
        tokens_out=call.tokens_out,
        seconds=call.seconds,
        cached=call.cached,
        others=call.others,
        served=call.served,
        requests=call.requests,
    )


def _check(different: Difference | None) -> None:
    if different is not None:
        raise DivergedError(different)
