"""Episodes for trainers: texts in; text, image and reward out.

A `RolloutFactory` says which environment, tasks and reward; each `Rollout` that it opens plays one
episode at a time. The same task and seed start the same episode as `inhabit run` does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from copy import copy as copied
from dataclasses import dataclass, field, replace
from numbers import Integral
from threading import Lock
from typing import Any, Self

from pydantic import BaseModel

from inhabit.agents.core import Decision
from inhabit.agents.dialogue.answer import ParsedAnswer, read_answer, reading
from inhabit.agents.dialogue.choices import Choices
from inhabit.agents.dialogue.history import without_failed
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.core import Image
from inhabit.api.session import Session
from inhabit.envs.core import Action, Env, Forkable, Task, TaskError
from inhabit.envs.registry import Registration
from inhabit.episodes.episode import Episode, Limits, Moment
from inhabit.episodes.playing.plan import make_env
from inhabit.episodes.playing.run import episode_seed
from inhabit.episodes.playing.settings import RunSettings
from inhabit.episodes.playing.tasks import whole
from inhabit.episodes.recording.schema import Ending
from inhabit.frameworks.reward import Payment, Reward
from inhabit.frameworks.turn import ENDED, Turn

Begin = Callable[[Env | None], Episode]
"""Starts an episode in an environment, or in a new one, and looks at its first moment."""


@dataclass(frozen=True, slots=True, eq=False)
class LockedEpisode:
    """An episode, and the lock of all that share its simulator: copies take turns in it."""

    episode: Episode
    lock: Lock

    def copy(self) -> LockedEpisode:
        """An independent episode at the same moment."""
        with self.lock:
            return LockedEpisode(self.episode.fork(), self.lock)

    def restarted(self, begin: Begin) -> LockedEpisode:
        """Another episode in the same simulator."""
        with self.lock:
            return LockedEpisode(begin(self.episode.env), self.lock)

    def close(self) -> None:
        """Let go of the simulator."""
        with self.lock:
            self.episode.close()


class Starts:
    """Episodes at the start of a task, to copy. The one used longest ago starts the next task.

    Args:
        size: how many are kept; 0 keeps none.
    """

    def __init__(self, size: int) -> None:
        self._size, self._lock = size, Lock()
        self._kept: OrderedDict[int, LockedEpisode] = OrderedDict()

    def take(self, index: int, used: LockedEpisode | None, begin: Begin) -> LockedEpisode:
        """An episode at the start of a task: a copy of a kept one, or one that `begin` starts.

        The environment of `used`, which is over, is used or closed, also when starting fails.

        Raises:
            SceneError, SimulatorError, UnavailableError: the task can't be started.
        """
        spare = [] if used is None else [used]  # closed in the end
        try:
            with self._lock:
                if index in self._kept:
                    self._kept.move_to_end(index)
                    return self._kept[index].copy()
                if len(self._kept) >= self._size > 0:
                    spare.append(self._kept.popitem(last=False)[1])
            made = spare[-1].restarted(begin) if spare else LockedEpisode(begin(None), Lock())
            spare[-1:] = [made]
            if not self._size or not isinstance(made.episode.env, Forkable):
                return spare.pop()
            with self._lock:
                copy = made.copy()
                # Another thread may have kept the same start meanwhile.
                spare[-1:] = [self._kept.pop(index)] if index in self._kept else []
                self._kept[index] = made
                # Threads that start tasks at once may together keep more than there is room for.
                while len(self._kept) > self._size:
                    spare.append(self._kept.popitem(last=False)[1])
            return copy
        finally:
            for one in spare:
                one.close()


@dataclass(frozen=True)
class RolloutFactory:
    """Which episodes a trainer plays. `rollouts` makes one; `open` starts an environment for it."""

    registration: Registration
    tasks: tuple[Task, ...]
    settings: BaseModel
    """Settings of the environment."""
    backend: str
    seed: int
    reward: Reward
    listed: bool
    max_steps: int | None
    max_invalid: int
    penalty: float
    worker: bool
    deadline: float
    remember: int
    """Past images that an episode keeps."""
    _starts: Starts = field(repr=False, compare=False)

    def open(self) -> Rollout:
        """An environment of its own, with no episode begun.

        Raises:
            UnavailableError: the backend lacks something on this machine.
        """
        return Rollout(self)

    def begin(self, index: int, used: LockedEpisode | None = None) -> LockedEpisode:
        """An episode at the start of a task: a copy of a kept one where the environment can copy.

        Args:
            index: number of the task.
            used: an episode that is not needed any more. Its environment is used or closed.

        Raises:
            SceneError, SimulatorError, UnavailableError: it can't be started.
        """
        return self._starts.take(index, used, lambda env: self.start(index, env))

    def start(self, index: int, env: Env | None = None) -> Episode:
        """An episode at the start of a task, in `env` or in an environment of its own."""
        running = RunSettings(
            in_process=not self.worker, deadline=self.deadline, reset_deadline=3 * self.deadline
        )
        env = env or make_env(self.registration, self.backend, self.settings, running)
        task = self.tasks[index]
        limits = Limits(self.max_steps or task.max_steps, self.max_invalid)
        episode = Episode(env, task, episode_seed(self.seed, index), limits, remember=self.remember)
        try:
            _ = episode.reset().observation
        except BaseException:
            env.close()
            raise
        return episode

    def index_of(self, task: int | str | None, seed: int | None) -> int:
        """The number of a task: by number or id, or chosen by a seed, which may be any number.

        Raises:
            TaskError: there is no such task.
        """
        if task is None:
            return (seed or 0) % len(self.tasks)
        if isinstance(task, str):
            found = [i for i, one in enumerate(self.tasks) if one.id == task]
            if not found:
                raise TaskError(
                    f"There is no task {task!r} among the {len(self.tasks)} of this server or "
                    f"trainer, such as {self.tasks[0].id!r}."
                )
            return found[0]
        if not 0 <= (task := whole("task", task)) < len(self.tasks):
            raise TaskError(
                f"There is no task {task}: tasks are numbered 0 to {len(self.tasks) - 1}."
            )
        return task

    def of_row(self, row: Mapping[str, Any]) -> int:
        """The number of the task that a row of a data set names as "task", by number or id.

        Raises:
            TaskError: it names none, or there is no such task.
        """
        task = row.get("task")
        if isinstance(task, Integral):  # Rows of tables have NumPy's numbers.
            return self.index_of(int(task), None)
        if not isinstance(task, str):
            raise TaskError(f'A row\'s "task" is a number or an id, and not {task!r}.')
        return self.index_of(task, None)


_NOT_BEGUN = "No episode has begun: call reset() first."


class Rollout:
    """One environment that plays the tasks of its factory, an episode at a time."""

    def __init__(self, factory: RolloutFactory) -> None:
        self._factory = factory
        told = PromptSettings(history="whole", choices=factory.listed)
        self._prompt = Prompt("rank", settings=told)
        self._start: LockedEpisode | None = None
        self._turn: Turn | None = None

    @property
    def begun(self) -> bool:
        """Whether there is an episode, going on or ended."""
        return self._turn is not None

    @property
    def session(self) -> Session:
        """The episode as `inhabit.open` gives it.

        Raises:
            RuntimeError: no episode has begun.
        """
        if self._start is None:
            raise RuntimeError(_NOT_BEGUN)
        return Session.of(self._start.episode)

    @property
    def turn(self) -> Turn:
        """The last turn.

        Raises:
            RuntimeError: no episode has begun.
        """
        if self._turn is None:
            raise RuntimeError(_NOT_BEGUN)
        return self._turn

    @property
    def task(self) -> Task:
        """The task that is being played."""
        return self.session.task

    @property
    def value(self) -> float:
        """The sum of the rewards since the reset; 0 before the first."""
        return self._payment.sum if self.begun else 0.0

    def reset(self, task: int | str | None = None, *, seed: int | None = None) -> Turn:
        """Start an episode.

        Args:
            task: number or id; None takes the task with number `seed` modulo how many there are.
            seed: chooses the task where `task` does not, and nothing else: each task always starts
                with the seed of its episode, so the same task is the same start.

        Raises:
            TaskError: there is no such task.
            LackingError: the reward needs an expert, and the environment has none.
            SceneError, SimulatorError, UnavailableError: it can't be started.
        """
        factory, used = self._factory, self._start
        index = factory.index_of(task, seed)
        self._start = self._turn = None
        self._start = start = factory.begin(index, used)
        with start.lock:
            self._payment = Payment(factory.reward, factory.penalty, start.episode)
            return self._told(start.episode.now, 0.0)

    def act(self, reply: str | Action, *, most: int = 1) -> Turn:
        """Carry out what a model replies, understood as the reply to the agent `chat` is.

        A reply that means nothing is an action without effect, never an exception; "stop" ends
        the episode.

        Args:
            reply: any text; or an action, which is carried out as it is.
            most: actions that one reply may name. They are carried out until one has no effect.

        Raises:
            RuntimeError: no episode has begun, or it has ended.
            SimulatorError: the simulator failed.
        """
        if self.turn.done:
            raise RuntimeError("The episode has ended: call reset() to play another.")
        assert self._start is not None
        episode = self._start.episode
        with self._start.lock:
            if isinstance(reply, Action):
                return self._next(episode, Decision(reply))
            answer = read_answer(reply)
            turn = self._next(episode, _meant(episode, reply, answer))
            for said in answer.rest[: most - 1] if answer else ():
                if turn.done or turn.reason is not None:
                    break
                after = self._next(episode, _meant(episode, said, ParsedAnswer(said)))
                turn = self._turn = replace(after, reward=after.reward + turn.reward)
        return turn

    def fork(self, n: int = 1) -> list[Rollout]:
        """`n` independent rollouts that go on from this very state. Close each when done.

        Raises:
            RuntimeError: no episode has begun.
            LackingError: the environment can't copy its state.
        """
        if self._start is None:
            raise RuntimeError(_NOT_BEGUN)
        start = self._start
        return [self._copy(start.copy()) for _ in range(n)]

    def close(self) -> None:
        """Let go of the simulator. Safe to call twice; `reset` starts again."""
        if self._start is not None:
            self._start.close()
        self._start = self._turn = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _copy(self, start: LockedEpisode) -> Rollout:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._start, copy._payment = start, copied(self._payment)
        return copy

    def _next(self, episode: Episode, decision: Decision) -> Turn:
        now = episode.act(decision)
        return self._told(now, 0.0 if decision.stop else self._payment.pay(now))

    def _told(self, now: Moment, reward: float) -> Turn:
        ending = now.ending
        candidates = () if ending else tuple(one.text for one in without_failed(now.view()))
        goal, last = now.episode.task.goal, now.history[-1] if now.history else None
        parts = self._prompt.message(
            goal, last, now.observation, images=True, choices=candidates
        ).parts
        if ending is Ending.STOPPED:
            parts = (*(part for part in parts if isinstance(part, Image)), ENDED[ending])
        elif ending is not None:
            parts = (*parts, f"\n{ENDED[ending]}")
        self._turn = Turn(
            parts=parts,
            reward=reward,
            ending=ending,
            met=now.met,
            total=now.total,
            steps=now.number,
            reason=now.reason,
            candidates=candidates,
        )
        return self._turn


def _meant(episode: Episode, reply: str, answer: ParsedAnswer | None) -> Decision:
    """What a reply means among the candidates, as an agent of a run would understand it."""
    choices = Choices.of(episode.now.view(), lettered=False, most=0, stop=True)
    parsed = None if answer is None else episode.env.parse(answer.action)
    return reading(reply, answer, choices, parsed).decision()
