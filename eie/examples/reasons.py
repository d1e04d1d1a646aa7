"""Reasons in the order perception, cognition, action; each sentence is a claim that was checked.

"The mug is in your hand, and the closed fridge is within reach. The goal asks you to cool the
mug, and nothing gets into the fridge while it is closed. So open the fridge. You would go to the
microwave if the goal were to heat the mug."
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from inhabit.eie.checking.claims import contradictions
from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.needs import STATION, carried_for, needs, to_make, wants
from inhabit.eie.examples.topology import kind_of
from inhabit.eie.examples.wording import Explanation, be, join, phrase, sentence
from inhabit.envs.core import Action, Reason, SceneObject
from inhabit.envs.template import ActionKind, Lexicon, Template
from inhabit.envs.world.words import is_plural, plural

_SEEN = (
    "{facts}",
    "{facts}",
    "{facts}",
    "as the picture shows, {facts}",
    "in this picture, {facts}",
    "right now, {facts}",
    "at the moment, {facts}",
    "as you can see, {facts}",
    "the image shows that {facts}",
    "judging by the image, {facts}",
    "currently, {facts}",
    "notice that {facts}",
)
_AND = (", and ", "; ")
_EMPTY = ("your hands are empty", "your hands are free", "you are not holding anything")
_HOLDING = ("you are holding", "you are carrying", "you hold", "you carry")
_ASKS = (
    "the goal asks you to {wish}",
    "your task is to {wish}",
    "what is asked of you is to {wish}",
    "you have been asked to {wish}",
)
"""How a reason names the goal that the answer serves."""
_ASKS_PART = (
    "the goal asks you to {wish}",
    "part of your task is to {wish}",
    "one thing asked of you is to {wish}",
    "you have been asked to {wish}",
)
"""How a reason names a part of the goal, where there are several."""
_AND_SO = ("{asks}, and {need}", "{asks}; {need}", "{asks}: {need}")
_NOW = (
    "so {now}",
    "so {now}",
    "therefore, {now}",
    "that is why you should {now}",
    "so the next step is to {now}",
    "hence, {now}",
    "so it is time to {now}",
)
_INSTEAD = (
    "if the goal were to {wish}, you would {other} instead",
    "you would {other} if the goal were to {wish}",
    "you would {other} if the goal asked you to {wish}, but it does not",
)
_NOT_THIS = (
    "to {wish} is not what the goal asks for",
    "the goal does not ask you to {wish}",
    "your task is not to {wish}",
    "it would be wrong to {wish}, since the goal does not ask for it",
)
_NOW_FOR = (
    "if the goal were to {wish}, you would {other} now",
    "you would {other} now if the goal were to {wish}",
    "you would {other} now if the goal asked you to {wish}, but it does not",
)
_ALREADY = (
    "{already}, where {it} should be",
    "there is no need to {other}: {already}, as the goal asks",
)
_LATER = (
    "you can {other} after that",
    "you can still {other} after that",
    "there is time to {other} after that",
)
_LONGER = (
    "to {other} for that would take more steps",
    "it would take more steps to {other} for that",
    "one could {other} for that too, but it would take more steps",
)
_TRIED = (
    "you can {tried} only later",
    "what you tried, to {tried}, is possible only later",
    "the moment to {tried} is still to come",
)
_TRIED_FULL = (
    "you can't {tried} while the {held} {is_} in your hand",
    "your hand is not free to {tried}: the {held} {is_} in it",
)
_TRIED_UNSEEN = (
    "you can't {tried} yet: the {kind} {is_} not in view",
    "you can't {tried} from here: the {kind} {is_} not in view",
)
NEARER = 1.5
"""How much larger a thing has to look from where it can be handled than from farther away."""
_FURTHER_FACTS = 2
"""Facts that may be added so that what is seen is so in one picture only."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The other pictures of a square, which what is seen has to rule out."""

    contexts: Sequence[StepContext]
    wanted: frozenset[str] = frozenset()
    """Kinds of objects that the goals are about."""
    least: int = 1
    """Number of pixels from which on a thing can be named."""


