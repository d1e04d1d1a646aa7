"""An environment that is open at a task: observe, act with text, look at candidates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

from inhabit.agents.core import Decision, Grant, Step, View
from inhabit.envs import notebook
from inhabit.envs.core import Action, Env, Expert, Observation, Task, TaskError
from inhabit.envs.entries import member
from inhabit.envs.registry import Registration, find
from inhabit.episodes.episode import Episode, Moment
from inhabit.episodes.playing.plan import find_backend, make_env
from inhabit.episodes.playing.run import episode_seed
from inhabit.episodes.playing.settings import RunSettings, checked
from inhabit.episodes.playing.tasks import gather, whole
from inhabit.episodes.recording.schema import Choice
from inhabit.episodes.view import candidates_of, check


class Session:
    """One environment at one task, for a person or a script to play.

    The environment takes an action at a time and stands still in between. It shows no limits of
    steps or invalid actions: those belong to a run (`inhabit.run`).

    Args:
        env: the environment; closed with the session.
        task: what to start.
        seed: what `env.reset` is given.

    Raises:
        SceneError: the task's scene can't be built.
        SimulatorError: the simulator did not start.
    """

    def __init__(self, env: Env, task: Task, *, seed: int = 0) -> None:
        self._episode = Episode(env, task, seed)
        self.reset()

    @classmethod
    def of(cls, episode: Episode) -> Self:
        """The session of an episode that has been started."""
        session = object.__new__(cls)
        session._episode = episode
        return session

    @property
    def env(self) -> Env:
        """The environment itself, for whatever this class does not offer."""
        return self._episode.env

    @property
    def task(self) -> Task:
        """The task that is being played."""
        return self._episode.task

    @property
    def goal(self) -> str:
        """The instruction, as a person would say it."""
        return self.task.goal

    @property
    def history(self) -> tuple[Step, ...]:
        """Every action since `reset`, with what was seen before it, oldest first."""
        return self._episode.now.history

    @property
    def last(self) -> Observation:
        """What was seen after the last action or reset. Costs nothing, unlike `observe`."""
        return self._episode.now.observation

    @property
    def over(self) -> bool:
        """Whether the environment has ended the episode."""
        return self._episode.now.over

    def reset(self, task: Task | None = None, *, seed: int | None = None) -> Observation:
        """Start the task again, or another one of the same environment.

        Raises:
            TypeError: it is no task.
            SceneError, SimulatorError: as for the class.
        """
        episode = self._episode
        if not isinstance(task, Task | None):
            env = episode.task.env
            raise TypeError(f"reset() takes a Task, as inhabit.tasks({env!r}) gives, not {task!r}.")
        episode.task = task or episode.task
        episode.seed = episode.seed if seed is None else seed
        return episode.reset().observation

    def observe(self) -> Observation:
        """What the agent sees and knows now. Changes nothing."""
        return self.env.observe()

    def candidates(self, choice: Choice | str = Choice.SEEN) -> list[str]:
        """Actions to choose from, as texts for `act`.

        Args:
            choice: "seen" (plausible from what has been seen), "vocabulary" (all that can be said
                in such a scene) or "oracle" (what would truly succeed: privileged).

        Raises:
            LackingError: the environment can't tell what would succeed.
        """
        return [action.text for action in self._candidates(choice)]

    def act(self, action: Action | str) -> Moment:
        """Carry out one action. A text that means nothing here is a step without effect.

        Raises:
            TypeError: it is neither a text nor an `Action`.
            RuntimeError: the episode is over.
            SimulatorError: the simulator failed.
        """
        if not isinstance(action, Action | str):
            raise TypeError(f"An action is a text, such as those of candidates(), not {action!r}.")
        if self.over:
            raise RuntimeError("The episode is over: call reset() to play it again.")
        if isinstance(action, str):
            decision = Decision(self.env.parse(action), raw=action)
        else:
            decision = Decision(action)
        now = self._episode.act(decision)
        _ = now.observation  # For `last`, and for the history.
        return now

    def plan(self) -> list[str]:
        """The expert's solution from here; empty when solved, or when there is none.

        Raises:
            LackingError: the environment has no expert.
        """
        check(self.env, Choice.SEEN, frozenset({Grant.EXPERT}))
        assert isinstance(self.env, Expert)
        return [action.text for action in self.env.plan()]

    def fork(self) -> Session:
        """An independent copy of this state, to try actions in. Close it when done.

        Copies may share one simulator: don't use them from several threads at once. Rollouts
        (`inhabit.rollouts`) take turns by themselves.

        Raises:
            LackingError: the environment can't copy its state.
        """
        return Session.of(self._episode.fork())

    def view(self, choice: Choice | str = Choice.SEEN) -> View:
        """What `inhabit.run` would show an agent now, to try an agent on. It grants nothing."""
        candidates = self._candidates(choice)
        return replace(self._episode.now.view(), candidates=tuple(candidates))

    def _candidates(self, choice: Choice | str) -> Sequence[Action]:
        chosen = member(Choice, "choice of candidates", choice)
        check(self.env, chosen, frozenset())
        return candidates_of(self.env, chosen)

    def close(self) -> None:
        """Let go of the simulator. Safe to call twice."""
        self.env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        over = ", over" if self.over else ""
        return (
            f"Session({self.task.env}, task {self.task.id!r}: {self.goal!r}, "
            f"{len(self.history)} steps{over})"
        )

    def _repr_html_(self) -> str:
        return notebook.html(self.observe(), f"{self.task.env}: {self.goal}")


def open(
    env: str,
    task: Task | int = 0,
    *,
    seed: int = 0,
    source: Path | str | None = None,
    backend: str | None = None,
    settings: Mapping[str, object] = MappingProxyType({}),
    worker: bool = False,
) -> Session:
    """Open an environment at a task.

    With a number for `task` the session starts exactly as that episode of
    `inhabit run ENV --seed SEED` does. With a `Task` the environment is reset with `seed` itself.

    Args:
        env: a registered name, such as "alfred"; `inhabit envs` lists them.
        task: a task, or the number of one, from 0, among those that `tasks(env)` gives.
        seed: of the tasks that are sampled, and of the environment.
        source: where tasks come from instead of the sampler, as `--tasks` has it.
        backend: which simulator; None for the embedded default.
        settings: what `--set` may say of the environment, such as {"clips": True}.
        worker: run the environment in a process of its own. The default is this process, which
            starts at once and can be debugged; a worker protects you from a simulator that hangs
            or crashes, so choose it for real simulators such as Unity.

    Raises:
        UnknownNameError: there is no such environment or backend.
        SettingError: a setting is unknown or wrong.
        TaskError: there is no such task.
        SceneError: the task's scene can't be built.
        UnavailableError: the backend lacks something on this machine.
        SimulatorError: the simulator did not start.
    """
    registration = find(env)
    chosen = checked("env", registration.settings, settings)
    if not isinstance(task, Task):
        task = whole("task", task)
        if task < 0:
            raise TaskError(f"Tasks are numbered from 0, and {task} is none of them.")
        found = gather(registration, chosen, n=task + 1, seed=seed, source=source)
        if len(found) <= task:
            raise TaskError(f"{source} has {len(found)} tasks from 0, and no number {task}.")
        seed = episode_seed(seed, task)
        task = found[task]
    elif task.env != env:
        raise TaskError(f"Task {task.id!r} is of {task.env!r}, and this session of {env!r}.")
    name = find_backend(registration, backend)
    made = make_env(registration, name, chosen, RunSettings(in_process=not worker))
    try:
        return Session(made, task, seed=seed)
    except BaseException:
        made.close()
        raise


def tasks(
    env: str,
    n: int | None = None,
    *,
    seed: int = 0,
    source: Path | str | None = None,
    kinds: Collection[str] = (),
    rooms: Collection[str] = (),
    settings: Mapping[str, object] = MappingProxyType({}),
) -> Sequence[Task]:
    """Tasks of an environment: `n` sampled ones, or the first `n` of `source`.

    Args:
        env: a registered name.
        n: how many; None takes one sampled task, or all that `source` has.
        seed: of the sample; the first k of n tasks are those of k.
        source: a `.jsonl` file, a frozen set such as "alfred-v1", or whatever else the environment
            reads, as `--tasks` has it.
        kinds: of tasks to take; any by default.
        rooms: to take tasks of; any by default.
        settings: of the environment.

    Raises:
        UnknownNameError, SettingError, TaskError: as `open`.
    """
    registration: Registration = find(env)
    chosen = checked("env", registration.settings, settings)
    return gather(registration, chosen, n=n, seed=seed, source=source, kinds=kinds, rooms=rooms)
