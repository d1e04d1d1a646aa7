"""Reasons where the image shows what stands around, or that nothing of use does."""

from __future__ import annotations

import random

from inhabit.eie.checking.circular import circle
from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.variety import last, merely_next, seen, with_purpose
from inhabit.eie.examples.wording import Explanation, be, phrase
from inhabit.envs.template import ActionKind, Template

_STATION = 2
"""Arguments of an action that needs a station."""


def needs_nothing(context: StepContext, template: Template) -> bool:
    """Whether the answer is about nothing in view, in a scene built as a twin: it makes something
    by hand, or puts down what is carried.
    """
    kind = template.action_kind(context.answer)
    by_hand = kind is ActionKind.MAKE and len(context.answer.arguments) < _STATION
    return context.task is not None and (by_hand or kind is ActionKind.DROP)


def explain_built(context: StepContext, template: Template, rng: random.Random) -> Explanation:
    """Why the expert's next action is right, in a scene built as a twin.

    Args:
        context: of the moment, with the expert's plan.
        template: maps actions to their kinds.
        rng: chooses the wording.
    """
    fact, concept = _fact(context, template)
    action_kind = template.action_kind(context.answer)
    now = phrase(context.answer, action_kind, context, it="")
    following = _following(context, template)
    if len(context.plan) == 1:
        advice = last(now, rng)
    elif following and not circle(f"{now} so that you can {following}"):
        advice = with_purpose(now, following, rng)
    else:
        advice = merely_next(now, rng)
    said = [seen([fact], rng), advice]
    return Explanation(" ".join(f"{s[:1].upper()}{s[1:]}." for s in said), (concept,))


def _fact(context: StepContext, template: Template) -> tuple[str, str]:
    """What the image shows that decides, and the key concept."""
    if needs_nothing(context, template):
        held = next(iter(context.held))
        if template.action_kind(context.answer) is ActionKind.DROP:
            return "there is nothing to work at within reach", held.kind
        stations = (a.arguments[-1] for a in context.plan if len(a.arguments) >= _STATION)
        needed = next((name for name in stations if not context.alike(name)), None)
        if needed is None:
            return "everything that this takes is there already", held.kind
        return f"there is no {needed.replace('_', ' ')} in view", held.kind
    target = context.target(context.answer)
    assert target is not None
    kind = target.kind
    match template.action_kind(context.answer):
        case ActionKind.MAKE:
            return f"the {kind} {be(kind)} within reach", kind
        case ActionKind.SEARCH:
            return f"the {kind} {be(kind)} in view, but out of reach", kind
        case _:
            return f"the {kind} {be(kind)} in view", kind


def _following(context: StepContext, template: Template) -> str:
    """The next step of the plan that is neither the same nor a way; empty if there is none."""
    for action in context.plan[1:]:
        action_kind = template.action_kind(action)
        if action != context.answer and action_kind is not ActionKind.SEARCH:
            return phrase(action, action_kind, context, it="")
    return ""
