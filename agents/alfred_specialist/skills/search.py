"""The order in which a room is searched: where the chance per step is highest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from inhabit.agents.alfred_specialist.ranker.notes import MAYBE, SURE
from inhabit.agents.alfred_specialist.ranker.parsing import EXPLORE, GO, OPEN, VERBS
from inhabit.agents.alfred_specialist.skills.situation import DOORS, TURNS, Name, Surroundings
from inhabit.agents.alfred_specialist.skills.tries import worth_a_try
from inhabit.agents.alfred_specialist.skills.usual_places import UsualPlaces
from inhabit.envs.core import Action

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
