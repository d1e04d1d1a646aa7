"""Why another option is wrong now, where the state tells."""

from __future__ import annotations

import random
from collections.abc import Sequence

from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.wording import be, phrase, pronoun
from inhabit.envs.core import Action, SceneObject
from inhabit.envs.template import ActionKind, Template
from inhabit.envs.world.words import is_plural

_WAIT = (
    "Now is not the moment to {phrase}.",
    "To {phrase} would not help now.",
    "It does not help to {phrase} now.",
    "There is no reason to {phrase} now.",
    "To {phrase} gets you no further at this point.",
    "Nothing is gained if you {phrase} now.",
    "To {phrase} would be a detour.",
)
_HELD = (
    "The {kind} {is_} in your hand already, so there is no need for that.",
    "There is no point in picking up the {kind}: you are holding {it}.",
    "You have picked up the {kind} already.",
    "The {kind} {is_} in your hand, so taking {it} again is impossible.",
)
_FULL = (
    "With the {held} in your hand, you can't pick up the {kind} now.",
    "You have no hand free for the {kind}.",
    "Your hand is full, so the {kind} must wait.",
    "Only one thing can be carried at a time, so you can't take the {kind} as well.",
)
_NOTHING = (
    "Your hands are empty, so there is nothing that you could put {where}.",
    "You carry nothing that could be put {where}.",
    "Without anything in your hand, it is useless to try to put something {where}.",
)
_SHUT = (
    "Nothing can be put in the {kind} while it is closed.",
    "The {kind} must be opened before anything fits inside.",
    "Because the {kind} is closed, nothing gets into it.",
)
_SO = (
    "The {kind} {is_} {state} already.",
    "There is no need to {do} the {kind}: {it} {is_} {state}.",
    "It would be pointless to {do} the {kind}, which {is_} {state} already.",
    "The {kind} {is_} {state}, so this changes nothing.",
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
        return rng.choice(rng.choice(found))
    wrong = [option for option in wrong if _is_there(context, option, template)]
    if not wrong:
        return ""
    option = rng.choice(wrong)
    said = phrase(option, template.action_kind(option), context, it="")
    return rng.choice(_WAIT).format(phrase=said)


def _why(context: StepContext, option: Action, template: Template) -> Sequence[str]:
    """What the image shows that keeps an option from working, in several wordings.

    Empty if nothing does.
    """
    target = context.target(option)
    if target is None and context.task is not None:
        return _absent(option, template)
    if target is None or not (target.pixels or target.held):
        return ()
    action_kind, kind = template.action_kind(option), target.kind
    held = next(iter(context.held), None)
    terms = {"kind": kind, "is_": be(kind), "it": "they" if is_plural(kind) else "it"}

    def said(forms: Sequence[str], **more: str) -> Sequence[str]:
        return [form.format_map({**terms, **more}) for form in forms]

    match action_kind:
        case ActionKind.TAKE if target.held:
            return said(_HELD, it=pronoun(kind))
        case ActionKind.TAKE if held is not None:
            return said(_FULL, held=held.kind)
        case ActionKind.PUT if held is None:
            return said(_NOTHING, where=f"{_in(option)} the {kind}")
        case ActionKind.PUT if _is(target, "open", False) and _in(option) == "in":
            return said(_SHUT)
    for action, do, state, word, holds in _STATES:
        if action_kind is action and _is(target, state, holds):
            return said(_SO, do=do, state=word)
    return ()


_STATES = (
    (ActionKind.OPEN, "open", "open", "open", True),
    (ActionKind.CLOSE, "close", "open", "closed", False),
    (ActionKind.SWITCH_ON, "turn on", "on", "on", True),
    (ActionKind.SWITCH_OFF, "turn off", "on", "off", False),
)
"""Kind of action, its verb, the state that it is about, the word for the state, and the value."""


def _absent(option: Action, template: Template) -> Sequence[str]:
    """That an option is about what is not in the scene."""
    name = option.arguments[-1].replace("_", " ") if option.arguments else ""
    none = f"There {be(name)} no {name}"
    match template.action_kind(option):
        case ActionKind.GATHER:
            return (f"{none} in view, so you can't {option.verb} {pronoun(name)}.",)
        case ActionKind.SEARCH if name:
            return (f"{none} in view to go to.",)
        case ActionKind.MAKE if len(option.arguments) > 1:
            return (f"{none} in view, so you can't {option.verb} anything yet.",)
    return ()


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