@dataclass(frozen=True, slots=True)
class Instead:
    """What another goal of the same picture would have one do."""

    action: Action
    wish: str = ""
    """The part of the other goal which the action serves, and for which the goal in question does
    not ask; empty where it serves this goal too."""
    later: bool = False
    """Whether the goal in question has one do the same later; else it would take more steps."""
    taken: SceneObject | None = None
    """What the action would take away from where the goal in question wants it."""
    plan: Sequence[Action] = ()
    """Plan for the other goal."""

    @property
    def forms(self) -> Sequence[str]:
        """Wordings of why the action is not the answer."""
        if self.taken is not None:
            return _ALREADY
        if self.wish:
            return _NOW_FOR if self.later else _INSTEAD
        return _LATER if self.later else _LONGER


def explain(
    context: StepContext,
    wish: str,
    template: Template,
    rng: random.Random,
    instead: Instead | None = None,
    beside: Beside | None = None,
    tried: Action | None = None,
    whole: bool = True,
) -> Explanation:
    """Why the expert's next action is right now, and the key concepts.

    Args:
        context: of the step, with the expert's plan.
        wish: the part of the goal that the action serves; empty if none is known.
        template: maps actions to their kinds.
        rng: chooses the wording.
        instead: the best other option, where it is right for another goal.
        beside: the other pictures, in a square.
        tried: an action that failed now, and comes later in the plan.
        whole: whether `wish` is all that the goal asks for.
    """
    facts, concepts = _facts(context, template)
    facts = [*dict.fromkeys((*facts, *_absent(context, template)))]
    if beside is not None:
        facts = [*facts, *_telling(facts, context, beside, template)]
    seen = sentence(rng.choice(_SEEN).format(facts=_joined(facts, rng)))
    now = phrase(context.answer, context, template)
    wish = wish or phrase(context.plan[-1], context, template)
    asks = rng.choice(_ASKS if whole else _ASKS_PART).format(wish=wish)
    need = rng.choice(needs(context, template, wish))
    thought = rng.choice(_AND_SO).format(asks=asks, need=need)
    said = [sentence(thought)]
    if tried is not None:
        words = phrase(tried, context, template)
        said.insert(0, sentence(_failed(tried, words, context, template.lexicon, rng)))
    said.append(sentence(rng.choice(_NOW).format(now=_agreeing(now, wish, context))))
    if instead is not None:
        said.append(sentence(_unlike(instead, context, template, rng)))
    return Explanation(join(seen, *said), concepts, seen)


def _unlike(instead: Instead, context: StepContext, template: Template, rng: random.Random) -> str:
    """Why the best other option is wrong for this goal."""
    other, thing = phrase(instead.action, context, template), instead.taken
    says = not instead.later and _says(instead, other, template)
    form = rng.choice(_NOT_THIS if says else instead.forms)
    already = it = ""
    if thing is not None:
        already = f"the {thing.kind} {be(thing.kind)} already {where(thing, context)}"
        it = "they" if is_plural(thing.kind) else "it"
    both = replace(context, plan=(*context.plan, *instead.plan))
    other = _agreeing(other, instead.wish, both)
    return form.format(other=other, wish=instead.wish, already=already, it=it)


def _failed(
    tried: Action, words: str, context: StepContext, lexicon: Lexicon, rng: random.Random
) -> str:
    """Why what was tried has to wait."""
    held = next((thing.kind for thing in context.held), "")
    if held and context.done and context.done[-1].reason is Reason.HANDS_FULL:
        return rng.choice(_TRIED_FULL).format(tried=words, held=held, is_=be(held))
    target = context.target(tried)
    alike = context.alike(target.name) if target is not None else ()
    if (
        target is None
        or max(thing.pixels for thing in alike)
        or not is_absent(target.kind, context, lexicon)
    ):
        return rng.choice(_TRIED).format(tried=words)
    unseen = rng.choice(_TRIED_UNSEEN)
    return unseen.format(tried=words, kind=target.kind, is_=be(target.kind))


