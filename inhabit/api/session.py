"""An environment that is open at a task: observe, act with text, look at candidates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

from inhabit.agents.core import Decision, Grant, Step, View
from inhabit.envs import notebook
from inhabit.envs.core import (
    Action,
    Env,
    Expert,
    Forkable,
    Observation,
    Outcome,
    Reason,
    Task,
    TaskError,
)
from inhabit.envs.registry import Registration, find
from inhabit.episodes.episode import UNREADABLE
from inhabit.episodes.recording.schema import Choice
from inhabit.episodes.running.plan import find_backend, make_env
from inhabit.episodes.running.run import episode_seed
from inhabit.episodes.running.settings import RunSettings, checked
from inhabit.episodes.running.tasks import gather
from inhabit.episodes.view import candidates_of, check


@dataclass(frozen=True, slots=True, eq=False)
class StepResult:
    """What one action did, and what there is to see after it. A notebook shows it as an image."""

    action: Action | None
    """As the environment understood it; None if it could not be understood."""
    reason: Reason | None
    """Why it had no effect; None if it worked."""
    feedback: str
    """What happened, or what stood in the way, in one sentence."""
    met: int
    """Goal conditions that hold now, out of `total`. Agents under evaluation never see this."""
    total: int
    over: bool
    """The environment has ended the episode."""
    cost: int
    """Low-level simulator steps that the action took."""
    observation: Observation

    @property
    def success(self) -> bool:
        """Whether all goal conditions hold."""
        return self.met == self.total

    def __repr__(self) -> str:
        said = self.action.text if self.action else "not understood"
        reason = f", reason={self.reason.value!r}" if self.reason else ""
        over = ", over" if self.over else ""
        return (
            f"StepResult({said!r}: {self.feedback!r}{reason}, {self.met} of {self.total} goal "
            f"conditions{over})"
        )

    def _repr_html_(self) -> str:
        state = f"{self.met} of {self.total} goal conditions"
        return notebook.html(self.observation, f"{self.feedback} ({state})")


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
        self._env, self._task, self._seed = env, task, seed
        self.reset()

    @property
    def env(self) -> Env:
        """The environment itself, for whatever this class does not offer."""
        return self._env

    @property
    def task(self) -> Task:
        """The task that is being played."""
        return self._task

    @property
    def goal(self) -> str:
        """The instruction, as a person would say it."""
        return self._task.goal

    @property
    def history(self) -> tuple[Step, ...]:
        """Every action since `reset`, with what was seen before it, oldest first."""
        return tuple(self._history)

    @property
    def last(self) -> Observation:
        """What was seen after the last action or reset. Costs nothing, unlike `observe`."""
        return self._seen

    @property
    def over(self) -> bool:
        """Whether the environment has ended the episode."""
        return self._over

    def reset(self, task: Task | None = None, *, seed: int | None = None) -> Observation:
        """Start the task again, or another one of the same environment.

        Raises:
            SceneError, SimulatorError: as for the class.
        """
        self._task = task or self._task
        self._seed = self._seed if seed is None else seed
        self._env.reset(self._task, seed=self._seed)
        self._history: list[Step] = []
        self._over = False
        # What was seen last, so that a step asks for one image: they cost more than the rest.
        self._seen = self.observe()
        return self._seen

    def observe(self) -> Observation:
        """What the agent sees and knows now. Changes nothing."""
        return self._env.observe()

    def candidates(self, choice: Choice | str = Choice.SEEN) -> list[str]:
        """Actions to choose from, as texts for `act`.

        Args:
            choice: "seen" (plausible from what has been seen), "vocabulary" (all that can be said
                in such a scene) or "oracle" (what would truly succeed: privileged).

        Raises:
            LackingError: the environment can't tell what would succeed.
        """
        choice = Choice(choice)
        check(self._env, choice, frozenset())
        return [action.text for action in candidates_of(self._env, choice)]

    def act(self, action: Action | str | Decision) -> StepResult:
        """Carry out one action. A text that means nothing here is a step without effect.

        Args:
            action: the action, the environment's words for it, or what an agent has decided.

        Raises:
            RuntimeError: the episode is over.
            SimulatorError: the simulator failed.
        """
        if self._over:
            raise RuntimeError("The episode is over: call reset() to play it again.")
        before = self._seen
        said = action.raw if isinstance(action, Decision) else str(action)
        given = action.action if isinstance(action, Decision) else action
        meant = self._env.parse(given) if isinstance(given, str) else given
        if meant is None:
            met, total = self._env.progress()
            outcome = Outcome(Reason.UNKNOWN_ACTION, UNREADABLE, met, total, over=False, cost=0)
        else:
            outcome = self._env.act(meant)
        text = meant.text if meant else said
        reason, feedback = outcome.reason, outcome.feedback
        self._history.append(Step(text, reason, feedback, before.rgb, before.text, before.clips))
        self._over = outcome.over
        self._seen = self.observe()
        return StepResult(
            meant,
            reason,
            feedback,
            outcome.met,
            outcome.total,
            outcome.over,
            outcome.cost,
            self._seen,
        )

    def plan(self) -> list[str]:
        """The expert's solution from here; empty when solved, or when there is none.

        Raises:
            LackingError: the environment has no expert.
        """
        check(self._env, Choice.SEEN, frozenset({Grant.EXPERT}))
        assert isinstance(self._env, Expert)
        return [action.text for action in self._env.plan()]

    def fork(self) -> Session:
        """An independent copy of this state, to try actions in. Close it when done.

        Copies may share one simulator: don't use them from several threads at once. Rollouts
        (`inhabit.rollouts`) take turns by themselves.

        Raises:
            LackingError: the environment can't copy its state.
        """
        check(self._env, Choice.SEEN, frozenset({Grant.LOOKAHEAD}))
        assert isinstance(self._env, Forkable)
        copy = object.__new__(Session)
        copy._env, copy._task, copy._seed = self._env.fork(), self._task, self._seed
        copy._history, copy._over, copy._seen = list(self._history), self._over, self._seen
        return copy

    def view(self, choice: Choice | str = Choice.SEEN) -> View:
        """What `inhabit.run` would show an agent now, to try an agent on. It grants nothing."""

        async def parse(text: str) -> Action | None:
            return self._env.parse(text)

        choice = Choice(choice)
        check(self._env, choice, frozenset())
        return View(
            goal=self.goal,
            observation=self.observe(),
            candidates=tuple(candidates_of(self._env, choice)),
            history=self.history,
            seed=self._seed,
            parse=parse,
        )

    def close(self) -> None:
        """Let go of the simulator. Safe to call twice."""
        self._env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        over = ", over" if self._over else ""
        return (
            f"Session({self._task.env}, task {self._task.id!r}: {self.goal!r}, "
            f"{len(self._history)} steps{over})"
        )

    def _repr_html_(self) -> str:
        return notebook.html(self.observe(), f"{self._task.env}: {self.goal}")


def open(
    env: str,
    task: Task | int = 0,
    *,
    seed: int = 0,
    source: str | None = None,
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
        settings: what `--set` may say of the environment, such as {"pixels": 300}.
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
    if isinstance(task, int):
        found = gather(registration, chosen, n=task + 1, seed=seed, source=source)
        if len(found) <= task:
            raise TaskError(f"{source} has {len(found)} tasks from 0, and no number {task}.")
        seed = episode_seed(seed, task)
        task = found[task]
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
    source: str | None = None,
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
