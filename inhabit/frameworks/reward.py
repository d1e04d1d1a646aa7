"""What a rollout pays for an action."""

from __future__ import annotations

from enum import StrEnum

from inhabit.envs.core import Expert
from inhabit.episodes.episode import Episode, Moment
from inhabit.episodes.view import LackingError


class Reward(StrEnum):
    """What a rollout pays: every step the change, so that an episode's rewards sum to its value."""

    SUCCESS = "success"
    """1 once all goal conditions hold."""
    CONDITIONS = "conditions"
    """The share of goal conditions that hold, less the share that held at the start."""
    PROGRESS = "progress"
    """The share of the expert's plan from the start that need not be done any more: 1 when solved,
    negative after steps away from the goal. Needs an environment with an expert."""
    REGRET = "regret"
    """1 once all goal conditions hold, less the actions that the expert would not have needed, as a
    share of its plan from the start. A best action earns nothing and any other loses, until the
    goal is reached. Needs an environment with an expert."""


class Payment:
    """The rewards of one episode.

    Args:
        reward: what is paid.
        penalty: taken from the reward of every action without effect.
        episode: at its start.

    Raises:
        LackingError: the reward needs an expert, and the environment has none.
    """

    def __init__(self, reward: Reward, penalty: float, episode: Episode) -> None:
        self._reward, self._penalty = reward, penalty
        self._base = episode.now.met / episode.now.total
        self._worth, self._left = 0.0, 1
        asks = reward in (Reward.PROGRESS, Reward.REGRET)
        self._planned = self._remaining(episode) if asks else 0
        self.sum = 0.0
        """Sum of the rewards so far."""

    def pay(self, now: Moment) -> float:
        """The reward of the action that led to `now`."""
        match self._reward:
            case Reward.SUCCESS:
                worth = float(now.success)
            case Reward.CONDITIONS:
                worth = now.met / now.total - self._base
            case Reward.PROGRESS:
                left = 0 if now.success else self._remaining(now.episode)
                worth = 1.0 - left / self._planned
            case Reward.REGRET:
                left = 0 if now.success else self._remaining(now.episode)
                worth = now.success - (now.number + left - self._planned) / self._planned
        fine = self._penalty if now.reason is not None else 0.0
        reward = worth - self._worth - fine
        self._worth = worth
        self.sum += reward
        return reward

    def _remaining(self, episode: Episode) -> int:
        """Actions of the expert's plan from here; where it knows none, as many as before."""
        env = episode.env
        if not isinstance(env, Expert):
            raise LackingError(
                f"{episode.task.env!r} has no expert, which the reward {self._reward.value!r} "
                "asks: choose 'conditions' or 'success'."
            )
        self._left = len(env.plan()) or self._left
        return self._left
