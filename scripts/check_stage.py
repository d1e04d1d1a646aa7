"""Brings an environment to the moments of examples, and asks what actions are worth there."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence

from inhabit.eie.examples.example import Example
from inhabit.eie.sets.environment import environment_of
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.core import (
    Action,
    Env,
    Expert,
    Factual,
    Forkable,
    Observation,
    Outcome,
    Privileged,
    SceneObject,
    Task,
)
from inhabit.envs.template import ActionKind, SaysInWords


class Stage:
    """An environment that is brought to the moments of examples."""

    def __init__(self, opened: SetFolder, assignments: Sequence[str], *, trusted: bool) -> None:
        registration, backend, settings = environment_of(
            opened, assignments, trusted=trusted, usual=True
        )
        self.env: Env = registration.make(backend, settings)
        template = registration.template(settings) if registration.template else None
        called = template.lexicon.called if template else {}
        # Names of several words that mean one kind: a "toilet roll" is no toilet.
        named = {n: min(k) for n, k in called.items() if len(k) == 1 and " " in n}
        self.synonyms = {**named, **(template.lexicon.synonyms if template else {})}
        self.kinds = [*(template.lexicon.kinds if template else ()), *self.synonyms]
        self.in_words = template.in_words if isinstance(template, SaysInWords) else str
        self._template = template
        self.products = template.lexicon.products if template else {}
        self._start = ""
        self._done: list[str] = []
        self.seen: list[Observation] = []
        """Before each action, and now."""
        self.outcomes: list[Outcome] = []

    def bring(self, example: Example) -> None:
        """Build its scene and act in it up to its moment, from where that has come to already.

        Raises:
            SceneError: the scene can't be built.
            ValueError: an action means nothing.
        """
        lineage = example.lineage
        assert lineage is not None
        start = json.dumps([lineage.model_dump(mode="json")["task"], lineage.seed])
        if start != self._start or self._done != list(lineage.actions[: len(self._done)]):
            self._start, self._done = "", []
            self.env.reset(Task.model_validate(dict(lineage.task)), seed=lineage.seed)
            self._start, self.seen, self.outcomes = start, [self.env.observe()], []
        for text in lineage.actions[len(self._done) :]:
            self._done.append(text)
            self.outcomes.append(self.env.act(self.action(text)))
            self.seen.append(self.env.observe())

    def action(self, text: str) -> Action:
        """What `text` means here.

        Raises:
            ValueError: nothing.
        """
        found = self.env.parse(text)
        if found is None:
            raise ValueError(f"{text!r} is no action here.")
        return found

    def wishes(self, example: Example) -> set[str]:
        """What the goal of an example asks for, in parts, without spaces."""
        assert example.lineage is not None
        assert self._template is not None
        task = Task.model_validate(dict(example.lineage.task))
        wishes = (event.wish for event in self._template.events(task))
        return {re.sub(r"[\W_]+", "", self.in_words(wish)).lower() for wish in wishes}

    def reaches(self, action: Action) -> bool:
        """Whether an action that is offered can be done only to what is within reach."""
        assert self._template is not None
        moving = (ActionKind.GO, ActionKind.SEARCH, ActionKind.LOOK)
        return bool(action.arguments) and self._template.action_kind(action) not in moving

    def things(self) -> tuple[SceneObject, ...]:
        """All that is in the scene now."""
        assert isinstance(self.env, Factual)
        return tuple(self.env.things())


def actions_left(env: Env, action: Action) -> float:
    """Actions that an action and the expert after it need.

    Infinite where the action can't be done, or no way is left after it.
    """
    assert isinstance(env, Forkable)
    with env.fork() as twin:
        outcome = twin.act(action)
        if outcome.reason is not None:
            return math.inf
        if outcome.met == outcome.total:
            return 1
        assert isinstance(twin, Expert)
        left = len(twin.plan())
        return 1 + left if left else math.inf


def solves(env: Env, plan: Sequence[Action]) -> bool:
    """Whether a plan reaches the goal, every step of it working."""
    assert isinstance(env, Forkable)
    with env.fork() as twin:
        outcomes = [twin.act(action) for action in plan]
        met, total = twin.progress()
    return met == total and all(outcome.reason is None for outcome in outcomes)


def is_among(env: Env, action: Action, others: Iterable[Action]) -> bool:
    """Whether it is one of them: in the same words, or in words without numbers to the same end."""
    plain = _numberless(action)
    alike = [other for other in others if _numberless(other) == plain]
    return action in alike or any(_end(env, action) == _end(env, other) for other in alike)


def _numberless(action: Action) -> str:
    return re.sub(r"_\d+\b", "", action.text)


def _end(env: Env, action: Action) -> str:
    """The state that comes of an action."""
    assert isinstance(env, Forkable)
    with env.fork() as twin:
        twin.act(action)
        assert isinstance(twin, Privileged)
        return twin.digest()