def _says(instead: Instead, other: str, template: Template) -> bool:
    """Whether the wish says what the option does: "to get some glass, you would make
    the glass" is no reason.
    """
    gives = template.action_kind(instead.action) in (ActionKind.MAKE, ActionKind.GATHER)
    return other == instead.wish or (gives and wants(instead.wish, other.split(" the ")[-1]))


def _agreeing(words: str, wish: str, context: StepContext) -> str:
    """As the wish has it: "make the bricks" where two are wanted, "make a furnace" for them."""
    what = words.removeprefix("make the ")
    if what == words:
        return words
    if (many := plural(what)) in wish:
        return f"make the {many}"
    return words if wants(wish, what) else f"make {to_make(what, context)}"


def needs_nothing(context: StepContext, template: Template) -> bool:
    """Whether the answer is about nothing in view, in a scene of its own: it makes something by
    hand, or puts down what is carried.
    """
    kind = template.action_kind(context.answer)
    by_hand = kind is ActionKind.MAKE and len(context.answer.arguments) < STATION
    return context.task is not None and (by_hand or kind is ActionKind.DROP)


def _facts(context: StepContext, template: Template) -> tuple[list[str], tuple[str, ...]]:
    """What the image shows that decides, and the key concepts."""
    if needs_nothing(context, template):
        return _missing(context, template)
    target, kind_of_action = context.target(context.answer), template.action_kind(context.answer)
    held = [f"the {t.kind} {be(t.kind)} in your hand" for t in context.held[:1]]
    if context.task is not None:
        held = []
    if target is None:
        return held, (kind_of(context.about(context.answer)),)
    kind = target.kind
    the = f"the {kind} {be(kind)}"
    match kind_of_action:
        case ActionKind.GO | ActionKind.SEARCH if not target.pixels:
            return [*held, f"{the} not in view"], tuple(t.kind for t in context.held[:1]) or (kind,)
        case ActionKind.GO | ActionKind.SEARCH:
            return [*held, f"{the} in view, but out of reach"], (kind,)
        case ActionKind.TAKE:
            free = [] if held else ["your hands are empty"]
            near = "" if target.support is None else ", within reach"
            return [f"{the} {where(target, context)}{near}", *held, *free], (kind,)
        case ActionKind.PUT if target.states.get("open"):
            return [*held, _near("open", kind)], (f"open {kind}", kind)
        case ActionKind.OPEN:
            return [*held, _near("closed", kind)], (f"closed {kind}", kind)
        case ActionKind.CLOSE:
            inside = [t for t in context.things if t.support == target.name and t.inside]
            what = [f"the {t.kind} {be(t.kind)} in it" for t in inside if t.pixels][:1]
            return [_near("open", kind), *what, *held], (f"open {kind}", kind)
        case ActionKind.SWITCH_ON:
            return [*held, f"{the} off"], (kind,)
        case ActionKind.SWITCH_OFF:
            return [*held, f"{the} on"], (kind,)
        case ActionKind.CUT:
            return [*held, f"{the} {where(target, context)}"], (kind,)
        case ActionKind.GATHER:
            return [*held, f"{the} in view"], (kind,)
    return [*held, f"{the} within reach"], (kind,)


def _telling(
    facts: Sequence[str], context: StepContext, beside: Beside, template: Template
) -> list[str]:
    """Further facts, such as what lies right already, until no other picture shows all of them."""
    found: list[str] = []
    left = [
        other
        for other in beside.contexts
        if not any(_rules_out(fact, context, other, template) for fact in facts)
    ]
    candidates = [*_further(context, beside, template.lexicon)]
    while left and candidates and len(found) < _FURTHER_FACTS:
        apart = {
            fact: [other for other in left if _rules_out(fact, context, other, template)]
            for fact in candidates
            if fact not in facts
        }
        best = max(apart, key=lambda fact: len(apart[fact]), default="")
        if not best or not apart[best]:
            break
        found.append(best)
        left = [other for other in left if other not in apart[best]]
    return found


def is_absent(kind: str, context: StepContext, lexicon: Lexicon) -> bool:
    """Whether an image shows nothing of a kind, and nothing that may be taken for it."""
    alike = {kind}.union(*(group for group in lexicon.lookalikes if kind in group))
    return not any(thing.pixels for thing in context.things if thing.kind in alike)


