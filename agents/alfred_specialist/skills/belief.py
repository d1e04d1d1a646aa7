"""Which reading of the goal to act on, given what was seen and done since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from inhabit.agents.alfred_specialist.ranker.parsing import GO, PUT, TURN_ON, uncut
from inhabit.agents.alfred_specialist.ranker.progress import progress
from inhabit.agents.alfred_specialist.reading.reading import ROLES, Reading, Readings
from inhabit.agents.alfred_specialist.skills.situation import Surroundings
from inhabit.agents.alfred_specialist.skills.tasks import is_done
from inhabit.agents.alfred_specialist.skills.tries import SURE
from inhabit.envs.core import Reason

_UNSEEN = 0.88
"""What each step takes from a reading of which the object or the place was not seen yet."""
_MISSED = 0.35
"""What it takes from it to have tried in vain to go there."""
_IN_USE = 4.0
"""Odds in favour of a reading whose object is in the hand."""
_REFUTED = 1e-4
"""What is left of a reading when everything that it asks for was done, and the task goes on."""


def believed(readings: Readings, now: Surroundings) -> Reading | None:
    """The reading that fits best by now; None where there is none."""
    before = tuple(_moments(now))

    def weight(reading: Reading) -> float:
        refuted = any(is_done(moment, reading) for moment in before)
        return _weight(reading, now) * (_REFUTED if refuted else 1.0)

    return max(readings.ranked, key=weight, default=None)


def _moments(now: Surroundings) -> Iterator[Surroundings]:
    """The situation after every action that may have completed the task."""
    for count, past in enumerate(now.past_actions, start=1):
        if past.reason is None and past.what.verb in (PUT, TURN_ON):
            past_actions = now.past_actions[:count]
            yield replace(
                now,
                past_actions=past_actions,
                held=progress([d.what for d in past_actions]).held[0],
            )


def _weight(reading: Reading, now: Surroundings) -> float:
    weight = reading.probability
    for noun in filter(None, reading.nouns):
        if not _known(noun, now):
            missed = sum(d.reason is Reason.NOT_FOUND for d in now.failures(GO, noun))
            weight *= _UNSEEN ** len(now.past_actions) * _MISSED**missed
    if reading.thing == now.held:
        weight *= _IN_USE
    return weight


def _known(noun: str, now: Surroundings) -> bool:
    """Whether such a thing was recognised, or gone to, or is what one would be cut from."""
    if now.held == noun or any(name[0] == noun for name in now.visits):
        return True
    return any(now.seen.get(kind, 0.0) >= SURE for kind in (noun, uncut(noun)) if kind)


def in_words(reading: Reading, readings: Readings) -> str:
    """The reading for the record, and what could not be read."""
    roles = zip(ROLES, reading.nouns, strict=True)
    said = ", ".join(f"{role}: {noun}" for role, noun in roles if noun)
    text = f"The goal is read as {reading.task.replace('_', ' ')}; {said}"
    text += f" (probability {reading.probability:.2f})."
    if readings.unread:
        text += f" Could not be read: {', '.join(readings.unread)}."
    return text
