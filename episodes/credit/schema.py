"""What is written down of the credit of steps: `credit.jsonl`, a line for each episode.

For a state s, the cost to go V(s) is that of the shortest way that is known from s to the goal: the
expert's, counted in a copy, or what was in fact done from there on. The shortest has the fewest
actions, and of these the fewest low-level steps. The regret of an action a that leads from s to t
is cost(a) + V(t) - V(s), in actions and in low-level steps; the advantage of the action is its
negative. In actions it is never below 0; in low-level steps it is where an action more saves some.
What an episode took to the goal is V of its first state and the regret of its steps.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from inhabit.envs.core import Reason
from inhabit.episodes.judging.scores import Dimension


class _Plain(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Effort(_Plain):
    """A number of actions, and of the low-level steps in them."""

    actions: int
    steps: int

    def __add__(self, other: Effort) -> Effort:
        return Effort(actions=self.actions + other.actions, steps=self.steps + other.steps)

    def __sub__(self, other: Effort) -> Effort:
        return Effort(actions=self.actions - other.actions, steps=self.steps - other.steps)


NOTHING = Effort(actions=0, steps=0)


class OptionCredit(_Plain):
    """An action that the agent ranked and did not choose."""

    action: str
    regret: Effort | None
    """Effort beyond the best action's; None if no way from there to the goal is known."""


class StepCredit(_Plain):
    """A decision of an agent."""

    step: int
    action: str | None
    """Text of the action; None for an answer that was no action."""
    reason: Reason | None
    """Why the action had no effect."""
    before: Effort | None
    """The cost to go; None if no way to the goal is known."""
    after: Effort | None
    """The cost to go after the action."""
    regret: Effort | None
    """Effort beyond the best action's; None where the goal was out of reach, before or after."""
    in_time: bool
    """Whether the expert could still reach the goal afterwards within the limit of steps."""
    cause: Dimension | None
    """What was wrong, if there is regret or no way back.

    perception: the agent's description of what matters is wrong or missing; action: the
    action serves the goal and failed; cognition: any other.
    """
    options: tuple[OptionCredit, ...] = ()

    @property
    def closed(self) -> bool:
        """Whether the goal was in reach before, and no longer is."""
        return self.before is not None and self.after is None


class EpisodeCredit(_Plain):
    """All decisions of an episode."""

    episode: int
    kind: str
    """Kind of the task."""
    success: bool
    attempt: int | None = None
    """Number of the attempt at the episode; None in older files."""
    options: int = 0
    """How many other actions were tried at each step, at most."""
    steps: tuple[StepCredit, ...]

    @property
    def regret(self) -> Effort:
        """The sum over all steps whose regret is known."""
        return total(step.regret for step in self.steps)

    @property
    def closed(self) -> StepCredit | None:
        """The step after which the goal was out of reach."""
        return next((step for step in self.steps if step.closed), None)

    @property
    def late(self) -> StepCredit | None:
        """The step after which too few steps were left for a goal that was still in reach."""
        return next((one for one in self.steps if one.after and not one.in_time), None)


def least(efforts: Iterable[Effort | None]) -> Effort | None:
    """The one with the fewest actions, and of these the fewest low-level steps; None if none is
    known.
    """
    known = [one for one in efforts if one is not None]
    return min(known, key=lambda one: (one.actions, one.steps), default=None)


def total(efforts: Iterable[Effort | None]) -> Effort:
    """The sum of those that are known."""
    return sum((one for one in efforts if one is not None), NOTHING)
