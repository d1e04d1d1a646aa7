"""Transitions: one action, with an image before it and an image after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from inhabit.eie.examples.context import StepContext, without_numbers
from inhabit.eie.examples.episode_steps import plainly, with_target
from inhabit.eie.examples.moments import AskedMoment
from inhabit.envs.core import Action
from inhabit.envs.template import Template


@dataclass(frozen=True, slots=True, eq=False)
class Transition:
    """Two moments, and the action between them."""

    before: AskedMoment
    after: AskedMoment
    shown: StepContext
    """Before the action, with the action as its answer."""

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
