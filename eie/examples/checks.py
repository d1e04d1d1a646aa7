"""Checks that every example has to pass. Each raises `RejectedError` with its reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

from inhabit.eie.checking.claims import contradictions
from inhabit.eie.checking.nouns import SceneNouns, sources
from inhabit.eie.examples.context import StepContext
from inhabit.eie.examples.draft import RejectedError
from inhabit.eie.examples.example import Rejection
from inhabit.eie.examples.topology import kind_of
from inhabit.envs.core import Action, SceneObject
from inhabit.envs.template import ActionKind, Event, Lexicon

FARTHER = 2
"""How many times smaller a thing to go to may look than one to handle."""
_OBTAINS = (ActionKind.MAKE, ActionKind.GATHER)


def check_target(context: StepContext, least: int) -> None:
    """Check that the answer's object is visible, with `least` pixels or more, and not ambiguous."""
    target = context.target(context.answer)
    if target is None:
        what = context.about(context.answer)
        raise RejectedError(Rejection.HIDDEN, f"The answer is about {what!r}, which is nowhere.")
    if target.pixels < least:
        raise RejectedError(
            Rejection.HIDDEN,
            f"{target.name} takes up {target.pixels} pixels of the picture; {least} are needed.",
        )
    check_name(context, context.answer)


def check_shown(context: StepContext, kind: str, least: int) -> None:
    """Check that an object of a kind covers at least so many pixels."""
    most = max((thing.pixels for thing in context.things if thing.kind == kind), default=0)
    if most < least:
        raise RejectedError(
            Rejection.HIDDEN,
            f"The {kind} takes up {most} pixels of the picture; {least} are needed.",
        )


def check_name(context: StepContext, action: Action) -> None:
    """Check that an action is not ambiguous: a number can't be seen in an image."""
    for name in action.arguments:
        alike = context.alike(name)
        if kind_of(name) != name and len(alike) > 1:
            raise RejectedError(
                Rejection.AMBIGUOUS,
                f"There are {len(alike)} of {kind_of(name)!r}, and none of them shows that it is "
                f"{name}.",
            )


def check_question(question: str, answer: Action, context: StepContext) -> None:
    """Check that the question does not contain the answer, with or without numbers."""
    plainly = answer.text
    for name in answer.arguments:
        alike = context.alike(name)
        plainly = plainly.replace(name, alike[0].kind if alike else name)
    asked = _plain(question)
    if _plain(answer.text) in asked or _plain(plainly) in asked:
        raise RejectedError(
            Rejection.GIVEN_AWAY, f"The question says {answer.text!r} in so many words."
        )


def check_goal(
    goal: str, events: Sequence[Event], things: Sequence[SceneObject], lexicon: Lexicon
) -> None:
    """Check that a goal mentions only what the scene has, or its events obtain or put down."""
    nouns = SceneNouns(lexicon)
    gotten = [e.wish.lower() for e in events if e.action_kind in (*_OBTAINS, ActionKind.DROP)]
    made = [mention.kind for wish in gotten for mention in nouns.mentions(wish)]
    got = {kind for one in made for kind in (one, *sources(one, lexicon))}
    _raise_first(contradictions(goal, things, lexicon, wish=True, got=got))


def check_statement(text: str, things: Sequence[SceneObject], lexicon: Lexicon) -> None:
    """Check that the claims of a text about the scene are true."""
    _raise_first(contradictions(text, things, lexicon))


def check_concepts(
    concepts: Sequence[str], context: StepContext, lexicon: Lexicon, least: int
) -> None:
    """Check that every key concept is true, and that its object is visible, held, or told of.

    Its object has to cover `least` pixels, or to be named by the observation's text.
    """
    text = context.observation.text.replace("_", " ")
    for concept in concepts:
        _raise_first(contradictions(f"There is the {concept}.", context.things, lexicon))
        kinds = {t.kind for t in context.things} | lexicon.kinds
        found = [kind for kind in kinds if re.search(rf"\b{re.escape(kind)}\b", concept)]
        # The longest match counts: a spray bottle is not a bottle.
        target_name = {k for k in found if not any(k != other and k in other for other in found)}
        named = [t for t in context.things if t.kind in target_name]
        told = any(re.search(rf"\b{re.escape(kind)}\b", text) for kind in target_name)
        if named and not told and not any(t.pixels >= least or t.held for t in named):
            raise RejectedError(
                Rejection.HIDDEN, f"The key concept {concept!r} is not to be seen in the picture."
            )


def _raise_first(wrong: Sequence[str]) -> None:
    if wrong:
        raise RejectedError(Rejection.CONTRADICTION, wrong[0])


def _plain(text: str) -> str:
    words = re.findall(r"[\w-]+", text.lower())
    return " " + " ".join(w for w in words if w not in ("the", "a", "an")) + " "
