"""The environment that is validated, and the episodes that its checks share."""

from __future__ import annotations

import hashlib
import random
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from warnings import warn

from pydantic import BaseModel

from inhabit.agents.core import Decision
from inhabit.agents.custom import module_in
from inhabit.agents.models.core import Image
from inhabit.envs import gymnasium_env, openenv_env, registry
from inhabit.envs.core import (
    Action,
    Env,
    Expert,
    Observation,
    Outcome,
    Privileged,
    SimulatorError,
    Task,
    UnknownNameError,
)
from inhabit.envs.entries import PluginError
from inhabit.envs.host.checked_env import checked
from inhabit.envs.registry import Registration
from inhabit.episodes.episode import Episode, Limits, Moment, steps
from inhabit.episodes.playing.plan import find_backend
from inhabit.episodes.playing.settings import divide
from inhabit.episodes.playing.tasks import gather

_FILE = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*)", re.DOTALL)
LONGEST = 30
"""Steps of an episode that is played for a check, at most."""
Choose = Callable[[Moment], Action | None]
"""A way to act: what to do at a moment; None says something that is no action."""


class DoesNotApply(Exception):  # noqa: N818 - it is no error
    """A check does not apply to this environment. Says why."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A moment of an episode, and what was done then."""

    seen: Observation
    candidates: tuple[str, ...]
    digest: str | None
    """Digest of the state; None where the environment shows none."""
    met: int
    total: int
    told: str
    """The feedback of the action before."""
    action: str = ""
    """The action; empty at the end of an episode, and where nothing was understood."""
    outcome: Outcome | None = None

    @cached_property
    def picture(self) -> str | None:
        """The digest of the image."""
        return None if self.seen.rgb is None else Image(self.seen.rgb).digest


@dataclass(frozen=True, slots=True, eq=False)
class Play:
    """An episode: its moments, the last of them without an action."""

    task: Task
    shots: Sequence[Snapshot]
    solved: bool

    @property
    def acted(self) -> Sequence[Snapshot]:
        """The moments in which something was done."""
        return self.shots[:-1]


def play(env: Env, task: Task, choose: Choose, *, seed: int = 0, longest: int = LONGEST) -> Play:
    """One episode of `task`, at most `longest` steps of it."""
    episode = Episode(env, task, seed, Limits(steps=min(longest, task.max_steps)))
    shots: list[Snapshot] = []

    def decide(now: Moment) -> Decision:
        now.observation, now.candidates, now.digest  # noqa: B018 - looked at before it goes on
        return Decision(choose(now), raw="(nothing)")

    for before, decision, after in steps(episode, decide):
        shots.append(_shot(before, decision.action.text if decision.action else "", after))
    now = episode.now
    return Play(task, [*shots, _shot(now)], now.success)


def _shot(now: Moment, action: str = "", after: Outcome | None = None) -> Snapshot:
    texts = tuple(one.text for one in now.candidates)
    state = (now.observation, texts, now.digest, now.met, now.total, now.feedback)
    return Snapshot(*state, action, after)


def at_random(task: Task, salt: str = "") -> Choose:
    """Any of the candidates, by a generator of the task's own."""
    rng = random.Random(f"validate {task.id} {salt}")
    return lambda now: rng.choice(now.candidates) if now.candidates else None


