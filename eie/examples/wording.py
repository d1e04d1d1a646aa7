"""Questions and reasons in plain English, from the state and the expert's plan."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.eie.checking.circular import circle
from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.topology import kind_of
from inhabit.eie.examples.variety import last, merely_next, seen, with_purpose, with_wish
from inhabit.envs.core import Action, SceneObject
from inhabit.envs.template import ActionKind, Event, Template
from inhabit.envs.world.words import is_plural, plural

_ASKED = (
    "What should you do next?",
    "What is the best next step?",
    "What do you do now?",
    "Which action comes next?",
    "What would you do next?",
    "How do you go on?",
    "Which step is right now?",
    "What has to happen next?",
    "Choose the best action now.",
    "What should be done at this point?",
    "Given what you see, what is the next action?",
    "Looking at the picture, what do you do?",
    "What is your next move?",
    "Which of these brings the task forward?",
    "How should you proceed?",
    "Which option makes progress?",
    "Pick the most useful action.",
    "Decide what to do next.",
    "What comes next?",
    "Judging by the image, which action is best?",
    "Which choice is correct here?",
    "Name the action that makes sense now.",
    "What is the sensible thing to do in this situation?",
    "Based on the photo, how would you continue?",
)
_FILMED = (
    "What was done between the first picture and the last?",
    "What was done in this film?",
    "Which action do these pictures show?",
    "What happened between these two pictures?",
    "Which of these was carried out?",
    "What changed, and by which action?",
    "Compare the pictures: what was done?",
    "Which action explains the difference?",
    "What did the robot do from one image to the other?",
    "Which of these took place?",
    "Find the change: which action caused it?",
)
_TRIED = (
    "You have just tried to {tried}, but {why}.",
    "A moment ago, you tried to {tried}, but {why}.",
    "Your last attempt was to {tried}, but {why}.",
    "You wanted to {tried}, but {why}.",
)


def question(goal: str, told: str, done: Sequence[Event], rng: random.Random) -> str:
    """The goal, the facts that the image does not show, and the question.

    Args:
        goal: a sentence.
        told: the text observation; may be empty.
        done: past events; those that are not visible are stated.
        rng: chooses the wording.
    """
    facts = " ".join(event.done for event in done if event.done)
    return _join(goal, plain(told), facts, rng.choice(_ASKED))


def question_after_failure(
    goal: str, told: str, done: Sequence[Event], tried: str, feedback: str, rng: random.Random
) -> str:
    """The same, with the last action, which failed."""
    facts = " ".join(event.done for event in done if event.done)
    why = _lower(plain(feedback).split(". ")[0])
    failure = rng.choice(_TRIED).format(tried=plain(tried), why=why)
    return _join(goal, plain(told), facts, failure, rng.choice(_ASKED))


def question_of_film(rng: random.Random) -> str:
    """The question about two images, one before and one after an action."""
    return rng.choice(_FILMED)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an action is right."""

    reason: str
    key_concepts: tuple[str, ...]


def explain(
    context: StepContext,
    event: Event | None,
    template: Template,
    rng: random.Random,
    ahead: Event | None = None,
) -> Explanation:
    """Why the expert's next action is right now.

    Args:
        context: of the step, with the expert's plan.
        event: the task's event that the action causes, if any.
        template: maps actions to their kinds.
        rng: chooses the wording.
        ahead: the task's event that the plan causes next.
    """
    return _Explainer(context, event, template, rng, ahead).explain()


def explain_absent(held: SceneObject, target: SceneObject) -> Explanation:
    """Why to go with what is held to what the image does not show."""
    carried = f"The {held.kind} {be(held.kind)} in your hand"
    unseen = f"the {target.kind} {be(target.kind)} not in view"
    return Explanation(
        f"{carried}, and {unseen}. Go to the {target.kind}.",
        (held.kind,),
    )


_TREATING = (ActionKind.SWITCH_ON, ActionKind.CLOSE)
"""Kinds of actions that may affect the objects inside."""


