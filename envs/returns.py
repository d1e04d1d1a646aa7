"""Environments of others that pay rewards, as an `Env`: one condition, a return to reach."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from pydantic import BaseModel, ConfigDict, Field

from inhabit.envs.core import (
    Action,
    Env,
    Observation,
    Outcome,
    Reason,
    Task,
    TaskError,
)
from inhabit.envs.plain_data import validated_scene
from inhabit.envs.registry import Registration


class StartScene(BaseModel):
    """Where an episode starts."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    start: int = Field(default=0, ge=0)
    """A seed of the start."""


@dataclass(frozen=True, slots=True, eq=False)
class PaidStep:
    """What came of a reset or of an action."""

    seen: Observation
    choices: Sequence[str]
    """Texts of what can be done now."""
    reward: float = 0.0
    over: bool = False
    reason: Reason | None = None
    """Why the action had no effect, where that is told."""


class ReturnEnv(Env):
    """An episode is solved once the sum of its rewards reaches the threshold.

    Args:
        threshold: of the sum; None where no sum is a success.
    """

    Scene: ClassVar[type[BaseModel]] = StartScene

    def __init__(self, threshold: float | None) -> None:
        self._threshold = threshold
        self._now: PaidStep | None = None
        self._words: Sequence[str] = ()
        self._return = 0.0

    @abstractmethod
    def begin(self, start: int, seed: int) -> PaidStep:
        """Start an episode: by a task's start, and the episode's seed."""

    @abstractmethod
    def do(self, choice: str) -> PaidStep:
        """Do what one of the choices says."""

    def reset(self, task: Task, *, seed: int) -> None:
        """Start an episode."""
        start = validated_scene(StartScene, task).start
        self._now = self.begin(start, seed)
        self._words, self._return = tuple(self._now.choices), 0.0

    def observe(self) -> Observation:
        """What was seen last."""
        return self._last.seen

    def vocabulary(self) -> Sequence[Action]:
        """What could be done at the start."""
        return [_action(text) for text in self._words]

    def actions(self) -> Sequence[Action]:
        """What can be done now."""
        return [_action(text) for text in self._last.choices]

    def parse(self, text: str) -> Action | None:
        """The action of that text; spaces around it are ignored."""
        known = (*(self._now.choices if self._now else ()), *self._words)
        alike = (_action(one) for one in known if one.strip() == text.strip())
        return next(alike, None)

    def act(self, action: Action) -> Outcome:
        """One step; after the end of an episode nothing happens any more."""
        now, reason = self._last, None
        if (meant := self.parse(action.text)) is None:
            example = next(iter(now.choices), "")
            said = f"Say one of {len(now.choices)} actions, such as {example!r}."
            return Outcome(Reason.UNKNOWN_ACTION, said, *self.progress(), over=self._over)
        if not self._over:
            now = self._now = self.do(meant.text)
            self._return += now.reward
            reason = now.reason
        met, total = self.progress()
        said = f"The return so far is {self._return:g}."
        return Outcome(reason, said, met, total, over=self._over)

    def progress(self) -> tuple[int, int]:
        """Whether the return has reached the threshold."""
        return int(self._threshold is not None and self._return >= self._threshold), 1

    @property
    def _over(self) -> bool:
        met, total = self.progress()
        return self._last.over or met == total

    @property
    def _last(self) -> PaidStep:
        assert self._now is not None, "reset() was not called."
        return self._now


def of_returns(
    name: str,
    summary: str,
    *,
    package: str,
    settings: type[BaseModel],
    make: Callable[[Any], Env],
    goal: Callable[[int, Any], str],
    longest: Callable[[Any], int],
) -> Registration:
    """How to make such an environment and to sample tasks of it.

    Args:
        name: what the user calls it.
        summary: what it is.
        package: whose environments these are.
        settings: the model of its settings, which `make`, `goal` and `longest` are given.
        make: opens one.
        goal: of the task that begins at a start.
        longest: steps of an episode.
    """

    def sample(n: int, seed: int, chosen: Any) -> Iterator[Task]:
        for number in range(n):
            start = random.Random(f"{package} {seed} {number}").getrandbits(31)
            yield Task(
                id=f"{package}-{seed}-{number}",
                env=name,
                kind="return",
                goal=goal(start, chosen),
                scene={"start": start},
                max_steps=longest(chosen),
            )

    def read(source: str, chosen: Any) -> NoReturn:
        raise TaskError(f"{name} has no tasks that are called {source!r}.")

    return Registration(
        name=name,
        summary=summary,
        backends=(package,),
        settings=settings,
        make=lambda backend, chosen: make(chosen),
        sample=sample,
        read=read,
        packages=(package,),
    )


def _action(text: str) -> Action:
    return Action(text, "action", (text.removeprefix("action "),))
