"""The action vocabulary by room type. It is the same in all rooms of a type, so that it reveals
nothing.

Objects are named without a number, and resolved from what was seen and done
(`episode/reference.py`): "go to the cabinet" repeatedly visits one cabinet after the other.
Furniture that often occurs several times can also be visited by number; "the cabinet" then refers
to that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from inhabit.envs.alfred.language.grammar import say
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.language.verbs import VERBS
from inhabit.envs.alfred.world.rooms import Kind
from inhabit.envs.alfred.world.things import CARRIED, FIXTURES, HOLDERS, ITEMS, that_can
from inhabit.envs.core import Action
from inhabit.envs.simulators.household.types.things import THINGS
from inhabit.envs.world.language import IT

MOTIONS = ("look around", "explore", "turn left", "turn right")


@cache
def vocabulary(kind: Kind, find: bool = False) -> Sequence[Action]:
    """The vocabulary of a room type in a fixed order: at most 250 actions.

    Args:
        kind: of the room.
        find: whether the oracle of `--set find=oracle` may be asked.
    """
    return tuple(_all(kind, find))


def _all(kind: Kind, find: bool) -> Iterator[Action]:
    holders, items = HOLDERS[kind], ITEMS[kind]
    everything = sorted({*holders, *items, *FIXTURES[kind]} - {"Bathtub"})
    yield from map(say, MOTIONS)
    yield from (say("go to", word(type)) for type in everything)
    if find:
        yield from (say("find", word(type)) for type in everything)
    else:
        yield from (
            say("go to", f"{word(type)}_{number}")
            for type in everything
            for number in range(1, THINGS[type].numbered + 1)
        )
    yield from (say("pick up", word(t)) for t in everything if t in items or t in CARRIED)
    yield from (say("put", IT, word(t)) for t in everything if t in holders)
    yield from (say(verb) for verb in ("put down", "drop"))
    for verb in (verb for verb in VERBS if verb.needs):
        types = that_can(verb.needs[0])
        yield from (say(verb.name, word(type)) for type in everything if type in types)