def _further(context: StepContext, beside: Beside, lexicon: Lexicon) -> list[str]:
    """What can be seen of the things that the goals are about."""
    found = []
    about = [thing for thing in context.things if thing.kind in beside.wanted]
    for thing in about:
        if thing.held:
            found.append(f"the {thing.kind} {be(thing.kind)} in your hand")
        elif thing.pixels >= beside.least and thing.support is not None:
            found.append(f"the {thing.kind} {be(thing.kind)} {where(thing, context)}")
    if not context.held:
        found.append("your hands are empty")
    for thing in about:
        most = max(t.pixels for t in context.alike(thing.name))
        if not thing.held and (most >= beside.least or is_absent(thing.kind, context, lexicon)):
            sees = "in view" if most else "not in view"
            found.append(f"the {thing.kind} {be(thing.kind)} {sees}")
    if context.task is not None:
        # Scenes of their own lack what others have.
        targets = [other.target(other.answer) for other in beside.contexts]
        kinds = dict.fromkeys(target.kind for target in targets if target is not None)
        here = {thing.kind for thing in context.things}
        found += [f"there is no {kind} in view" for kind in kinds if kind not in here]
    return found


def _rules_out(fact: str, context: StepContext, other: StepContext, template: Template) -> bool:
    """Whether a fact of one picture is false in another one."""
    if contradictions(sentence(fact), other.things, template.lexicon):
        return True
    said = re.fullmatch(
        r"(?:the|there is no) (?:open |closed )?(.+?)(?: is| are)? "
        r"(not in view|in view|in view, but out of reach|within reach)",
        fact,
    )
    if said is None:
        return False
    here, there = (
        max((t.pixels for t in one.things if t.kind == said[1]), default=0)
        for one in (context, other)
    )
    match said[2]:
        case "within reach":
            return there * NEARER <= here
        case "in view, but out of reach" if there:
            return here * NEARER <= there
    return (there > 0) is not (here > 0)


def _near(state: str, kind: str) -> str:
    """That it is within reach as well: in another picture of a square, it may be closed too."""
    return f"the {state} {kind} {be(kind)} within reach"


def _missing(context: StepContext, template: Template) -> tuple[list[str], tuple[str, ...]]:
    """What is not there, where the answer makes something by hand or puts something down."""
    held = next(iter(context.held))
    if template.action_kind(context.answer) is ActionKind.DROP:
        return ["there is nothing to work at within reach"], (held.kind,)
    absent = _absent(context, template)
    needed = [one.kind for one in carried_for(context.answer, context, template)] or [held.kind]
    return absent or ["nothing that the picture shows is needed for this"], (needed[0],)


def _absent(context: StepContext, template: Template) -> list[str]:
    """The stations that the plan works at and that are not in view."""
    steps = [a for a in context.plan if template.action_kind(a) is ActionKind.MAKE]
    stations = dict.fromkeys(a.arguments[-1] for a in steps if len(a.arguments) >= STATION)
    # What is to be made may stand somewhere already, out of sight.
    made = {step.arguments[0] for step in steps}
    there = {kind_of(t.name) for t in context.things if t.pixels or kind_of(t.name) not in made}
    return [
        f"there is no {name.replace('_', ' ')} in view" for name in stations if name not in there
    ]


def where(thing: SceneObject, context: StepContext) -> str:
    """Where a thing is: "in the sink"."""
    if thing.support is None:
        return "within reach"
    support = next((t for t in context.things if t.name == thing.support), None)
    kind = support.kind if support else kind_of(thing.support)
    return f"{'in' if thing.inside else 'on'} the {kind}"


def _joined(facts: Sequence[str], rng: random.Random) -> str:
    return rng.choice(_AND).join(_varied(fact, rng) for fact in facts)


def _varied(fact: str, rng: random.Random) -> str:
    if fact == _EMPTY[0]:
        return rng.choice(_EMPTY)
    held = re.sub(r" (?:is|are) in your hand$", "", fact)
    if held != fact and rng.random() < 0.5:
        return f"{rng.choice(_HOLDING)} {held}"
    return fact
