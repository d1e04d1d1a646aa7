"""An environment of Gymnasium's registry as an `Env`: discrete actions, a return to reach.

`gymnasium:ID` names it where an environment is validated. Its goal is the return that Gymnasium
calls the environment's reward threshold; without one, it can't be solved.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from inhabit.envs.core import Determinism, Observation, UnavailableError
from inhabit.envs.entries import raised
from inhabit.envs.extras import require
from inhabit.envs.registry import Registration
from inhabit.envs.returns import PaidStep, ReturnEnv, of_returns
from inhabit.envs.settings import SettingsModel

PREFIX = "gymnasium:"


class GymnasiumSettings(SettingsModel):
    """What `--set` may say of an environment of Gymnasium."""

    longest: int = Field(default=1000, ge=1)
    """Steps of an episode, where Gymnasium sets no limit."""


class GymnasiumEnv(ReturnEnv):
    """What Gymnasium calls `name`.

    Raises:
        UnavailableError: it can't be made, or its actions are not discrete.
    """

    def __init__(self, name: str, threshold: float | None) -> None:
        super().__init__(threshold)
        self._closed = False
        gymnasium = _gymnasium()
        try:
            self._env = gymnasium.make(name)
        except (Exception, SystemExit) as error:
            raise UnavailableError(f"gymnasium.make({name!r}) {raised(error)}.") from error
        space = self._env.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            self._env.close()
            raise UnavailableError(f"{name} has the actions {space}; only Discrete ones are known.")
        nondeterministic = self._env.spec.nondeterministic
        self.determinism = Determinism.NONE if nondeterministic else Determinism.FRAMES
        first, count = int(space.start), int(space.n)
        self._numbers = {f"action {number}": number for number in range(first, first + count)}

    def begin(self, start: int, seed: int) -> PaidStep:
        """Start an episode: its start and its seed make Gymnasium's."""
        both = random.Random(f"gymnasium {start} {seed}").getrandbits(31)
        seen, _ = self._env.reset(seed=both)
        return PaidStep(_shown(seen), tuple(self._numbers))

    def do(self, choice: str) -> PaidStep:
        """Do the action with that number."""
        seen, reward, terminated, truncated, _ = self._env.step(self._numbers[choice])
        over = bool(terminated or truncated)
        return PaidStep(_shown(seen), tuple(self._numbers), float(reward), over)

    def close(self) -> None:
        """Close Gymnasium's environment."""
        if not self._closed:
            self._closed = True
            self._env.close()


def _shown(seen: Any) -> Observation:
    """An image, where the observation is one, uint8 (H, W, 3), or else its numbers."""
    if isinstance(seen, np.ndarray) and seen.dtype == np.uint8 and seen.shape[2:] == (3,):
        rgb: NDArray[np.uint8] = seen.copy()
        return Observation("", rgb)
    return Observation(str(seen))


def registration(name: str) -> Registration:
    """How to make and to sample the environment that Gymnasium calls `name`.

    Raises:
        UnavailableError: Gymnasium is not installed, or has no such environment.
    """
    gymnasium = _gymnasium()
    try:
        spec = gymnasium.spec(name)
    except gymnasium.error.Error as error:
        raise UnavailableError(f"Gymnasium has no {name!r}: {error}") from error
    threshold = spec.reward_threshold
    goal = "as much return as you can" if threshold is None else f"a return of {threshold:g}"
    return of_returns(
        PREFIX + name,
        f"{name} of Gymnasium",
        package="gymnasium",
        settings=GymnasiumSettings,
        make=lambda settings: GymnasiumEnv(name, threshold),
        goal=lambda start, settings: f"Reach {goal} in {name}.",
        longest=lambda settings: spec.max_episode_steps or settings.longest,
    )


def _gymnasium() -> Any:
    require("gymnasium", "gym", "Environments of Gymnasium")
    import gymnasium

    return gymnasium
