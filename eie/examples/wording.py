"""Questions and reasons in plain English, from the state and the expert's plan."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.topology import kind_of
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
    "Which step is the right one now?",
    "What has to happen next?",
    "Choose the best action now.",
    "What should be done at this point?",
    "Given what you see, what is the next action?",
    "Looking at the picture, what do you do?",
    "What is your next move?",
    "Which of these brings the task forward most?",
    "How should you proceed?",
    "Which option makes most progress?",
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
    "You have just tried to {tried}, but it did not work.",
    "A moment ago, you tried to {tried}, but it did not work.",
    "Your last attempt was to {tried}, but it did not work.",
    "You wanted to {tried}, but it did not work.",
)
"""What is told of a failed action: the images show different causes."""
_HARDLY = 12
"""How many times smaller than at hand a thing looks that is hardly in view."""


def question(
    goal: str, told: str, done: Sequence[Event], rng: random.Random, tried: str = ""
) -> str:
    """The goal, the facts that the image does not show, and the question.

    `told` is the text observation. Of the events `done`, those that are not visible are stated.
    `tried` is the last action if it failed.
    """
    facts = " ".join(event.done for event in done if event.done)
    failure = rng.choice(_TRIED).format(tried=plain(tried)) if tried else ""
    return join(goal, plain(told), facts, failure, rng.choice(_ASKED))


def question_of_film(rng: random.Random) -> str:
    """The question about two images, one before and one after an action."""
    return rng.choice(_FILMED)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an action is right."""

    reason: str
    key_concepts: tuple[str, ...]
    seen: str = ""
    """The part of the reason that tells what the image shows."""


def phrase(action: Action, context: StepContext, template: Template) -> str:
    """An action in plain words, without numbers."""
    if not action.arguments:
        return plain(action.text)
    action_kind = template.action_kind(action)
    target = context.target(action)
    kind = target.kind if target is not None else kind_of(action.arguments[-1])
    match action_kind:
        case ActionKind.GO | ActionKind.SEARCH:
            return f"go to the {kind}"
        case ActionKind.TAKE:
            return f"pick up the {kind}"
        case ActionKind.OPEN | ActionKind.CLOSE:
            return f"{action_kind.value} the {kind}"
        case ActionKind.SWITCH_ON | ActionKind.SWITCH_OFF:
            return f"turn {action_kind.value.removeprefix('switch ')} the {kind}"
        case ActionKind.CUT:
            return f"slice the {kind}"
        case ActionKind.GATHER:
            return f"{action.verb} the {kind}"
        case ActionKind.MAKE:
            return f"make the {action.arguments[0].replace('_', ' ')}"
        case ActionKind.OTHER if context.task is not None:
            return f"{action.verb} the {kind}"
        case ActionKind.DROP if context.task is not None:
            return f"put down the {kind}"
        case ActionKind.PUT if (subject := context.subject(action)) is not None:
            where = "in" if " in the " in action.text else "on"
            return f"put the {subject.kind} {where} the {kind}"
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


def sentence(text: str) -> str:
    """A clause as a sentence; empty if it is."""
    text = text.strip()
    if not text:
        return ""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def join(*sentences: str) -> str:
    """Sentences as one text."""
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
            if was.pixels * _HARDLY < now.pixels:
                before_it = f"before, {_it_was(now.kind)} hardly in view"
                said.append(f"you are at the {now.kind} now, and {before_it}")
            else:
                said.append(f"the {now.kind} {looks} larger than before, and you are at it now")
    if action_kind is ActionKind.PUT:
        said += _put(before, after)
    if action_kind is ActionKind.CUT:
        new = {t.kind for t in after.things if t.pixels and t.name not in earlier}
        made = [k for k in sorted(new) if template.lexicon.products.get(k) == target.kind]
        said += [f"there are {plural(kind)} now" for kind in made]
        concept = made[0] if made else concept
    said = [one for one in dict.fromkeys(said) if one]
    if said:
        said += [_before(earlier.get(target.name, target), action_kind, before)]
        said += [f"so the step was to {phrase(action, before, template)}"]
    return Explanation(join(*map(sentence, said)), (concept,))


def _before(was: SceneObject, action_kind: ActionKind, context: StepContext) -> str:
    """How it was in the first image; empty if there is nothing else to say of it."""
    it = _it_was(was.kind)
    support = next((t for t in context.things if t.name == was.support), None)
    match action_kind:
        case ActionKind.OPEN | ActionKind.CLOSE:
            return f"before, {it} {'closed' if action_kind is ActionKind.OPEN else 'open'}"
        case ActionKind.SWITCH_ON | ActionKind.SWITCH_OFF:
            return f"before, {it} {'off' if action_kind is ActionKind.SWITCH_ON else 'on'}"
        case ActionKind.TAKE if support is not None and was.pixels:
            return f"before, {it} {_in(was)} the {support.kind}"
        case ActionKind.TAKE if not context.held:
            return "before, you held nothing"
        case ActionKind.PUT if context.held:
            return f"before, {_it_was(context.held[0].kind)} in your hand"
        case ActionKind.CUT:
            return f"before, {it} whole"
    return ""


def _put(before: StepContext, after: StepContext) -> list[str]:
    """Where the objects can be seen now that were in the hand."""
    now = {t.name: t for t in after.things}
    found = []
    for was in before.held:
        thing = now.get(was.name)
        support = now.get(thing.support) if thing is not None and thing.support else None
        if thing is not None and thing.pixels and support is not None:
            found.append(f"the {thing.kind} {be(thing.kind)} {_in(thing)} the {support.kind} now")
    return found


def _it_was(kind: str) -> str:
    return "they were" if is_plural(kind) else "it was"


def _in(thing: SceneObject) -> str:
    return "in" if thing.inside else "on"


def _change(was: SceneObject, now: SceneObject, state: str, template: Template) -> str:
    if was.states.get(state) is now.states[state] or state not in template.lexicon.states:
        return ""
    word = template.lexicon.states[state][0 if now.states[state] else 1]
    return f"the {now.kind} {be(now.kind)} {word} now"
