"""When to go to an object that was not recognised for certain.

The vision network often overlooks a small object, or sees one that is not there. Whether an object
has been seen is told by going to it, but only a few such failures are affordable. So they are
spread over the search: a try needs that enough was revealed since the last one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from inhabit.agents.alfred_specialist.ranker.notes import MAYBE
from inhabit.agents.alfred_specialist.ranker.parsing import GO, LOOKS, OPEN, TAKE
from inhabit.agents.alfred_specialist.skills.situation import DOORS, Name, PastAction, Surroundings
from inhabit.agents.alfred_specialist.skills.usual_places import UsualPlaces
from inhabit.envs.core import Reason

_TRIES, _FAILURES = 7, 8
"""How often one may go to an object in vain, and how many actions may fail in all."""
_ENOUGH = 0.4
"""Share of what was hidden at the last try that has to be revealed before another one."""
_SPACING = 6
"""Steps after the last try from which anything that was revealed is enough."""
_LOOK = 0.15
"""Share of what lies in the open that looking around reveals."""
_UNKNOWN = 0.5
"""The chance that a place that was never recognised is there."""


def worth_a_try(now: Surroundings, kind: str, usual: UsualPlaces) -> bool:
    """Whether enough was revealed since the last try to go to an object, or to furniture.

    An object must have been glimpsed. Furniture need not: rooms of a kind have it.
    """
    if now.at[0] == kind:
        return False
    sought = _sought(now, kind)
    tries = missed(now, kind)
    failures = sum(past.reason is not None for past in now.past_actions)
    if len(tries) >= _TRIES or failures >= _FAILURES:
        return False
    if now.seen.get(kind, 0.0) < MAYBE and kind not in usual.number:
        return False
    if not tries and now.here.get(kind, 0.0) >= MAYBE:
        # Half of the first glimpses are right, and a try costs no walk where they are not.
        return True
    start = tries[-1] + 1 if tries else 0
    fresh = sum(_revealed(sought[start:], sought[:start], kind, now, usual))
    rest = sum(_hidden(sought, kind, now, usual))
    late = len(sought) - start >= _SPACING
    return fresh > 0 and (late or fresh >= _ENOUGH * (fresh + rest))


def missed(now: Surroundings, kind: str) -> Sequence[int]:
    """When it was gone to such an object in vain since one was found, counted from there.

    In vain is also a way that ends at one that was brought where it is.
    """
    return [
        step
        for step, past in enumerate(_sought(now, kind))
        if (past.what.verb, past.what.noun) == (GO, kind)
        and (past.reason is Reason.NOT_FOUND or _was_brought(past, now))
    ]


def _sought(now: Surroundings, kind: str) -> Sequence[PastAction]:
    """The actions since such an object was found, or all."""
    found = [
        step
        for step, past in enumerate(now.past_actions, start=1)
        if past.reason is None
        and past.what.noun == kind
        and (past.what.verb == TAKE or (past.what.verb == GO and not _was_brought(past, now)))
    ]
    return now.past_actions[found[-1] if found else 0 :]


def _was_brought(past: PastAction, now: Surroundings) -> bool:
    """Whether what was gone to is where the agent has put it since, or before."""
    return (past.what.noun, past.what.number) in now.progress.left


def _shares(kind: str, now: Surroundings, usual: UsualPlaces) -> dict[str, float]:
    """The chance that an object is in one single place of each kind."""
    places = [noun for verb, noun in now.offers if verb == GO and noun in usual.number]
    return {
        place: share
        * (1.0 if now.seen.get(place, 0.0) >= MAYBE else _UNKNOWN)
        / usual.number[place]
        for place, share in usual.share(kind, places).items()
        if place != kind
    }


def _revealed(
    since: Collection[PastAction],
    before: Collection[PastAction],
    kind: str,
    now: Surroundings,
    usual: UsualPlaces,
) -> Iterator[float]:
    """The chances of the places that were first gone to, or opened, since."""
    shares = _shares(kind, now, usual)
    known = set(_shown(before))
    for name in _shown(since):
        if name not in known:
            known.add(name)
            yield shares.get(name[0], 0.0)
    surfaces = sum(s * usual.number[p] for p, s in shares.items() if p not in DOORS)
    for past in since:
        if past.reason is None and past.what.verb in LOOKS:
            yield surfaces * _LOOK


def _hidden(
    sought: Collection[PastAction], kind: str, now: Surroundings, usual: UsualPlaces
) -> Iterator[float]:
    """The chances of the places that are left."""
    shown = set(_shown(sought))
    for place, share in _shares(kind, now, usual).items():
        yield share * max(usual.number[place] - sum(noun == place for noun, _ in shown), 0.0)


def _shown(past_actions: Collection[PastAction]) -> Iterator[Name]:
    """The places whose inside, or top, an action showed."""
    for past in past_actions:
        shut = past.what.noun in DOORS
        if past.reason is None and past.what.verb == (OPEN if shut else GO):
            yield past.what.noun, past.what.number
