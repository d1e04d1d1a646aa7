"""States of a scene that the pictures of a square show: on the ways to parts of its goals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from inhabit.agents.core import Decision
from inhabit.eie.examples.context import StepContext, TakenStep
from inhabit.eie.examples.episode_steps import plainly
from inhabit.envs.core import Action, Expert, Factual, Observation, Redirectable, SceneObject, Task
from inhabit.envs.template import ActionKind, CrossesGoals, Template
from inhabit.episodes.episode import Episode

_MAKES_STATES = (
    ActionKind.GO,
    ActionKind.TAKE,
    ActionKind.PUT,
    ActionKind.OPEN,
    ActionKind.SEARCH,
    ActionKind.LOOK,
)
"""Kinds of actions on the way to a state: what they did can be seen."""
_LONGEST = 14
"""Maximum number of actions on the way to one part's goal."""


@dataclass(eq=False)
class SceneState:
    """A state of the scene, and how it came about."""

    episode: Episode
    """A copy of the episode in this state; whatever its goal is."""
    named: Sequence[SceneObject]
    """The things of the scene, as they were at the start: they keep their names."""
    done: tuple[TakenStep, ...] = ()
    before: SceneState | None = None
    """The state in which the last action was done."""
    plain: dict[Action, Action] = field(default_factory=dict)
    """Actions without numbers where there is one of a kind; shared by all states of a scene."""
    plans: dict[str, tuple[Action, ...]] = field(default_factory=dict)
    """The expert's plans that are known, by goal."""

    @cached_property
    def things(self) -> tuple[SceneObject, ...]:
        """The things as they are; how many pixels show each is slow to tell."""
        assert isinstance(self.episode.env, Factual)
        return tuple(self.episode.env.things())

    def plan(self, task: Task) -> tuple[Action, ...]:
        """The expert's plan for a task's goal, which the episode then has; without numbers where
        there is one of a kind.
        """
        goal = repr(task.scene)
        if goal not in self.plans:
            env = self.episode.env
            assert isinstance(env, Redirectable)
            assert isinstance(env, Expert)
            env.pursue(task)
            self.plans[goal] = tuple(map(self.plainly, env.plan()))
        return self.plans[goal]

    def plainly(self, action: Action) -> Action:
        """An action without numbers where there is one of a kind."""
        if action not in self.plain:
            self.plain[action] = plainly(action, self.named, self.episode.env)
        return self.plain[action]

    def context(self, plan: Sequence[Action]) -> StepContext:
        """The step at which the plan is to be begun; without an image."""
        return StepContext(Observation(""), self.things, self.done, tuple(plan))

    def past(self) -> list[TakenStep]:
        """What was done, each step with the image from before it."""
        if self.before is None:
            return []
        seen = self.before.episode.now.observation
        return [*self.before.past(), replace(self.done[-1], observation=seen)]


class States:
    """Finds states of one scene. Those that two ways have in common are found once."""

    def __init__(self, start: Episode, template: Template) -> None:
        """Begin in `start`, which is left as it is, with a look at all that there is.

        Nothing happens by itself in these states: what was done leads to the same state again.
        """
        self._template = template
        self._known: dict[tuple[str, ...], SceneState | None] = {}
        self._copies = [start.fork()]
        env = self._copies[0].env
        assert isinstance(template, CrossesGoals)
        assert isinstance(env, Redirectable)
        env.pursue(template.undisturbed(start.task))
        assert isinstance(start.env, Factual)
        self.start = SceneState(self._copies[0], tuple(start.env.things()))
        for action in start.env.vocabulary():
            if template.action_kind(action) is ActionKind.SEARCH and not action.arguments:
                self.start = self.after(self.start, action) or self.start

    def close(self) -> None:
        """Release all copies."""
        for copy in self._copies:
            copy.close()

    def towards(self, state: SceneState, part: Task) -> Iterator[tuple[ActionKind, SceneState]]:
        """The states on the expert's way to a part's goal, with the kind of action before each.

        The way ends where something is put down, and behind a door that is closed after it if that
        is all that is left to do; or where an action would leave no trace to see.
        """
        kind = ActionKind.OTHER
        for _ in range(_LONGEST):
            plan = state.plan(part)
            is_put = kind is ActionKind.PUT
            kind = self._template.action_kind(plan[0]) if plan else ActionKind.OTHER
            last = is_put and kind is ActionKind.CLOSE and len(plan) == 1
            if not (last or (kind in _MAKES_STATES and not is_put)):
                return
            following = self.after(state, plan[0])
            if following is None:
                return
            state = following
            yield kind, state

    def after(self, state: SceneState, action: Action) -> SceneState | None:
        """The state after an action; None if it fails."""
        key = (*(step.action.text for step in state.done), action.text)
        if key not in self._known:
            found = self._tried(state, action)
            self._known[key] = None if found.done[-1].failed else found
        return self._known[key]

    def failed(self, state: SceneState, action: Action) -> SceneState | None:
        """The state after an action that fails and changes nothing; None if it does more."""
        found = self._tried(state, action)
        return found if found.done[-1].failed and found.things == state.things else None

    def _tried(self, state: SceneState, action: Action) -> SceneState:
        """What comes of an action, in a copy."""
        copy = state.episode.fork()
        self._copies.append(copy)
        now = copy.act(Decision(action))
        step = TakenStep(action, now.feedback, now.reason, Observation(""))
        return SceneState(copy, state.named, (*state.done, step), state, state.plain)
