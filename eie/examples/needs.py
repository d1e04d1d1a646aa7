"""What an action takes, which a reason says between what is asked and what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inhabit.eie.checking.nouns import sources
from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.topology import kind_of
from inhabit.eie.examples.wording import be, phrase, pronoun
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, MakesThings, RecipePart, Template
from inhabit.envs.world.words import is_plural, number, with_article

_MOVING = (ActionKind.GO, ActionKind.SEARCH, ActionKind.LOOK)
STATION = 2
"""Arguments of an action that needs a station."""


def to_make(name: str, context: StepContext) -> str:
    """`name` with an article: "a" for a station, which is still to be made; else "the"."""
    squeezed = name.replace(" ", "_")
    station = any(squeezed in action.arguments[1:] for action in context.plan)
    return with_article(name) if station else f"the {name}"


def wants(wish: str, name: str) -> bool:
    """Whether the wish is for this thing; "get a glass bottle" is not for glass."""
    after = r"(?! (?!and|in|on|of|for|with|to|at|by)[a-z])"
    return re.search(rf"\b{re.escape(name)}(?:e?s)?\b{after}", wish) is not None


def needs(context: StepContext, template: Template, wish: str) -> Sequence[str]:
    """What has to come first, in several wordings."""
    answer = context.answer
    target = context.target(answer)
    kind = target.kind if target is not None else kind_of(context.about(answer)).replace("_", " ")
    is_, it = be(kind), "they are" if is_plural(kind) else "it is"
    following = _following(context, template)
    for_what = None if following is None else template.action_kind(following)
    match template.action_kind(answer):
        case ActionKind.GO | ActionKind.SEARCH:
            return _needs_place(context, template, kind, wish)
        case ActionKind.TAKE:
            return (
                f"for that, you need the {kind} in your hand",
                f"the {kind} must be picked up for that",
                f"without the {kind} in your hand, you can't do that",
            )
        case ActionKind.OPEN if for_what is ActionKind.PUT:
            return (
                f"nothing gets into the {kind} while {it} closed",
                f"the {kind} must be open before anything can go inside",
            )
        case ActionKind.OPEN if for_what is ActionKind.TAKE:
            return (
                f"nothing gets out of the {kind} while {it} closed",
                f"the {kind} must be open before you can take anything out",
            )
        case ActionKind.OPEN | ActionKind.CLOSE if wish == re.sub(r"_\d+", "", answer.text):
            state = "closed" if template.action_kind(answer) is ActionKind.OPEN else "open"
            return (f"{it} still {state}", f"so far, {it} {state}")
        case ActionKind.OPEN | ActionKind.CLOSE | ActionKind.SWITCH_ON | ActionKind.SWITCH_OFF as k:
            state = {"open": "open", "close": "closed", "switch on": "on", "switch off": "off"}[k]
            return (
                f"for that, the {kind} must be {state}",
                f"that takes {with_article(kind)} that is {state}",
            )
        case ActionKind.PUT:
            return _needs_put(context, template, kind, wish)
        case ActionKind.CUT:
            return (f"for that, the {kind} {is_} needed in slices",)
        case ActionKind.MAKE:
            return _needs_made(context, template, wish)
        case ActionKind.DROP:
            return (f"for that, the {kind} has to stand within reach",)
        case ActionKind.GATHER:
            if wants(wish, kind):
                return (f"the {kind} there {'give' if is_plural(kind) else 'gives'} just that",)
            return _needs_gathered(context, template, kind, wish)
    return ("this is what comes first",)


def _needs_made(context: StepContext, template: Template, wish: str) -> Sequence[str]:
    """What it is made of, and what else it is for."""
    item = context.answer.arguments[0]
    name = item.replace("_", " ")
    has, are = ("have", "are") if is_plural(name) else ("has", "is")
    stuff = _listed(carried_for(context.answer, context, template))
    if wants(wish, name):
        if stuff:
            carried = f"{stuff}, which you carry"
            return (f"that takes {carried}", f"for that, you need {carried}")
        return ("all that it takes is at hand", "everything that it takes is there")
    made = to_make(name, context)
    each = re.sub("(^|(?<= and ))(an? |some |)", "the ", stuff)
    of = f" from {each} that you carry" if stuff else ""
    use = next((a for a in context.plan[1:] if item in a.arguments[1:]), None)
    further = "" if use is None else use.arguments[0].replace("_", " ")
    if further and not wants(wish, further):
        further, it = to_make(further, context), pronoun(further)
        return (f"that takes {further}, and making {it} takes {made}{of and f', made{of}'}",)
    can = of and f", and you can make {pronoun(made)}{of}"
    return (f"for that, {made} {has} to be made first{of}", f"{made} {are} needed for that{can}")


def _needs_gathered(
    context: StepContext, template: Template, kind: str, wish: str
) -> Sequence[str]:
    """What is made of what is gathered."""
    gives = f"the {kind} {'give' if is_plural(kind) else 'gives'}"
    steps = [a for a in context.plan[1:] if template.action_kind(a) is ActionKind.MAKE]
    stations = {step.arguments[-1] for step in steps if len(step.arguments) >= STATION}
    made = [s.arguments[0].replace("_", " ") for s in steps if s.arguments[0] in stations]
    made = [name for name in made if not wants(wish, name)]
    if made and kind in sources(made[0], template.lexicon):
        step = next(one for one in steps if one.arguments[0] == made[0].replace(" ", "_"))
        parts = _ingredients(step, context, template)
        first = f"{with_article(made[0])}, for which {gives} what is missing"
        if (lack := next((one for one in parts if one.carried < one.needed), None)) is not None:
            has = number(lack.carried) if lack.carried else "none"
            first = f"{with_article(made[0])}, which is made of {lack.words}; you carry {has}, "
            first += f"and {gives} what is missing"
        return (
            (f"that takes {with_article(made[-1])}, and making it takes {first}",)
            if made[1:]
            else (f"that takes {first}",)
        )
    if len(steps) == 1 and len(steps[0].arguments) < STATION:
        kinds = [one.kind for one in _ingredients(steps[0], context, template)]
        return (
            f"that can be made by hand from {f'the {kind}' if kind in kinds else f'what {gives}'}",
        )
    return (f"you need what {gives} first",)


def _ingredients(action: Action, context: StepContext, template: Template) -> Sequence[RecipePart]:
    if not isinstance(template, MakesThings):
        return ()
    return template.ingredients(action, context.plan.count(action), context.things)


def carried_for(action: Action, context: StepContext, template: Template) -> Sequence[RecipePart]:
    """What an action makes something of, if all of it is carried."""
    found = _ingredients(action, context, template)
    return found if all(one.carried >= one.needed for one in found) else ()


def _listed(ingredients: Sequence[RecipePart]) -> str:
    return " and ".join(one.words for one in ingredients)


def _needs_place(context: StepContext, template: Template, kind: str, wish: str) -> Sequence[str]:
    there = _following(context, template)
    does = None if there is None else template.action_kind(there)
    if there is not None and does is ActionKind.MAKE:
        made = there.arguments[0].replace("_", " ")
        if not wants(wish, made):
            return (
                f"for that, {to_make(made, context)} has to be made first, at the {kind}",
                f"that takes {to_make(made, context)}, which is made at the {kind}",
            )
        # Any station will do: another could be made.
        station = with_article(kind)
        if stuff := _listed(carried_for(there, context, template)):
            return (f"that takes {stuff}, which you carry, and {station} within reach",)
        return (f"that can be done at {station}, not from here",)
    reach = f"for that, you first have to reach the {kind}"
    if does is ActionKind.TAKE:
        return (reach, f"for that, you have to get to the {kind} first")
    return (
        f"for that, you have to be at the {kind}",
        f"that can be done at the {kind}, not from here",
        reach,
    )


def _needs_put(context: StepContext, template: Template, kind: str, wish: str) -> Sequence[str]:
    subject = context.subject(context.answer)
    what = subject.kind if subject is not None else "thing in your hand"
    if phrase(context.answer, context, template) == wish:
        return (
            "that can be done from here",
            "nothing else has to come first",
            "you are close enough to do that",
        )
    if what in wish:
        where = "in" if " in the " in context.answer.text else "on"
        return (f"for that, the {what} has to be {where} the {kind}",)
    return ("for that, you need a free hand", f"the {what} in your hand is in the way of that")


def _following(context: StepContext, template: Template) -> Action | None:
    """The plan's next step, apart from moving."""
    return next((a for a in context.plan[1:] if template.action_kind(a) not in _MOVING), None)
