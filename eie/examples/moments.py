"""The moments of an episode that can be asked about: the expert's own, and detours from them.

A detour is one action that the expert would not take, such as putting the mug back down. It gives
moments with the same view that differ in what the image shows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from inhabit.agents.core import Decision
from inhabit.eie.examples.context import StepContext, TakenStep, Trials, without_numbers
from inhabit.eie.examples.episode_steps import context_of, plainly, turns_to_target, with_target
from inhabit.envs.core import Action, Factual, Forkable, Observation
from inhabit.envs.template import ActionKind, Template
from inhabit.episodes.episode import Episode, Moment

_SAME_FAILURE = 2
"""Steps of the expert that may fail in a row."""
_DETOURS = 14
"""Detours that are tried in one episode."""
_DETOURS_OF_ONE = 2
"""Detours that are tried from one moment."""
_MOVING = (ActionKind.GO, ActionKind.LOOK, ActionKind.SEARCH)
"""Kinds of actions that change the view."""
_DETOUR_KINDS = (
    ActionKind.PUT,
    ActionKind.TAKE,
    ActionKind.OPEN,
    ActionKind.CLOSE,
    ActionKind.SWITCH_ON,
    ActionKind.SWITCH_OFF,
)


@dataclass(slots=True, eq=False)
class AskedMoment:
    """A state of the environment in which the expert's next action can be asked for."""

    episode: Episode
    """A copy in this state; the episode itself, later on, where it can't be copied."""
    context: StepContext
    """What is known in this state; its observation lacks the image until `observe`."""
    trials: Trials
    view: int
    """Number of the view, equal for moments seen from the same place in the same direction."""
    on_the_way: int
    """Number of past steps that are the expert's own."""
    after: Episode | None = None
    """A copy after the answer, where that was tried already."""
    meant: bool = True
    """Whether it is known which object the answer means."""
    sound: bool | None = None
    """Whether the moment may be asked about; None if that was not checked yet."""
    state_shown: bool | None = None
    """Whether the image shows the state that the answer would change; None if not checked."""

    @property
    def answer(self) -> Action:
        """The expert's next action."""
        return self.context.answer

    @property
    def said(self) -> tuple[str, ...]:
        """The answer without the numbers of objects."""
        return without_numbers(self.context.answer)

    def works(self, template: Template) -> bool:
        """Whether the answer succeeds; it is then known which object it means."""
        if not self.meant:
            with nullcontext(self.after) if self.after else self.episode.fork() as trial:
                if trial is not self.after and trial.act(Decision(self.answer)).reason is not None:
                    return False
                alike = self.context.alike(self.context.about(self.answer))
                if len(alike) == 1:  # Else it takes a look at what changed.
                    self.context = replace(self.context, target_name=alike[0].name)
                else:
                    assert isinstance(trial.env, Factual)
                    action_kind, things = template.action_kind(self.answer), trial.env.things()
                    self.context = with_target(self.context, action_kind, things)
            self.meant = True
        return True

    def outcome(self) -> Observation | None:
        """What is seen after the answer; None where the environment can't be copied."""
        if self.after is not None:
            return self.after.now.observation
        if not isinstance(self.episode.env, Forkable):
            return None
        with self.episode.fork() as copy:
            return copy.act(Decision(self.answer)).observation

    def observe(self) -> Observation:
        """The observation with its image, which is drawn on first use."""
        if self.context.observation.rgb is None:
            self.context = replace(self.context, observation=self.episode.now.observation)
        return self.context.observation


