"""Whether a moment and what came of an action are what was recorded, and what differs first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from inhabit.agents.models.core import Image
from inhabit.envs.core import Determinism, Outcome
from inhabit.episodes.recording.reader import StepRecord
from inhabit.episodes.recording.schema import ActLine
from inhabit.episodes.recording.writer import ObservedState


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that came out differently."""

    step: int
    what: str
    """"frame", "state", "text" or "candidates" of what was seen before the step; "reason",
    "feedback", "met", "total", "over" or "cost" of what came of it; "action" where the recorded
    words mean nothing any more; "scene" or "simulator" where one failed, or no longer does."""
    recorded: JsonValue
    replayed: JsonValue


def seen_differently(
    step: StepRecord, moment: ObservedState, level: Determinism
) -> Difference | None:
    """What of `moment` is not as it was before `step`; pictures count at `FRAMES` alone."""
    return _first(step.number, _seen(step), _shown(moment), level)


def ended_differently(step: StepRecord, outcome: Outcome, level: Determinism) -> Difference | None:
    """What of `outcome` is not as it was in `step`; nothing where that was cut off before."""
    if step.act is None:
        return None
    return _first(step.number, _outcome(step.act), _outcome(outcome), level)


def weaker(one: Determinism, other: Determinism) -> Determinism:
    """What both promise."""
    order = list(Determinism)
    return max(one, other, key=order.index)


def _first(
    number: int,
    was: Mapping[str, JsonValue],
    now: Mapping[str, JsonValue],
    level: Determinism,
) -> Difference | None:
    for what, recorded in was.items():
        if what == "frame" and level is not Determinism.FRAMES:
            continue
        if recorded != now[what]:
            return Difference(number, what, recorded, now[what])
    return None


def _seen(step: StepRecord) -> Mapping[str, JsonValue]:
    return {
        "state": step.see.state,
        "text": step.see.text,
        "candidates": list(step.candidates),
        "frame": step.see.digest,
    }


def _shown(moment: ObservedState) -> Mapping[str, JsonValue]:
    rgb = moment.observation.rgb
    return {
        "state": moment.state,
        "text": moment.observation.text,
        "candidates": [action.text for action in moment.candidates],
        "frame": None if rgb is None else Image(rgb).digest,
    }


def _outcome(outcome: Outcome | ActLine) -> Mapping[str, JsonValue]:
    return {
        "reason": outcome.reason,
        "feedback": outcome.feedback,
        "met": outcome.met,
        "total": outcome.total,
        "over": outcome.over,
        "cost": outcome.cost,
    }