class _Explainer:
    def __init__(
        self,
        context: StepContext,
        event: Event | None,
        template: Template,
        rng: random.Random,
        ahead: Event | None,
    ) -> None:
        self._rng = rng
        self._ahead = ahead
        self._context = context
        self._event = event
        self._template = template
        self._target = context.target(context.answer)
        self._kind = self._target.kind if self._target else context.answer.arguments[-1]

    def explain(self) -> Explanation:
        facts, concepts = self._facts()
        return Explanation(_join(_sentence(seen(facts, self._rng)), self._advice()), concepts)

    def _facts(self) -> tuple[list[str], tuple[str, ...]]:
        """The facts that the reason states, and the key concepts among them."""
        the, kind, target = f"the {self._kind} {be(self._kind)}", self._kind, self._target
        held = [f"the {t.kind} {be(t.kind)} in your hand" for t in self._context.held[:1]]
        if target is None:
            return [], (kind,)
        match self._template.action_kind(self._context.answer):
            case ActionKind.TAKE:
                free = [] if held else ["your hands are empty"]
                return [f"{the} {self._where(target)}", *free], (kind,)
            case ActionKind.PUT if target.states.get("open"):
                return [*held, f"{the} open"], (f"open {kind}", kind)
            case ActionKind.PUT:
                return [*held, f"{the} in sight"], (kind,)
            case ActionKind.OPEN:
                return [f"{the} closed"], (f"closed {kind}", kind)
            case ActionKind.CLOSE:
                inside = [t for t in self._context.things if t.support == target.name and t.inside]
                what = (
                    [f"the {inside[0].kind} {be(inside[0].kind)} in it"] if len(inside) == 1 else []
                )
                return [f"{the} open", *what], (f"open {kind}", kind)
            case ActionKind.SWITCH_ON:
                return [*held, f"{the} off"], (kind,)
            case ActionKind.SWITCH_OFF:
                return [f"{the} on"], (kind,)
            case ActionKind.CUT:
                return [*held, f"{the} {self._where(target)}"], (kind,)
            case _:
                return [f"{the} {self._where(target)}"], (kind,)

    def _advice(self) -> str:
        answer, event = self._context.answer, self._event
        action_kind = self._template.action_kind(answer)
        now = phrase(answer, action_kind, self._context, it=self._kind)
        if len(self._context.plan) == 1:
            return _sentence(last(now, self._rng))
        just_that = phrase(answer, action_kind, self._context, it="")
        if event is not None and action_kind in _TREATING and event.wish != just_that:
            return _sentence(with_wish(now, event.wish, self._rng))
        following, ahead = self._following(action_kind), self._ahead
        if action_kind is ActionKind.PUT and not self._goes_on():
            return _sentence(merely_next(now, self._rng))
        if following is not None and not circle(f"{now} so that you can {following}"):
            return _sentence(with_purpose(now, following, self._rng))
        if ahead is not None and not circle(f"{now} so that you can {ahead.wish}"):
            return _sentence(with_purpose(now, ahead.wish, self._rng))
        return _sentence(merely_next(now, self._rng))

    def _goes_on(self) -> bool:
        """Whether the plan's next step is about what is put down now, or where it is put."""
        moving = (ActionKind.GO, ActionKind.SEARCH, ActionKind.LOOK)
        after = [a for a in self._context.plan[1:] if self._template.action_kind(a) not in moving]
        answer = self._context.answer
        about = {self._kind, *(kind_of(name) for name in answer.arguments)}
        about |= {thing.kind for thing in self._context.held}
        return bool(after) and not about.isdisjoint(kind_of(name) for name in after[0].arguments)

    def _following(self, action_kind: ActionKind) -> str | None:
        """The next step of the plan that this one enables; navigation does not count."""
        passed = {ActionKind.GO, ActionKind.SEARCH, ActionKind.LOOK}
        if action_kind is ActionKind.TAKE:
            passed |= {ActionKind.CLOSE, ActionKind.OPEN}  # Preparations of the placement.
        if action_kind is ActionKind.CUT:
            passed |= {ActionKind.OPEN, ActionKind.PUT}  # They only free the hand.
        for action in self._context.plan[1:]:
            if action != self._context.answer and self._template.action_kind(action) not in passed:
                return phrase(
                    action, self._template.action_kind(action), self._context, it=self._kind
                )
        return None

    def _where(self, thing: SceneObject) -> str:
        if thing.support is None:
            return "in sight"
        support = next((t for t in self._context.things if t.name == thing.support), None)
        kind = support.kind if support else kind_of(thing.support)
        return f"{_in(thing)} the {kind}"


