"""A whole environment from a few rows, for a world whose states can be searched.

The author writes what a state is, the verbs, what an action does, what is wanted and how the world
looks on a grid of cells. Vocabulary, parser, candidates, images, expert, forks, tasks and the side
of EIE follow.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray
from PIL import ImageColor
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import to_jsonable_python

from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneError,
    SceneObject,
    Task,
    TaskError,
)
from inhabit.envs.plain_data import state_digest, validated_scene
from inhabit.envs.registry import Registration
from inhabit.envs.template import ActionKind, Event, Lexicon
from inhabit.envs.world.goals import shortest
from inhabit.envs.world.rows import Choices, among, kind_of, listed

_ON_THE_WAY = (ActionKind.GO, ActionKind.LOOK, ActionKind.SEARCH)
"""Kinds of actions that are no event of a task."""
_DRAWS = 1000
"""Scenes that are drawn for a task at most."""
_KNOWN = 64
"""Scenes whose things are the kinds that a lexicon knows."""


class SmallSettings(BaseModel):
    """Settings of every small world."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    pixels: int = Field(default=16, ge=4, le=64)
    """Side of a cell, in pixels."""


@dataclasses.dataclass(frozen=True, eq=False)
class SmallWorld:
    """The rows. A state is any frozen dataclass of plain values, and holds its scene."""

    name: str
    summary: str
    scene: type[BaseModel]
    begin: Callable[[Any], Any]
    """Scene -> the state at its start."""
    verbs: Choices
    act: Callable[[Any, Action], tuple[Any, Reason | None, str]]
    """State, action -> the state after it; why it had no effect, or None; what happened."""
    goal: Callable[[Any], Sequence[bool]]
    """State -> which conditions hold; one at least."""
    cells: Callable[[Any], NDArray[np.str_]]
    """State -> the names of what is seen from above, (rows, columns)."""
    colours: Mapping[str, str]
    """Name in `cells` -> its colour, as in "#1e5ac8"."""
    things: Callable[[Any], Sequence[SceneObject]]
    """State -> every object; their pixels are counted in the image."""
    draw: Callable[[random.Random], tuple[str, str, BaseModel]]
    """-> a kind of task, the goal in words, and a scene."""
    text: Callable[[Any], str] = lambda state: ""
    """State -> what the image does not show."""
    states: Mapping[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """State of objects -> adjectives for "holds" and "does not hold"."""
    max_steps: int = 40

    def vocabulary(self) -> Sequence[Action]:
        """Every action."""
        return listed(self.verbs)

    def successors(self, state: Any) -> Iterator[tuple[Action, Any]]:
        """Every action that succeeds in a state, with the state after it."""
        for action in self.vocabulary():
            after, reason, _ = self.act(state, action)
            if reason is None:
                yield action, after

    def solve(self, state: Any) -> tuple[Sequence[Action], frozenset[Action]] | None:
        """A shortest plan, and what shortest plans start with; None if there is none."""
        return _solved(state, self)

    def task(self, name: str, rng: random.Random) -> Task:
        """A task that is neither solved nor unsolvable at its start.

        Raises:
            SceneError: none of the scenes drawn makes one.
        """
        for _ in range(_DRAWS):
            kind, goal, scene = self.draw(rng)
            found = self.solve(self.begin(scene))
            if found is not None and found[0]:
                return Task(
                    id=name,
                    env=self.name,
                    kind=kind,
                    goal=goal,
                    scene=scene.model_dump(mode="json"),
                    max_steps=max(self.max_steps, 3 * len(found[0])),
                    reference_cost=len(found[0]),
                )
        raise SceneError(
            f"{self.name}: none of {_DRAWS} scenes that draw() gave is unsolved and can be solved."
        )

    def registration(self) -> Registration:
        """The environment, for an entry point."""
        return Registration(
            name=self.name,
            summary=self.summary,
            backends=("grid",),
            settings=SmallSettings,
            make=lambda backend, settings: SmallEnv(self, settings),
            sample=self.sample,
            read=self._read,
            template=lambda settings: SmallTemplate(self),
        )

    def sample(self, n: int, seed: int, settings: Any = None) -> Iterator[Task]:
        """`n` tasks; the first k tasks do not depend on `n`."""
        for i in range(n):
            yield self.task(f"{self.name}-{seed}-{i}", random.Random(f"{self.name} {seed} {i}"))

    def _read(self, source: str, settings: Any) -> NoReturn:
        raise TaskError(
            f"{self.name} has no tasks called {source!r}: use --n and --seed, or a .jsonl file."
        )


@lru_cache(maxsize=4096)
def _solved(state: Any, world: SmallWorld) -> tuple[Sequence[Action], frozenset[Action]] | None:
    return shortest(state, world.successors, lambda here: all(world.goal(here)))


class SmallEnv(Env):
    """A small world as an environment. The agent sees all of it."""

    Scene: ClassVar[type[BaseModel]] = BaseModel
    determinism = Determinism.FRAMES

    def __init__(self, world: SmallWorld, settings: SmallSettings | None = None) -> None:
        self.Scene = world.scene  # type: ignore[misc]
        self._world, self._settings = world, settings or SmallSettings()
        self._state: Any = None

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`. The seed has no effect."""
        self._state = self._world.begin(validated_scene(self._world.scene, task))

    def observe(self) -> Observation:
        """The grid from above."""
        return Observation(self._world.text(self._now), self._picture())

    def vocabulary(self) -> Sequence[Action]:
        """Every action."""
        return self._world.vocabulary()

    def actions(self) -> Sequence[Action]:
        """Every action, whatever the state."""
        return self._world.vocabulary()

    def parse(self, text: str) -> Action | None:
        """Parse an action, as `among` understands it."""
        return among(self._world.vocabulary(), text)

    def act(self, action: Action) -> Outcome:
        """Execute one action."""
        reason: Reason | None = Reason.UNKNOWN_ACTION
        feedback = "Nobody here knows how to do that."
        # Actions are equal by their text; an agent may have made one of its own.
        known = (one for one in self._world.vocabulary() if one == action)
        if any((one.verb, one.arguments) == (action.verb, action.arguments) for one in known):
            self._state, reason, feedback = self._world.act(self._now, action)
        return self.outcome(reason, feedback)

    def progress(self) -> tuple[int, int]:
        """The number of goal conditions that hold, and their total."""
        held = self._world.goal(self._now)
        return sum(held), len(held)

    def close(self) -> None:
        """Nothing to release."""

    def plan(self) -> Sequence[Action]:
        """A shortest plan."""
        found = self._world.solve(self._now)
        return found[0] if found is not None else []

    def best_actions(self) -> frozenset[Action] | None:
        """Every action that starts a shortest plan."""
        found = self._world.solve(self._now)
        return None if found is None else found[1]

    def fork(self) -> SmallEnv:
        """An independent copy."""
        return copy.copy(self)

    def state(self) -> Mapping[str, JsonValue]:
        """The state's fields."""
        plain: dict[str, JsonValue] = to_jsonable_python(dataclasses.asdict(self._now))
        return plain

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the state's SHA-256."""
        return state_digest(self.state())

    def admissible(self) -> Sequence[Action]:
        """The actions that would succeed now."""
        return [action for action, _ in self._world.successors(self._now)]

    def things(self) -> Sequence[SceneObject]:
        """Every object, with its pixels in the image."""
        area, cells = self._settings.pixels**2, self._world.cells(self._now)
        return [
            dataclasses.replace(thing, pixels=int((cells == thing.name).sum()) * area)
            for thing in self._world.things(self._now)
        ]

    def _picture(self) -> NDArray[np.uint8]:
        cells, side = self._world.cells(self._now), self._settings.pixels
        image = np.zeros((*cells.shape, 3), np.uint8)
        for name in np.unique(cells):
            image[cells == name] = ImageColor.getrgb(self._world.colours[str(name)])
        return image.repeat(side, axis=0).repeat(side, axis=1)

    @property
    def _now(self) -> Any:
        if self._state is None:
            raise SceneError("No episode is running. Call reset first.")
        return self._state


class SmallTemplate:
    """Samples and analyses the tasks of a small world for EIE."""

    changes: Sequence[str] = ("another scene",)
    harder: Set[str] = frozenset()

    def __init__(self, world: SmallWorld) -> None:
        self._world = world
        self._verbs = {verb.name: verb for verb in world.verbs}
        scenes = (world.draw(random.Random(seed))[2] for seed in range(_KNOWN))
        things = chain.from_iterable(world.things(world.begin(scene)) for scene in scenes)
        kinds = frozenset(thing.kind for thing in things)
        self.lexicon = Lexicon(kinds=kinds, states=world.states)

    def schema(self) -> Mapping[str, JsonValue]:
        """JSON schema of the scene."""
        return self._world.scene.model_json_schema()

    def prose(self) -> str:
        """What the world is, for a writer."""
        said = ", ".join(action.text for action in self._world.vocabulary())
        return f"{self._world.summary}. Actions: {said}."

    def seed(self, rng: random.Random, name: str) -> Task:
        """Sample a new task."""
        return self._world.task(name, rng)

    def evolve(self, task: Task, change: str, rng: random.Random, name: str) -> Task | None:
        """The same kind of task in another scene."""
        made = self._world.task(name, rng)
        return made if made.kind == task.kind and made.scene != task.scene else None

    def kind(self, scene: Mapping[str, JsonValue]) -> str:
        """Unknown: a scene does not say."""
        return ""

    def events(self, task: Task) -> Sequence[Event]:
        """What a shortest plan does besides going and looking, one after the other."""
        scene = self._world.scene.model_validate(dict(task.scene))
        plan, _ = self._world.solve(self._world.begin(scene)) or ((), frozenset())
        found: list[Event] = []
        for action in plan:
            if (kind := self.action_kind(action)) not in _ON_THE_WAY:
                needs = (found[-1].name,) if found else ()
                thing = action.arguments[-1] if action.arguments else action.text
                before = sum(event.wish == action.text for event in found)
                name = f"{action.text} (again: {before})" if before else action.text
                found.append(Event(name, action.text, "", kind, thing, needs))
        return found

    def room(self, task: Task) -> str:
        """Every scene is a place of its own."""
        return json.dumps(dict(task.scene), sort_keys=True)

    def action_kind(self, action: Action) -> ActionKind:
        """The kind of an action, by its verb."""
        return kind_of(self._verbs, action)
