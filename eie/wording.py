"""Questions and reasons in plain English, from what is so and from how the expert goes on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from eie.moment import Moment
from envs.core import Action, Thing
from envs.evolving import Deed, Event, Template

_ASKED = (
    "What should you do next?",
    "What is the best next step?",
    "What do you do now?",
    "Which action comes next?",
)
_FILMED = (
    "What was done between the first picture and the last?",
    "What was done in this film?",
    "Which action do these pictures show?",
)


def question(goal: str, told: str, done: Sequence[Event], draw: random.Random) -> str:
    """The goal, what can't be seen, and what is asked.

    Args:
        goal: a sentence.
        told: what the environment tells beside the picture; may be empty.
        done: events that have come about; those that can't be seen are told.
        draw: for the wording.
    """
    facts = " ".join(event.done for event in done if event.done)
    return _joined(goal, told, facts, draw.choice(_ASKED))


def question_after_failure(
    goal: str, told: str, done: Sequence[Event], tried: str, feedback: str, draw: random.Random
) -> str:
    """The same, with what was tried last and did not work."""
    facts = " ".join(event.done for event in done if event.done)
    failure = f"You have just tried to {tried}, and it did not work: {_sentence(feedback)}"
    return _joined(goal, told, facts, failure, draw.choice(_ASKED))


def question_of_film(draw: random.Random) -> str:
    """What is asked of two pictures, one before and one after an action."""
    return draw.choice(_FILMED)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why an action is right."""

    reason: str
    key_concepts: tuple[str, ...]


def explain(moment: Moment, event: Event | None, template: Template) -> Explanation:
    """Why the expert's next action is right now.

    Args:
        moment: with its plan.
        event: what the action brings about, if it is one of the task's events.
        template: knows the deeds.
    """
    return _Explainer(moment, event, template).explain()


class _Explainer:
    def __init__(self, moment: Moment, event: Event | None, template: Template) -> None:
        self._moment = moment
        self._event = event
        self._template = template
        self._aim = moment.aim(moment.answer)
        self._kind = self._aim.kind if self._aim else moment.answer.arguments[-1]

    def explain(self) -> Explanation:
        facts, concepts = self._facts()
        return Explanation(_joined(*map(_sentence, facts), self._advice()), concepts)

    def _facts(self) -> tuple[list[str], tuple[str, ...]]:
        """What is so, and what of it has to be seen."""
        the, deed = f"the {self._kind}", self._template.deed(self._moment.answer)
        held, aim = self._moment.held, self._aim
        concepts: tuple[str, ...] = (self._kind,)
        if aim is None:
            return [], concepts
        match deed:
            case Deed.TAKE:
                facts = [f"{the} is {self._where(aim)}"]
                facts += [] if held else ["nothing is in your hands"]
            case Deed.PUT:
                facts = [f"the {held[0].kind} is in your hand"] if held else []
                if aim.states.get("open"):
                    facts.append(f"{the} is open")
                    concepts = (f"open {self._kind}", self._kind)
            case Deed.OPEN:
                facts, concepts = [f"{the} is closed"], (f"closed {self._kind}", self._kind)
            case Deed.CLOSE:
                inside = [t for t in self._moment.things if t.support == aim.name and t.inside]
                what = f", and the {inside[0].kind} is in it" if len(inside) == 1 else ""
                facts, concepts = [f"{the} is open{what}"], (f"open {self._kind}", self._kind)
            case Deed.SWITCH_ON:
                facts = [f"{the} is off"]
            case Deed.SWITCH_OFF:
                facts = [f"{the} is on"]
            case Deed.CUT:
                facts = [f"the {held[0].kind} is in your hand"] if held else []
                facts.append(
                    f"{the} is {self._where(aim)}" if aim.support else f"{the} is in sight"
                )
            case _:
                facts = [f"{the} is {self._where(aim)}"]
        return facts, concepts

    def _advice(self) -> str:
        """What to do, and what for."""
        answer, event = self._moment.answer, self._event
        text = answer.text
        if event is not None and len(self._moment.plan) == 1:
            return f"{_sentence(text)} That completes the task."
        if event is not None and self._template.deed(answer) in (
            Deed.SWITCH_ON,
            Deed.CLOSE,
        ):
            return _sentence(f"{text} to {event.wish}")
        following = self._following()
        if following is None:
            return _sentence(f"the next step is to {text}")
        return _sentence(f"{text} so that you can {following}")

    def _following(self) -> str | None:
        """The next thing that the plan does, walking left out."""
        for action in self._moment.plan[1:]:
            if self._template.deed(action) not in (Deed.GO, Deed.SEARCH):
                return action.text
        return None

    def _where(self, thing: Thing) -> str:
        if thing.support is None:
            return "in sight"
        support = next((t for t in self._moment.things if t.name == thing.support), None)
        kind = support.kind if support else str(thing.support)
        return f"{'in' if thing.inside else 'on'} the {kind}"


def said_of(action: Action) -> str:
    """An action as a sentence of its own."""
    return _sentence(action.text)


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def _joined(*sentences: str) -> str:
    return " ".join(s.strip() for s in sentences if s.strip())


def recognise(before: Moment, after: Moment, template: Template) -> Explanation:
    """What the pictures before and after an action show of it."""
    action = before.answer
    was = before.aim(action)
    now = next((t for t in after.things if was is not None and t.name == was.name), None)
    if was is None or now is None:
        kind = was.kind if was is not None else action.arguments[-1]
        return Explanation(f"Before, there was the whole thing. {said_of(action)}", (kind,))
    changes = [_change(was, now, state, template) for state in now.states]
    said = [change for change in changes if change]
    match template.deed(action):
        case Deed.TAKE if now.held:
            said.append(f"the {now.kind} is in your hand now")
        case Deed.PUT:
            moved = before.subject(action)
            if moved is not None:
                where = "in" if now.kind in template.lexicon.containers else "on"
                said.append(f"the {moved.kind} is {where} the {now.kind} now")
        case Deed.GO:
            said.append(f"the {now.kind} is near now")
    return Explanation(_joined(*map(_sentence, said)), (now.kind,))


def _change(was: Thing, now: Thing, state: str, template: Template) -> str:
    if was.states.get(state) is now.states[state] or state not in template.lexicon.states:
        return ""
    word = template.lexicon.states[state][0 if now.states[state] else 1]
    return f"the {now.kind} is {word} now"
