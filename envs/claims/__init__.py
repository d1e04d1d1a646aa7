"""Reads what a text claims about a scene, and checks it.

Reads plain English about objects: that they are there (or not), how many, in what state, where, and
what is in the hand. It understands synonyms and negation and knows nothing of any environment but
the `SceneObject`s that it is given. It skips what it cannot read, and leaves open what it cannot
decide.

    things = env.things()
    for claim in Reader(things).claims("The fridge isn't open, and I hold a mug."):
        print(claim.words, holds(claim, things))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inhabit.envs.claims.claim import About, Claim, Intent, Noun, name_and_number
from inhabit.envs.claims.clauses import Nouns, clauses
from inhabit.envs.claims.reading import Facts, Intents
from inhabit.envs.core import SceneObject

__all__ = ["About", "Claim", "Intent", "Noun", "Reader", "holds", "name_and_number"]


class Reader:
    """Reads claims and intents about known kinds of objects."""

    def __init__(self, things: Sequence[SceneObject], kinds: Iterable[str] = ()) -> None:
        """Read claims about the kinds of `things`, and about further `kinds` that may be absent."""
        self._nouns = Nouns([*(thing.kind for thing in things), *kinds])

    def claims(self, text: str) -> tuple[Claim, ...]:
        """All claims that are understood. Never raises."""
        found = (c for clause in clauses(text, self._nouns) for c in Facts(clause).claims())
        return tuple(dict.fromkeys(found))

    def intents(self, text: str) -> tuple[Intent, ...]:
        """All intents that are understood: "I should open the fridge", "Open it."."""
        found = (i for clause in clauses(text, self._nouns) for i in Intents(clause).intents())
        return tuple(dict.fromkeys(found))


def holds(claim: Claim, things: Sequence[SceneObject], *, seen: bool = False) -> bool | None:
    """Whether `claim` is true of `things`; None if they do not decide it.

    If a noun may mean several objects, one match is enough: "the cabinet is closed" is true if one
    of the cabinets is. A negated claim is true if no object matches.

    Args:
        claim: as `Reader.claims` gives it.
        things: all of the scene.
        seen: presence and count refer to objects that are visible or held.
    """
    if claim.about is About.HELD and claim.subject is None:
        return any(thing.held for thing in things) is claim.positive
    assert claim.subject is not None, "Only what is held may go without a subject."
    meant = _meant(claim.subject, things)
    visible = [t for t in meant if t.pixels > 0 or t.held] if seen else meant
    match claim.about:
        case About.PRESENCE:
            fits: bool | None = bool(visible)
        case About.COUNT:
            there = [t for t in visible if claim.place is None or _lies(t, claim, things)]
            fits = sum(t.count for t in there) == claim.count
        case About.HELD:
            fits = any(t.held for t in meant) if meant else None
        case About.STATE:
            fits = _any(_state(t, claim) for t in meant)
        case About.PLACE:
            fits = _any(_lies(t, claim, things) for t in meant)
    return None if fits is None else fits is claim.positive


def _meant(noun: Noun, things: Sequence[SceneObject]) -> list[SceneObject]:
    return [
        t
        for t in things
        if t.kind in noun.kinds
        and (not noun.number or name_and_number(t.name)[1] in (noun.number, ""))
    ]


def _any(found: Iterable[bool | None]) -> bool | None:
    """True if any is, None if that is unknown, else False."""
    answers = list(found)
    if True in answers:
        return True
    return False if False in answers and None not in answers else None


def _state(thing: SceneObject, claim: Claim) -> bool | None:
    for state, value in claim.states:
        if state in thing.states:
            return thing.states[state] is value
    return None


def _lies(thing: SceneObject, claim: Claim, things: Sequence[SceneObject]) -> bool | None:
    """Whether it is in or on the place, or on something that is."""
    if thing.held:
        return False
    if claim.place is None:
        return thing.support is None
    places = {t.name for t in _meant(claim.place, things)}
    if not places:
        return None
    by_name = {t.name: t for t in things}
    here: SceneObject | None = thing
    for _ in range(len(things)):
        if here is None or here.support is None:
            return False
        if here.support in places:
            # People mix up "in" and "on": "in the sink", "on the sofa".
            return True
        here = by_name.get(here.support)
    return None
