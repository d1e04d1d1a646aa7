"""What is known at one step of an episode: past actions, what is held, and what was seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from inhabit.agents.alfred_specialist.ranker.notes import Detections, outcome
from inhabit.agents.alfred_specialist.ranker.parsing import (
    CLOSE,
    EXPLORE,
    GO,
    LOOKS,
    OPEN,
    VERBS,
    NotedAction,
    action,
)
from inhabit.agents.alfred_specialist.ranker.progress import Progress, progress
from inhabit.agents.core import View
from inhabit.envs.alfred.language.verbs import word
from inhabit.envs.alfred.world import things
from inhabit.envs.core import Action, Reason

DOORS = frozenset(map(word, things.DOORS))
"""Receptacles that have to be opened before anything can be put in or taken out."""
TURNS = ("turn right", "turn left")
_HELD = re.compile(r"[Yy]ou have an? (.+?) in your hands")
_NAMED = re.compile(r"\b([a-z][a-z \-]*)_(\d+)\b")
Name = tuple[str, str]
"""A noun and its number."""


@dataclass(frozen=True, slots=True)
class PastAction:
    """A past action and its result."""

    what: NotedAction
    text: str
    """The action as the agent said it."""
    reason: Reason | None
    named: tuple[Name, ...]
    """The objects that the feedback names."""


@dataclass(frozen=True)
class Surroundings:
    """What is known now."""

    past_actions: tuple[PastAction, ...]
    seen: Detections
    """Everything that was detected, with the highest confidence."""
    here: Detections
    """What is detected now."""
    held: str
    """Kind of the held object, or ""."""
    offers: Mapping[tuple[int, str], Mapping[str, Action]]
    """Verb and noun -> number, or "" -> the candidate."""
    plain: Mapping[str, Action]
    """Candidates by their text."""

    @cached_property
    def progress(self) -> Progress:
        """Where things were put, and what was done to them."""
        return progress([past.what for past in self.past_actions])

    @cached_property
    def at(self) -> Name:
        """The object or place gone to last; empty where that is not known."""
        return self.progress.at

    @property
    def holding(self) -> Name:
        """The held object with its number, where that is known."""
        name = self.progress.held
        return name if name[0] == self.held else (self.held, "")

    @cached_property
    def opened(self) -> frozenset[Name]:
        """What was opened and not closed again."""
        found: set[Name] = set()
        for past in self._worked():
            name = past.what.noun, past.what.number
            if past.what.verb == OPEN:
                found.add(name)
            elif past.what.verb == CLOSE:
                found.discard(name)
        return frozenset(found)

    @cached_property
    def ever_opened(self) -> frozenset[Name]:
        """What was opened at any time."""
        return frozenset(
            (past.what.noun, past.what.number) for past in self._worked() if past.what.verb == OPEN
        )

    @cached_property
    def visits(self) -> Counter[Name]:
        """How often each object or place was gone to."""
        return Counter((d.what.noun, d.what.number) for d in self._worked() if d.what.verb == GO)

    @cached_property
    def looks(self) -> int:
        """How often the agent looked around or explored."""
        return sum(past.what.verb in LOOKS for past in self._worked())

    @cached_property
    def explored(self) -> int:
        """How often it explored."""
        return sum(past.what.verb == EXPLORE for past in self._worked())

    @cached_property
    def turns(self) -> int:
        """How often it turned on the spot."""
        return sum(past.text in TURNS for past in self._worked())

    def last(self) -> PastAction | None:
        """The last action."""
        return self.past_actions[-1] if self.past_actions else None

    def failures(self, verb: int, noun: str) -> Sequence[PastAction]:
        """The failures of an action on such an object."""
        return [
            past
            for past in self.past_actions
            if past.reason is not None and (past.what.verb, past.what.noun) == (verb, noun)
        ]

    def failed_lately(self, text: str) -> bool:
        """Whether this very action failed since the last one that worked."""
        for past in reversed(self.past_actions):
            if past.reason is None:
                return False
            if past.text == text:
                return True
        return False

    def offered(self, verb: int, noun: str, number: str = "") -> Action | None:
        """The candidate with that verb and noun; with that number, if there is one."""
        numbers = self.offers.get((verb, noun), {})
        found = numbers.get(number) or numbers.get("")
        return found if found is not None else next(iter(numbers.values()), None)

    def _worked(self) -> Iterator[PastAction]:
        return (past for past in self.past_actions if past.reason is None)


def situation(view: View, earlier: Sequence[Detections], current: Detections) -> Surroundings:
    """What is known at this step, with what was detected before each earlier one and is now."""
    past_actions = []
    for step in view.history:
        named = tuple((noun.strip(), number) for noun, number in _NAMED.findall(step.feedback))
        text = outcome(step)
        past_actions.append(PastAction(action(text), step.action, step.reason, _bare(named)))
    seen: dict[str, float] = {}
    for sighting in (*earlier, current):
        for kind, sure in sighting.items():
            seen[kind] = max(sure, seen.get(kind, 0.0))
    held = _HELD.search(view.observation.text)
    offers: dict[tuple[int, str], dict[str, Action]] = {}
    for candidate in view.candidates:
        said = action(candidate.text)
        offers.setdefault((said.verb, said.noun), {}).setdefault(said.number, candidate)
    plain = {candidate.text: candidate for candidate in view.candidates}
    return Surroundings(tuple(past_actions), seen, current, held[1] if held else "", offers, plain)


def _bare(named: Sequence[Name]) -> tuple[Name, ...]:
    """The names without the words before them: "you are at the mug" is the mug."""
    return tuple((noun.rpartition("the ")[2], number) for noun, number in named)


def verb(name: str) -> int:
    """The index of a verb."""
    return VERBS.index(name)