@dataclass(eq=False)
class Subject:
    """What is validated: an environment by name, a few of its tasks, and how thoroughly."""

    target: str
    registration: Registration
    backend: str
    settings: BaseModel
    tasks: Sequence[Task]
    fast: bool = False
    source: str | None = None
    """Where the tasks come from, as `--tasks` has it; None if they were sampled."""
    assignments: Sequence[str] = ()
    """KEY=VALUE, as on the command line."""
    kept: dict[str, object] = field(default_factory=dict)
    """What several checks stand on and one of them has measured, by name."""
    _made: list[Env] = field(default_factory=list)

    @classmethod
    def open(
        cls,
        target: str,
        *,
        n: int | None = None,
        backend: str | None = None,
        assignments: Sequence[str] = (),
        fast: bool = False,
        source: str | None = None,
    ) -> Self:
        """The environment that `target` names: a registered one, FILE.py:REGISTRATION,
        gymnasium:ID, or the address of an OpenEnv server.

        Raises:
            UnknownNameError, PluginError: there is no such environment, or it can't be used.
            SettingError, TaskError: a setting is wrong, or it gives no tasks.
        """
        found = find(target)
        settings = divide(assignments, {"env": found.settings})["env"]
        name = find_backend(found, backend)
        settings = found.fastest_settings(name, settings)
        count = n or (6 if fast else 12)
        tasks = gather(found, settings, n=count, seed=0, source=source)
        return cls(target, found, name, settings, tasks, fast, source, assignments)

    @property
    def name(self) -> str:
        """The target for reports, which others read: an address without its path, which may hold a
        token.
        """
        if not self.target.startswith(openenv_env.PREFIXES):
            return self.target
        address = urlsplit(self.target)
        host = address.netloc.rpartition("@")[2]
        return f"{address.scheme}://{host}" + ("/..." if address.path.strip("/") else "")

    @property
    def words(self) -> Mapping[str, str]:
        """Words of a command: the subject alone, with its settings, with backend and tasks too."""
        settings = [word for one in self.assignments for word in ("--set", one)]
        own = [] if self.backend == self.registration.backends[0] else ["--backend", self.backend]
        source = [] if self.source is None else ["--tasks", self.source]
        return {
            "env": shlex.join([self.name]),
            "sampled": shlex.join([self.name, *settings]),
            "played": shlex.join([self.name, *own, *source, *settings]),
        }

    def make(self) -> Env:
        """A new environment, with every value checked. The subject closes it."""
        made = checked(self.registration.make(self.backend, self.settings))
        self._made.append(made)
        return made

    @cached_property
    def env(self) -> Env:
        """The environment in which the episodes are played."""
        return self.make()

    @cached_property
    def other(self) -> Env:
        """Another one, to compare with."""
        return self.make()

    def begin(self, task: Task) -> Episode:
        """An episode of `task` in the environment, at its start."""
        episode = Episode(self.env, task)
        episode.reset()
        return episode

    @cached_property
    def plans(self) -> Sequence[Play]:
        """An episode of the expert for each task.

        Raises:
            DoesNotApply: there is no expert.
        """
        expert: Expert = self.needs(Expert, "an expert")
        return [play(self.env, task, _follow(expert), longest=10_000) for task in self.tasks]

    @cached_property
    def walks(self) -> Sequence[Play]:
        """An episode of random candidates for each task."""
        return [play(self.env, task, at_random(task)) for task in self.tasks]

    @property
    def shots(self) -> Iterator[Snapshot]:
        """Every moment of the random episodes, and of the expert's where there is one."""
        plans = self.plans if isinstance(self.env, Expert) else ()
        for one in (*self.walks, *plans):
            yield from one.shots

    def needs(self, capability: type, what: str) -> Any:
        """The environment, as one with this capability.

        Raises:
            DoesNotApply: it lacks it.
        """
        if not isinstance(self.env, capability):
            raise DoesNotApply(f"This environment does not offer {what}.")
        return self.env

    def needs_state(self) -> Privileged:
        """The environment, as one that shows its state."""
        found: Privileged = self.needs(Privileged, "its state")
        return found

    def close(self) -> None:
        """Close all its environments. What one raises is a warning: the report is not lost."""
        for one in self._made:
            try:
                one.close()
            except SimulatorError as error:
                warn(str(error), stacklevel=2)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def find(target: str) -> Registration:
    """The registration that `target` names.

    Raises:
        UnknownNameError, PluginError: there is none, or it can't be used.
        UnavailableError: Gymnasium or openenv is not installed.
    """
    if target.startswith(gymnasium_env.PREFIX):
        return gymnasium_env.registration(target.removeprefix(gymnasium_env.PREFIX))
    if target.startswith(openenv_env.PREFIXES):
        return openenv_env.registration(target)
    if target.endswith(".py"):
        hint = f"Name its registration: {target}:NAME."
        raise UnknownNameError("environment", target, (), hint)
    if (named := _FILE.fullmatch(target)) is None:
        return registry.find(target)
    file, name = Path(named["file"]), named["name"]
    found = getattr(module_in(file, "environment", PluginError), name, None)
    if not isinstance(found, Registration):
        raise PluginError(f"{file} has no Registration that is called {name!r}.")
    return found


def said_again(env: Env, recorded: Play) -> Choose:
    """The recorded actions, as `env` understands their texts."""
    return lambda now: env.parse(recorded.shots[now.number].action)


def trace(shots: Sequence[Snapshot], *, pictures: bool) -> Sequence[str]:
    """A hash of each moment: all that can be told of it, and the image's pixels if wanted."""
    return [
        hashlib.sha256(
            repr(
                (s.seen.text, s.candidates, s.digest, s.met, s.total, s.told, s.action)
                + ((s.picture,) if pictures else ())
            ).encode("utf-8", "surrogatepass")
        ).hexdigest()[:16]
        for s in shots
    ]


def _follow(expert: Expert) -> Choose:
    """The plan that the expert has at the start, action by action."""
    plan: list[Action] = []

    def choose(now: Moment) -> Action | None:
        if now.number == 0:
            plan[:] = expert.plan()
        return plan[now.number] if now.number < len(plan) else None

    return choose
