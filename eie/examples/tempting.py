"""Why another option is wrong now, where the state tells."""

from __future__ import annotations

import random
from collections.abc import Sequence

from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.wording import be, phrase, pronoun
from inhabit.envs.core import Action, SceneObject
from inhabit.envs.template import ActionKind, Template

_WAIT = (
    "Now is not the moment to {phrase}.",
    "To {phrase} would not help now.",
    "It does not help to {phrase} now.",
)


def against(
    context: StepContext, options: Sequence[Action], template: Template, rng: random.Random
) -> str:
    """A sentence on one of the wrong options: why it fails, or else that it does not help.

    Args:
        context: of the step.
        options: all options.
        template: maps actions to their kinds.
        rng: the source of randomness.
    """
    wrong = [option for option in options if option.text != context.answer.text]
    found = [said for option in wrong if (said := _why(context, option, template))]
    if found:
        return rng.choice(found)
    wrong = [option for option in wrong if _is_there(context, option, template)]
    if not wrong:
        return ""
    option = rng.choice(wrong)
    said = phrase(option, template.action_kind(option), context, it="")
    return rng.choice(_WAIT).format(phrase=said)


def _why(context: StepContext, option: Action, template: Template) -> str:
    """What the image shows that keeps an option from working; empty if nothing does."""
    target = context.target(option)
    if target is None and context.task is not None:
        return _absent(option, template)
    if target is None or not (target.pixels or target.held):
        return ""
    action_kind, kind = template.action_kind(option), target.kind
    held = next(iter(context.held), None)
    match action_kind:
        case ActionKind.TAKE if target.held:
            return f"The {kind} {be(kind)} in your hand already, so there is no need for that."
        case ActionKind.TAKE if held is not None:
            return f"With the {held.kind} in your hand, you can't pick up the {kind} now."
        case ActionKind.PUT if held is None:
            where = f"{_in(option)} the {kind}"
            return f"Your hands are empty, so there is nothing that you could put {where}."
        case ActionKind.PUT if _is(target, "open", False) and _in(option) == "in":
            return f"Nothing can be put in the {kind} while it is closed."
        case ActionKind.OPEN if _is(target, "open", True):
            return f"The {kind} {be(kind)} open already."
        case ActionKind.CLOSE if _is(target, "open", False):
            return f"The {kind} {be(kind)} closed already."
        case ActionKind.SWITCH_ON if _is(target, "on", True):
            return f"The {kind} {be(kind)} on already."
        case ActionKind.SWITCH_OFF if _is(target, "on", False):
            return f"The {kind} {be(kind)} off already."
    return ""


def _absent(option: Action, template: Template) -> str:
    """That an option is about what is not in the scene."""
    name = option.arguments[-1].replace("_", " ") if option.arguments else ""
    none = f"There {be(name)} no {name}"
    match template.action_kind(option):
        case ActionKind.GATHER:
            return f"{none} in view, so you can't {option.verb} {pronoun(name)}."
        case ActionKind.SEARCH if name:
            return f"{none} in view to go to."
        case ActionKind.MAKE if len(option.arguments) > 1:
            return f"{none} in view, so you can't {option.verb} anything yet."
    return ""


def _is_there(context: StepContext, option: Action, template: Template) -> bool:
    """Whether the object of an option is in the scene, or can be made of what is."""
    if context.task is None or not option.arguments:
        return True
    kinds, name = {thing.kind for thing in context.things}, option.arguments[0].replace("_", " ")
    return name in kinds or template.lexicon.products.get(name) in kinds


def _in(option: Action) -> str:
    """The preposition of an option to put something."""
    return "in" if " in the " in option.text else "on"


def _is(thing: SceneObject, state: str, holds: bool) -> bool:
    return thing.states.get(state) is holds
