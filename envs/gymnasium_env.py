"""An environment of Gymnasium's registry as an `Env`: discrete actions, a return to reach.

`gymnasium:ID` names it where an environment is validated. Its goal is the return that Gymnasium
calls the environment's reward threshold; without one, it can't be solved.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Observation,
    Outcome,
    Reason,
    Task,
    TaskError,
    UnavailableError,
)
from inhabit.envs.entries import raised
from inhabit.envs.extras import require
from inhabit.envs.plain_data import validated_scene
from inhabit.envs.registry import Registration
from inhabit.envs.settings import SettingsModel

PREFIX = "gymnasium:"


class GymnasiumSettings(SettingsModel):
    """What `--set` may say of an environment of Gymnasium."""

    longest: int = Field(default=1000, ge=1)
    """Steps of an episode, where Gymnasium sets no limit."""


class GymnasiumScene(BaseModel):
    """Where an episode starts."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    start: int = Field(default=0, ge=0)
    """Together with the episode's seed, the seed of Gymnasium's `reset`."""


class GymnasiumEnv(Env):
    """One condition: the sum of rewards reaches the threshold. The text is the observation, unless
    that is an image.

    Raises:
        UnavailableError: it can't be made, or its actions are not discrete.
    """

    Scene: ClassVar[type[BaseModel]] = GymnasiumScene

    def __init__(self, name: str) -> None:
        gymnasium = _gymnasium()
        try:
            self._env = gymnasium.make(name)
        except (Exception, SystemExit) as error:
            raise UnavailableError(f"gymnasium.make({name!r}) {raised(error)}.") from error
        space = self._env.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            self._env.close()
            raise UnavailableError(f"{name} has the actions {space}; only Discrete ones are known.")
        spec: Any = self._env.spec
        self.determinism = Determinism.NONE if spec.nondeterministic else Determinism.FRAMES
        first, count = int(space.start), int(space.n)
        self._words = {f"action {number}": number for number in range(first, first + count)}
        self._threshold: float | None = spec.reward_threshold
        self._seen: Any = None
        self._return, self._ended, self._closed = 0.0, True, False

    def reset(self, task: Task, *, seed: int) -> None:
        """Start an episode."""
        scene = validated_scene(GymnasiumScene, task)
        start = random.Random(f"gymnasium {scene.start} {seed}").getrandbits(31)
        self._seen, _ = self._env.reset(seed=start)
        self._return, self._ended = 0.0, False

    def observe(self) -> Observation:
        """An image, where the observation is one, uint8 (H, W, 3), or else its numbers."""
        seen = self._seen
        if isinstance(seen, np.ndarray) and seen.dtype == np.uint8 and seen.ndim == 3:
            rgb: NDArray[np.uint8] = seen.copy()
            return Observation("", rgb)
        return Observation(str(seen))

    def vocabulary(self) -> Sequence[Action]:
        """An action for each number."""
        return [Action(text, "action", (text.split()[1],)) for text in self._words]

    def actions(self) -> Sequence[Action]:
        """All of them."""
        return self.vocabulary()

    def parse(self, text: str) -> Action | None:
        """The action of that text."""
        return next((one for one in self.vocabulary() if one.text == text.strip()), None)

    def act(self, action: Action) -> Outcome:
        """One step; after the end of an episode nothing happens any more."""
        number = self._words.get(action.text)
        if number is None:
            met, total = self.progress()
            said = f"Say one of {len(self._words)} actions, such as {next(iter(self._words))!r}."
            return Outcome(Reason.UNKNOWN_ACTION, said, met, total, over=self._ended)
        if not self._ended:
            self._seen, reward, terminated, truncated, _ = self._env.step(number)
            self._return += float(reward)
            self._ended = bool(terminated or truncated)
        met, total = self.progress()
        said = f"The return so far is {self._return:g}."
        return Outcome(None, said, met, total, over=self._ended or met == total)

    def progress(self) -> tuple[int, int]:
        """Whether the return has reached the threshold."""
        return int(self._threshold is not None and self._return >= self._threshold), 1

    def close(self) -> None:
        """Close Gymnasium's environment."""
        if not self._closed:
            self._closed = True
            self._env.close()


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

    def sample(n: int, seed: int, settings: GymnasiumSettings) -> Iterator[Task]:
        for number in range(n):
            start = random.Random(f"gymnasium {seed} {number}").getrandbits(31)
            yield Task(
                id=f"{name}-{seed}-{number}",
                env=PREFIX + name,
                kind="return",
                goal=f"Reach {goal} in {name}.",
                scene={"start": start},
                max_steps=spec.max_episode_steps or settings.longest,
            )

    def read(source: str, settings: GymnasiumSettings) -> NoReturn:
        raise TaskError(f"{name} has no tasks that are called {source!r}.")

    return Registration(
        name=PREFIX + name,
        summary=f"{name} of Gymnasium",
        backends=("gymnasium",),
        settings=GymnasiumSettings,
        make=lambda backend, settings: GymnasiumEnv(name),
        sample=sample,
        read=read,
        packages=("gymnasium",),
    )


def _gymnasium() -> Any:
    require("gymnasium", "gym", "Environments of Gymnasium")
    import gymnasium

    return gymnasium
