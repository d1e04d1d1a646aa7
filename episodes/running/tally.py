"""Counts steps, costs and failures of an episode, and says when and how it ends."""

from __future__ import annotations

from dataclasses import dataclass, field

from inhabit.agents.core import Decision
from inhabit.envs.core import Outcome
from inhabit.episodes.recording.schema import Ending, TokenCounts


@dataclass(frozen=True, slots=True)
class Limits:
    """When an episode is cut short."""

    steps: int
    """Actions tried, whether or not they worked."""
    invalid: int
    """Actions that could not be carried out, in all and not in a row: ten fail an episode in
    ALFRED (Shridhar et al. 2020, section 5) and EmbodiedBench (Yang et al. 2025) alike."""


@dataclass(slots=True)
class Tally:
    """The sums of one attempt so far."""

    limits: Limits
    met: int = 0
    total: int = 0
    steps: int = 0
    cost: int = 0
    invalid: int = 0
    unmatched: int = 0
    replans: int = 0
    read: int = 0
    written: int = 0
    ending: Ending | None = None
    """None while it goes on."""
    _failed: str | None = field(default=None, repr=False)
    """The last action, if it was invalid."""

    def decided(self, decision: Decision) -> None:
        """Count a decision.

        An agent replans when, right after an action that could not be carried out, it chooses
        another one than that.
        """
        self.read += sum(call.tokens_in for call in decision.calls)
        self.written += sum(call.tokens_out for call in decision.calls)
        if decision.action and self._failed not in (None, decision.action.text):
            self.replans += 1
        if decision.stop:
            self._finish(Ending.STOPPED)

    def acted(self, decision: Decision, outcome: Outcome) -> None:
        """Count the outcome of an action."""
        self.met, self.total = outcome.met, outcome.total
        self.steps += 1
        self.cost += outcome.cost
        self.invalid += outcome.reason is not None
        unreadable = decision.action is None
        self.unmatched += unreadable
        self._failed = decision.action.text if decision.action and outcome.reason else None
        if outcome.over:
            self._finish(Ending.WRONG_ANSWER)
        elif self.invalid >= self.limits.invalid:
            self._finish(Ending.FORMAT_ERROR if unreadable else Ending.INVALID_LIMIT)
        elif self.steps >= self.limits.steps:
            only = unreadable and self.limits.steps == 1
            self._finish(Ending.FORMAT_ERROR if only else Ending.STEP_LIMIT)

    @property
    def tokens(self) -> TokenCounts:
        """Tokens read and written by models."""
        return TokenCounts(read=self.read, written=self.written)

    def _finish(self, ending: Ending) -> None:
        # Whatever ends an episode, it is solved if its goal holds then.
        self.ending = Ending.SUCCESS if 0 < self.total == self.met else ending
