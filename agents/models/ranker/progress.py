"""What has come of the things of an episode: where each was left, and what was done to it there.

Things get hot, clean and cold by what is done around them: a potato in the microwave that is turned
on, a mug in the sink while the faucet runs, an apple in the fridge that is closed. None of that is
known here by name: what is told is which places were worked while a thing lay there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inhabit.agents.models.ranker.parsing import CLOSE, EXPLORE, GO, PUT, TAKE, TURN_ON, NotedAction

WORKS = (TURN_ON, CLOSE)
"""What is done to a place that may change what lies there."""
Name = tuple[str, str]
"""A noun and its number, empty where none was told."""
_NOTHING: Name = ("", "")


@dataclass(frozen=True, slots=True)
class Progress:
    """After all that was done."""

    left: Mapping[Name, Name]
    """Things that were put somewhere and not taken again, and the place."""
    worked: Mapping[Name, frozenset[tuple[int, str]]]
    """Things, and the verbs and nouns of what was worked while they lay there."""
    held: Name
    """What was taken last and not put anywhere."""
    at: Name
    """What one went to or put something in last; empty where one walked on since."""

    def within(self, noun: str, place: str = "") -> int:
        """How many things of that noun were left, at that place or anywhere."""
        return sum(n == noun and place in ("", at) for (n, _), (at, _) in self.left.items())

    def is_other_instance(self, noun: str) -> bool:
        """Whether a thing of that noun that is here is none of those that were left."""
        if self.at == _NOTHING or not self.within(noun):
            return False
        if self.at[0] == noun:
            return self.at not in self.left
        return all(n != noun or place != self.at for (n, _), place in self.left.items())

    def worked_for(self, noun: str) -> frozenset[tuple[int, str]]:
        """What was worked for any thing of that noun; for the one that is held, if one is."""
        if self.held[0] == noun:
            return self.worked.get(self.held, frozenset())
        found = (works for (n, _), works in self.worked.items() if n == noun)
        return frozenset[tuple[int, str]]().union(*found)


def progress(done: Sequence[NotedAction]) -> Progress:
    """Act it out again: what failed changed nothing."""
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
                # A faucet is turned on for what lies in the sink, but only what holds a thing
                # can be closed around it.
                if step.verb == TURN_ON or place == name:
                    worked[thing] = worked.get(thing, frozenset()) | {(step.verb, step.noun)}
    return Progress(left, worked, held, at)
