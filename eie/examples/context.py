"""One step of an episode that examples are extracted from, and the results of its actions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from inhabit.agents.core import Decision
from inhabit.eie.examples.topology import kind_of
from inhabit.envs.core import (
    Action,
    Expert,
    Factual,
    Forkable,
    Observation,
    Privileged,
    Reason,
    SceneObject,
    Task,
)
from inhabit.episodes.episode import Episode

FAILS = math.inf
"""The cost of an action that fails, or after which there is no plan."""


@runtime_checkable
class SynthesisEnv(Expert, Factual, Privileged, Protocol):
    """What EIE asks of an environment beyond the contract; and forks, if its expert is inexact."""


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A step that was taken, as it went."""

    action: Action
    feedback: str
    reason: Reason | None
    """Why the step failed; None if it did not."""
    observation: Observation
    """What was observed before the step."""

    @property
    def failed(self) -> bool:
        """Whether the step failed."""
        return self.reason is not None


@dataclass(frozen=True, slots=True)
class StepContext:
    """Observation, objects, past steps and the expert's plan at one step."""

    observation: Observation
    things: tuple[SceneObject, ...]
    done: tuple[TakenStep, ...]
    plan: tuple[Action, ...]
    """The expert's plan from here; not empty."""
    target_name: str | None = None
    """Name of the object of the answer, once it is known."""
    task: Task | None = None
    """The task with this scene and goal, where scenes are built for the group."""

    @property
    def answer(self) -> Action:
        """What the expert does next."""
        return self.plan[0]

    @property
    def held(self) -> Sequence[SceneObject]:
        """What is in the hands."""
        return [thing for thing in self.things if thing.held]

    def target(self, action: Action) -> SceneObject | None:
        """The object of an action; without a number, the instance with most visible pixels."""
        if not (name := self.about(action)):
            return None
        if action == self.answer and self.target_name is not None:
            name = self.target_name
        exact = next((t for t in self.things if t.name == name), None)
        if exact is not None:
            return exact
        return max(self.alike(name), key=lambda t: t.pixels, default=None)

    def about(self, action: Action) -> str:
        """The name of its object; of an answer like "go north", of what the plan handles next."""
        steps = self.plan if action == self.answer else (action,)
        return next((step.arguments[-1] for step in steps if step.arguments), "")

    def alike(self, name: str) -> Sequence[SceneObject]:
        """Everything that a name would fit if it had no number."""
        kind = kind_of(name)
        return [t for t in self.things if kind_of(t.name) == kind]

    def subject(self, action: Action) -> SceneObject | None:
        """What is moved: of two arguments the first, where that is a thing; or what is held."""
        name = action.arguments[0] if len(action.arguments) > 1 else ""
        found = [t for t in self.things if name in (t.name, kind_of(t.name))]
        found.sort(key=lambda t: (not t.held, -t.pixels))
        return found[0] if found else next(iter(self.held), None)


class Trials:
    """Tries actions in copies of an environment, each action once."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._known: dict[str, float | None] = {}
        self._best: frozenset[Action] | None = None
        self._asked = False

    def best(self) -> frozenset[Action] | None:
        """All best actions, where the environment knows them."""
        env = self._episode.env
        if not self._asked and isinstance(env, Expert):
            self._best, self._asked = env.best_actions(), True
        return self._best

    def is_wrong(self, action: Action, answer: Action) -> bool:
        """Whether `answer`, which the expert chose, is better than `action` without doubt."""
        if isinstance(self._episode.env, Forkable):
            left = self._left(action)
            return left is None or left > (self._left(answer) or FAILS)
        best = self.best()
        # Actions without a number may mean one of those with it.
        return best is not None and without_numbers(action) not in map(without_numbers, best)

    def _left(self, action: Action) -> float | None:
        """The action itself and the expert's plan after it, in a copy; `FAILS` if there is none,
        and None if the action can't be done.
        """
        if action.text not in self._known:
            self._known[action.text] = self._try(action)
        return self._known[action.text]

    def _try(self, action: Action) -> float | None:
        with self._episode.fork() as copy:
            now = copy.act(Decision(action))
            if now.reason is not None:
                return None
            if now.met == now.total:
                return 1
            assert isinstance(copy.env, Expert)
            plan = copy.env.plan()
            return 1 + len(plan) if plan else FAILS


def without_numbers(action: Action) -> tuple[str, ...]:
    """Verb and kinds of an action, whatever the instances."""
    return (action.verb, *map(kind_of, action.arguments))
