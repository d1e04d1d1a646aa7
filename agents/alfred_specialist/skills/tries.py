"""How a room is searched, and when to go to an object that was not recognised for certain.

The vision network often overlooks a small object, or sees one that is not there. Whether an object
has been seen is told by going to it, but only a few such failures are affordable. So they are
spread over the search: a try needs that enough was revealed since the last one.

A room is searched where the chance per step is highest, by where things of a kind are usually kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from inhabit.agents.alfred_specialist.ranker.notes import MAYBE, SURE
from inhabit.agents.alfred_specialist.ranker.parsing import EXPLORE, GO, LOOKS, OPEN, TAKE, VERBS
from inhabit.agents.alfred_specialist.skills.situation import (
    DOORS,
    TURNS,
    Name,
    PastAction,
    Surroundings,
)
from inhabit.envs.core import Action, Reason

FILE = Path(__file__).parent / "usual_places.json"
_PRIOR = 0.5
"""Added to the count of every receptacle of the room, so that none is impossible."""


class UsualPlaces(BaseModel, frozen=True, extra="forbid"):
    """Counts from training rooms."""

    kept: Mapping[str, Mapping[str, int]]
    """Kind of object -> kind of receptacle -> how often it was there."""
    number: Mapping[str, float]
    """Kind of receptacle -> mean number of them in rooms that have any."""

    def share(self, kind: str, among: Collection[str]) -> Mapping[str, float]:
        """The probability that an object is kept in or on each kind of receptacle `among`."""
        counts = self.kept.get(kind, {})
        weights = {place: counts.get(place, 0) + _PRIOR for place in sorted(among)}
        total = sum(weights.values()) or 1.0
        return {place: weight / total for place, weight in weights.items()}


@cache
def usual_places() -> UsualPlaces:
    """The counts that come with this package."""
    return UsualPlaces.model_validate_json(FILE.read_bytes())


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
    """The steps of vain attempts to go to such an object, counted since one was found.

    An attempt that ends at an object which the agent brought there is vain, too.
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


_FIRST_TURNS = 3
"""Turns on the spot that show the whole room, before any place is searched."""
_SINGLE, _ANOTHER = 1.3, 0.3
"""Mean number up to which a room has one such place; and the chance of one more where it has
several, and all that are usual were visited."""
_LOOK_AROUND = VERBS.index("look around")
_WALK, _DOOR, _SURVEY = 7.0, 2.0, 26.0
"""Typical low-level steps to go somewhere, to open a door, and to explore."""
_OVERLOOKED = 0.4
"""Chance that an object on a surface that was seen from afar was not recognised."""
_NEWS = 0.3
"""Chance that exploring for the first time shows what is sought; it falls with every time."""


def search(now: Surroundings, kind: str, usual: UsualPlaces) -> Iterator[Action | None]:
    """What to do to find an object or a place of that kind, the best first."""
    if not now.past_actions or (now.turns < _FIRST_TURNS and _only_turned(now)):
        yield now.plain.get(TURNS[0])
    if not now.turns and not now.looks:
        yield now.offered(_LOOK_AROUND, "")
    yield from opened_here(now, kind, usual)
    if worth_a_try(now, kind, usual):
        yield now.offered(GO, kind)
    explore = None if now.failures(EXPLORE, "") else now.offered(EXPLORE, "")
    survey = _NEWS * 0.6**now.explored / _SURVEY
    for worth, action in sorted(_visits(now, kind, usual), key=lambda one: -one[0]):
        if explore is not None and survey > worth:
            yield explore
            explore = None
        yield action
    yield explore
    yield now.offered(_LOOK_AROUND, "")


def _only_turned(now: Surroundings) -> bool:
    return all(past.text in TURNS for past in now.past_actions if past.reason is None)


def opened_here(now: Surroundings, kind: str, usual: UsualPlaces) -> Iterator[Action | None]:
    """Open the place where the agent is, where an object of that kind is sought."""
    tried = any(d.what.noun == now.at[0] for d in now.failures(OPEN, now.at[0]))
    if now.at[0] in DOORS and now.at not in now.ever_opened and kind in usual.kept and not tried:
        yield now.offered(OPEN, now.at[0])


def _exhausted(now: Surroundings) -> frozenset[str]:
    """Kinds of places of which one came a second time, twice in all or since exploring."""
    since: set[str] = set()
    known: set[Name] = set()
    repeats: Counter[str] = Counter()
    for past in now.past_actions:
        name = past.what.noun, past.what.number
        if past.reason is None and past.what.verb == EXPLORE:
            since.clear()
        elif past.reason is None and past.what.verb == GO:
            if name in known:
                since.add(name[0])
                repeats[name[0]] += 1
            known.add(name)
    often = {noun for noun, times in repeats.items() if times > 1 or noun not in DOORS}
    return frozenset(since | often)


def _visits(now: Surroundings, kind: str, usual: UsualPlaces) -> Iterator[tuple[float, Action]]:
    """Places that are left to search, each with the chance per step."""
    places = {
        noun for (verb, noun) in now.offers if verb == GO and noun in usual.number and noun != kind
    }
    refused = [d.what.noun for d in now.past_actions if d.what.verb == GO and d.reason is not None]
    exhausted = _exhausted(now)
    for place, share in usual.share(kind, places).items():
        action = now.offered(GO, place)
        visited = sum(name[0] == place for name in now.visits)
        number = usual.number[place]
        left = max(number - visited, _ANOTHER if number > _SINGLE else 0.0)
        unlikely = now.seen.get(place, 0.0) < (SURE if refused else MAYBE)
        if action is None or unlikely or place in exhausted or place in refused or not left:
            continue
        shut = place in DOORS
        chance = share / number * min(left, 1.0) * (1.0 if shut else _OVERLOOKED)
        yield chance * _presence(now, place) / (_WALK + _DOOR * shut), action


def _presence(now: Surroundings, place: str) -> float:
    """The chance that such a place can be gone to."""
    sure = now.seen.get(place, 0.0)
    return 1.0 if sure >= SURE else max(sure, 0.1)
