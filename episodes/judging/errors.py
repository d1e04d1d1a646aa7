"""The error map of an episode: its first mistake, the part it began in, and its consequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel

from inhabit.envs.core import Reason
from inhabit.episodes.judging.scores import Dimension, Judged


class Consequence(StrEnum):
    """Consequence of a wrong step."""

    NO_EFFECT = "no_effect"
    """The action could not be carried out, or none was named."""
    NO_NEARER = "no_nearer"
    """The action was carried out, and the way to the goal is as long as before."""
    SET_BACK = "set_back"
    """The way to the goal is longer than before."""
    NEARER = "nearer"
    """The way to the goal is shorter all the same, if not by the least."""
    OUT_OF_REACH = "out_of_reach"
    """No plan leads to the goal any more."""


class FailureType(StrEnum):
    """EgoPlan-Bench's types of failure (Chen et al. 2023), seen in a live episode."""

    LIKE_THE_GOAL = "like_the_goal"
    """Preferred what sounds like the goal to what has to come before it."""
    REPEATED = "repeated"
    """Did again what was done already."""
    MISREAD_STATE = "misread_state"
    """Did what the state of a thing or of the hand rules out."""


class Mistake(BaseModel, frozen=True):
    """The first wrong step of an episode."""

    step: int
    began_with: Dimension
    """The first of seeing, thinking and acting that was wrong in it."""
    consequence: Consequence
    recovered: bool
    """Whether a later step was nearer to the goal than this one had been, or the goal was reached.
    """


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step as the error map needs it."""

    step: int
    action: str | None
    reason: Reason | None
    """Why the action had no effect."""
    judged: Judged
    ahead: int
    """Actions of the expert's plan before it; 0 where the goal is reached, or out of reach."""
    plan: tuple[str, ...]


def first_mistake(steps: Sequence[StepOutcome], *, success: bool) -> Mistake | None:
    """The first step whose action is wrong; None where there is none."""
    for i, done in enumerate(steps):
        if done.judged.action.score != 0:
            continue
        later = steps[i + 1 :]
        return Mistake(
            step=done.step,
            began_with=next(
                (part for part in Dimension if done.judged.of(part).score == 0), Dimension.ACTION
            ),
            consequence=_consequence(done, later[0] if later else None, success),
            recovered=success or any(0 < after.ahead < done.ahead for after in later),
        )
    return None


def failures(goal: str, steps: Sequence[StepOutcome]) -> Mapping[FailureType, int]:
    """How often each type of failure was seen; a wrong step has one at the most."""
    found: Counter[FailureType] = Counter()
    worked: set[str] = set()
    for done in steps:
        if done.judged.action.score == 0 and done.action is not None:
            kind = _failure(goal, done, worked)
            found.update([] if kind is None else [kind])
        if done.action is not None and done.reason is None:
            worked.add(done.action)
    return {kind: found[kind] for kind in FailureType}


_STATES = frozenset(
    {
        Reason.ALREADY,
        Reason.CLOSED,
        Reason.HANDS_EMPTY,
        Reason.HANDS_FULL,
        Reason.MISSING_ITEM,
        Reason.WRONG_STATE,
    }
)


def _failure(goal: str, done: StepOutcome, worked: set[str]) -> FailureType | None:
    assert done.action is not None
    if done.action in worked:
        return FailureType.REPEATED
    if done.reason in _STATES:
        return FailureType.MISREAD_STATE
    if done.action in done.plan[1:] or _words(done.action) <= _words(goal):
        return FailureType.LIKE_THE_GOAL
    return None


def _words(text: str) -> set[str]:
    """The words that carry meaning, without numbers."""
    letters = "".join(c if c.isalpha() else " " for c in text.lower())
    little = {"the", "a", "an", "in", "on", "to", "up", "and", "it"}
    return {word.removesuffix("s") for word in letters.split()} - little


def _consequence(done: StepOutcome, after: StepOutcome | None, success: bool) -> Consequence:
    if done.reason is not None or done.action is None:
        return Consequence.NO_EFFECT
    if after is None:
        return Consequence.NEARER if success else Consequence.NO_NEARER
    if after.ahead == 0:
        return Consequence.NEARER if success else Consequence.OUT_OF_REACH
    if after.ahead > done.ahead:
        return Consequence.SET_BACK
    return Consequence.NEARER if after.ahead < done.ahead else Consequence.NO_NEARER