def phrase(action: Action, action_kind: ActionKind, context: StepContext, *, it: str) -> str:
    """An action in plain words; objects of the kind `it` are "it", as in "pick it up"."""
    if not action.arguments:
        return plain(action.text)
    target = context.target(action)
    kind = target.kind if target is not None else kind_of(action.arguments[-1])
    the = pronoun(kind) if kind == it else f"the {kind}"
    match action_kind:
        case ActionKind.GO:
            return f"go to {the}"
        case ActionKind.TAKE:
            return f"pick {the} up" if kind == it else f"pick up {the}"
        case ActionKind.OPEN | ActionKind.CLOSE:
            return f"{action_kind.value} {the}"
        case ActionKind.SWITCH_ON | ActionKind.SWITCH_OFF:
            direction = "on" if action_kind is ActionKind.SWITCH_ON else "off"
            return f"turn {the} {direction}" if kind == it else f"turn {direction} {the}"
        case ActionKind.CUT:
            return f"slice {the}"
        case ActionKind.GATHER:
            return f"{action.verb} {the}"
        case ActionKind.SEARCH:
            return f"go to {the}"
        case ActionKind.MAKE:
            return f"{action.verb} the {action.arguments[0].replace('_', ' ')}"
        case ActionKind.OTHER if context.task is not None:
            return f"{action.verb} {the}"
        case ActionKind.DROP if context.task is not None:
            return f"put down {the}"
        case ActionKind.PUT if (subject := context.subject(action)) is not None:
            where = "in" if " in the " in action.text else "on"
            what = pronoun(subject.kind) if subject.kind == it else f"the {subject.kind}"
            if subject.kind == kind == it:
                return plain(action.text)
            return f"put {what} {where} {the}"
    return plain(action.text)


def be(kind: str) -> str:
    """The verb for a kind: "are" if it is named in the plural, else "is"."""
    return "are" if is_plural(kind) else "is"


def pronoun(kind: str) -> str:
    """The pronoun for a kind: "them" if it is named in the plural, else "it"."""
    return "them" if is_plural(kind) else "it"


def plain(text: str) -> str:
    """Remove the numbers of names: "the desk lamp_1" becomes "the desk lamp"."""
    return re.sub(r"(?<=[a-z])_\d+\b", "", text)


def _lower(text: str) -> str:
    """Lower the first letter, to continue a sentence."""
    return f"{text[:1].lower()}{text[1:]}".rstrip(".")


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def _join(*sentences: str) -> str:
    return " ".join(s.strip() for s in sentences if s.strip())


def recognise(before: StepContext, after: StepContext, template: Template) -> Explanation:
    """Explain which action the images before and after it show; no reason if they don't."""
    action = before.answer
    target = before.target(action)
    if target is None:
        return Explanation("", (kind_of(action.arguments[-1]),))
    earlier = {t.name: t for t in before.things}
    action_kind, concept = template.action_kind(action), target.kind
    said: list[str] = []
    for now in after.alike(target.name):
        was = earlier.get(now.name)
        if was is None or not (now.pixels or now.held):
            continue
        said += [_change(was, now, state, template) for state in now.states]
        if action_kind is ActionKind.TAKE and now.held and not was.held:
            said.append(f"the {now.kind} {be(now.kind)} in your hand now")
        if action_kind is ActionKind.GO and now.name == target.name and now.pixels > was.pixels:
            looks = "look" if is_plural(now.kind) else "looks"
            said.append(f"the {now.kind} {looks} larger than before, and you are at it now")
    if action_kind is ActionKind.PUT:
        said += _put(before, after)
    if action_kind is ActionKind.CUT:
        new = {t.kind for t in after.things if t.pixels and t.name not in earlier}
        made = [k for k in sorted(new) if template.lexicon.products.get(k) == target.kind]
        said += [f"there are {plural(kind)} now" for kind in made]
        concept = made[0] if made else concept
    return Explanation(_join(*(_sentence(s) for s in dict.fromkeys(said) if s)), (concept,))


def _put(before: StepContext, after: StepContext) -> list[str]:
    """Where the objects are now that were in the hand."""
    now = {t.name: t for t in after.things}
    found = []
    for was in before.held:
        thing = now.get(was.name)
        support = now.get(thing.support) if thing is not None and thing.support else None
        if thing is not None and support is not None:
            found.append(f"the {thing.kind} {be(thing.kind)} {_in(thing)} the {support.kind} now")
    return found


def _in(thing: SceneObject) -> str:
    return "in" if thing.inside else "on"


def _change(was: SceneObject, now: SceneObject, state: str, template: Template) -> str:
    if was.states.get(state) is now.states[state] or state not in template.lexicon.states:
        return ""
    word = template.lexicon.states[state][0 if now.states[state] else 1]
    return f"the {now.kind} {be(now.kind)} {word} now"
