"""Tracks where each object was put during an episode, and what was done to it there.

Objects get hot, clean or cold by actions on their receptacle: a potato when the microwave is turned
on, a mug in the sink while the faucet runs, an apple when the fridge is closed. These effects are
not known here; tracked is which receptacles were operated while an object was inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inhabit.agents.alfred_specialist.ranker.parsing import (
    CLOSE,
    EXPLORE,
    GO,
    PUT,
    TAKE,
    TURN_ON,
    NotedAction,
)

WORKS = (TURN_ON, CLOSE)
"""Verbs on a receptacle that may change the objects inside."""
Name = tuple[str, str]
"""A noun and its number, or ""."""
_NOTHING: Name = ("", "")


@dataclass(frozen=True, slots=True)
class Progress:
    """The state after all actions so far."""

    left: Mapping[Name, Name]
    """Objects that were put somewhere and not taken again -> the place."""
    worked: Mapping[Name, frozenset[tuple[int, str]]]
    """Objects -> verbs and nouns of the actions while they were inside."""
    held: Name
    """The object in the hand."""
    at: Name
    """The place where the agent is; empty where unknown."""

    def within(self, noun: str, place: str = "") -> int:
        """Number of objects of that noun that were put at `place`, or anywhere."""
        return sum(n == noun and place in ("", at) for (n, _), (at, _) in self.left.items())

    def is_other_instance(self, noun: str) -> bool:
        """Whether an object of that noun here is another one than those that were put down."""
        if self.at == _NOTHING or not self.within(noun):
            return False
        if self.at[0] == noun:
            return self.at not in self.left
        return all(n != noun or place != self.at for (n, _), place in self.left.items())

    def worked_for(self, noun: str) -> frozenset[tuple[int, str]]:
        """The actions on any object of that noun, or on the held one."""
        if self.held[0] == noun:
            return self.worked.get(self.held, frozenset())
        found = (works for (n, _), works in self.worked.items() if n == noun)
        return frozenset[tuple[int, str]]().union(*found)


def progress(done: Sequence[NotedAction]) -> Progress:
    """Replay the actions; failed ones change nothing."""
    left: dict[Name, Name] = {}
    worked: dict[Name, frozenset[tuple[int, str]]] = {}
    held = at = _NOTHING
    for step in done:
        if step.failed:
            continue
        name = step.noun, step.number
        if step.verb == PUT:
            left[step.thing, step.thing_number] = name
            held, at = _NOTHING, name
        elif step.verb == TAKE:
            held = name
            left.pop(held, None)
        elif step.verb in (GO, EXPLORE):
            at = name
        elif step.verb in WORKS:
            for thing, place in left.items():
                # A faucet affects objects in the sink, but closing affects only what is inside.
                if step.verb == TURN_ON or place == name:
                    worked[thing] = worked.get(thing, frozenset()) | {(step.verb, step.noun)}
    return Progress(left, worked, held, at)
