"""The first difference between a recorded step and a re-executed one."""

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
    """The first difference of a re-executed step."""

    step: int
    what: str
    """"frame", "state", "text" or "candidates" of the observation before the step; "reason",
    "feedback", "met", "total", "over" or "cost" of the outcome; "action" where the environment no
    longer understands the recorded action; "scene" or "simulator" where one failed, or no longer
    does."""
    recorded: JsonValue
    replayed: JsonValue


def seen_differently(
    step: StepRecord, observed: ObservedState, level: Determinism
) -> Difference | None:
    """The first difference of the observation before `step`; images count at `FRAMES` only."""
    return _first(step.number, _seen(step), _shown(observed), level)


def ended_differently(step: StepRecord, outcome: Outcome, level: Determinism) -> Difference | None:
    """The first difference of the outcome of `step`; None where no outcome is recorded."""
    if step.act is None:
        return None
    return _first(step.number, _outcome(step.act), _outcome(outcome), level)


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


def _shown(observed: ObservedState) -> Mapping[str, JsonValue]:
    rgb = observed.observation.rgb
    return {
        "state": observed.state,
        "text": observed.observation.text,
        "candidates": [action.text for action in observed.candidates],
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