class Solution:
    """Plays the expert's solution of one task and collects its moments."""

    def __init__(self, episode: Episode, template: Template, rng: random.Random) -> None:
        """Play `episode`, which has been started."""
        self._episode = episode
        self._template = template
        self._rng = rng
        self._vocabulary = tuple(episode.env.vocabulary())
        self.failed: list[tuple[Action, str]] = []
        """Steps of the expert that failed, with the feedback."""
        self._copies: list[Episode] = []
        self._before: list[Episode] = []
        """A copy from before each step, where the environment can be copied."""

    def close(self) -> None:
        """Release all copies."""
        for copy in self._copies:
            copy.close()

    def moments(self, plan: Sequence[Action]) -> list[AskedMoment]:
        """Every moment of the expert's plan from the start that has an answer, in order."""
        found: list[AskedMoment] = []
        done: list[TakenStep] = []
        failed = view = 0
        episode = self._episode
        context = context_of(episode.env, done, plan)
        while context is not None and failed < _SAME_FAILURE:
            for turn in turns_to_target(episode, context, self._template, self._vocabulary):
                self._kept()
                done.append(_taken(turn, episode.act(Decision(turn)), context))
                context = context_of(episode.env, done) or context
                view += 1
            moment = self._moment(context, view, len(done))
            now = episode.act(Decision(context.answer))
            failed = failed + 1 if now.reason is not None else 0
            done.append(_taken(context.answer, now, context))
            view += self._template.action_kind(context.answer) in _MOVING
            if failed:
                self.failed.append((context.answer, now.feedback))
            elif _is_answerable(context, self._template):
                assert isinstance(episode.env, Factual)
                action_kind = self._template.action_kind(context.answer)
                moment.context = with_target(moment.context, action_kind, episode.env.things())
                found.append(moment)
            context = None if now.ending else context_of(episode.env, done)
        return found

    def step(self, step: TakenStep, number: int) -> TakenStep:
        """A step of the expert's own, with the image from before it."""
        if step.observation.rgb is not None or number >= len(self._before):
            return step
        return replace(step, observation=self._before[number].now.observation)

    def detours(self, moments: Sequence[AskedMoment]) -> Iterator[AskedMoment]:
        """Moments one detour away from others, with an answer that is new to their view."""
        known = {(m.view, m.said) for m in moments}
        tried = 0
        for moment in self._rng.sample(moments, len(moments)):
            for action in self._detours_from(moment)[:_DETOURS_OF_ONE]:
                if tried == _DETOURS:
                    return
                tried += 1
                found = self.after(moment, action)
                if found is None or (found.view, found.said) in known:
                    continue
                known.add((found.view, found.said))
                yield found

    def after(
        self, moment: AskedMoment, action: Action, *, fails: bool = False
    ) -> AskedMoment | None:
        """The moment after an action in a copy, or None; with `fails` the action has to fail."""
        copy = self._copy(moment.episode)
        if copy is None:
            return None
        now = copy.act(Decision(action))
        if (now.reason is not None) is not fails or now.over:
            return None
        step = _taken(action, now, moment.context)
        context = context_of(copy.env, (*moment.context.done, step))
        if context is None or not _is_answerable(context, self._template):
            return None
        return AskedMoment(copy, context, Trials(copy), moment.view, moment.on_the_way, meant=False)

    def failed_at(self, moment: AskedMoment, action: Action) -> AskedMoment | None:
        """The moment after an action failed without any effect; None if it has one."""
        found = self.after(moment, action, fails=True)
        if found is None or found.said != moment.said:
            return None
        if found.context.things != moment.context.things:
            return None
        found.context = replace(found.context, target_name=moment.context.target_name)
        found.meant = True
        return found

    def _moment(self, context: StepContext, view: int, steps: int) -> AskedMoment:
        if (copy := self._kept()) is not None:
            return AskedMoment(copy, context, Trials(copy), view, steps)
        made = AskedMoment(self._episode, context, Trials(self._episode), view, steps)
        # Later it is another state.
        made.observe()
        made.trials.best()
        return made

    def _kept(self) -> Episode | None:
        """A copy from before the next step."""
        if (copy := self._copy(self._episode)) is not None:
            self._before.append(copy)
        return copy

    def _copy(self, episode: Episode) -> Episode | None:
        if not isinstance(episode.env, Forkable):
            return None
        copy = episode.fork()
        self._copies.append(copy)
        return copy

    def _detours_from(self, moment: AskedMoment) -> list[Action]:
        """Actions within reach that change what the image shows, related ones first."""
        context = moment.context
        plain = {without_numbers(step.action) for step in context.done} | {moment.said}
        target = context.target(context.answer)
        about = {thing.name for thing in context.held} | ({target.name} if target else set())
        found = [
            action
            for action in moment.episode.env.actions()
            if (_is_way(action, self._template) and action != moment.answer)
            or (
                self._template.action_kind(action) in _DETOUR_KINDS
                and action.arguments
                and without_numbers(action) not in plain
            )
        ]
        keys = {
            action: self._rng.random()
            - (
                bool(about & set(action.arguments))
                or self._template.action_kind(action) is ActionKind.PUT
            )
            for action in found
        }
        return sorted(found, key=lambda action: (keys[action], action.text))


def _taken(action: Action, now: Moment, before: StepContext) -> TakenStep:
    return TakenStep(action, now.feedback, now.reason, before.observation)


def _is_answerable(context: StepContext, template: Template) -> bool:
    """Whether the answer depends on what can be seen: not while anything has to be searched."""
    searching = any(template.action_kind(action) is ActionKind.SEARCH for action in context.plan)
    if searching or not context.about(context.answer):
        return False
    return bool(context.answer.arguments) or _is_way(context.answer, template)


def _is_way(action: Action, template: Template) -> bool:
    """Whether it goes in a direction, as "go north" does, and not to a thing."""
    return not action.arguments and template.action_kind(action) is ActionKind.GO


@dataclass(frozen=True, slots=True, eq=False)
class Transition:
    """Two moments, and the action between them."""

    before: AskedMoment
    after: AskedMoment
    shown: StepContext
    """What was known before the action, with the action as its answer."""

    @property
    def action(self) -> Action:
        """What was done, without numbers where there is one object of a kind."""
        return self.shown.answer

    @property
    def said(self) -> tuple[str, ...]:
        """The action without the numbers of objects."""
        return without_numbers(self.action)


def transitions(moments: Sequence[AskedMoment], template: Template) -> Iterator[Transition]:
    """The transitions between moments that are one successful action apart."""
    starts = {_past(moment): moment for moment in moments}
    for after in moments:
        *_, last = after.context.done or [None]
        before = starts.get(_past(after)[:-1]) if last is not None else None
        if last is None or last.failed or before is None or not last.action.arguments:
            continue
        action = plainly(last.action, before.context.things, before.episode.env)
        shown = replace(before.context, plan=(action, *before.context.plan), target_name=None)
        shown = with_target(shown, template.action_kind(action), after.context.things)
        yield Transition(before, after, shown)


def _past(moment: AskedMoment) -> tuple[str, ...]:
    return tuple(step.action.text for step in moment.context.done)
