"""What a judge says of one step."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel

from inhabit.episodes.judging.anchors import Anchors


class Dimension(StrEnum):
    """The parts of a decision."""

    PERCEPTION = "perception"
    COGNITION = "cognition"
    ACTION = "action"


class Verdict(BaseModel, frozen=True):
    """A score and what it rests on."""

    score: int | None
    """Score, 1 or 0; None where nothing was said, or where it can't be told."""
    given: bool = True
    """Whether there was anything to score. Of those that were, the ones without a score count as
    unjudged."""
    evidence: str = ""


ABSENT = Verdict(score=None, given=False)
"""The verdict where nothing was said that could be scored."""


class Judged(BaseModel, frozen=True):
    """The three verdicts on a step."""

    perception: Verdict
    cognition: Verdict
    action: Verdict

    def of(self, part: Dimension) -> Verdict:
        """The verdict on a part."""
        verdict: Verdict = getattr(self, part.value)
        return verdict

    @property
    def given(self) -> Mapping[str, Verdict]:
        """The verdicts on the parts in which there was something to score."""
        verdicts = {part.value: self.of(part) for part in Dimension}
        return {name: one for name, one in verdicts.items() if one.given}

    @property
    def whole(self) -> bool:
        """Whether there was something to score in every part."""
        return len(self.given) == len(Dimension)

    @property
    def genuine(self) -> int | None:
        """1 where all three are, 0 where one is not (PCA-Bench's genuine PCA score); None where
        one is not known: a mean over those that happen to fail would be too low.
        """
        scores = [self.of(part).score for part in Dimension]
        return None if None in scores else int(0 not in scores)


class AgentAnswer(BaseModel, frozen=True):
    """What an agent answered at one step."""

    goal: str
    told: str
    """Text observation of the step."""
    choices: tuple[str, ...]
    description: str
    reasoning: str
    action: str | None
    """The action as it was understood; None where the agent stopped, or could not be understood."""
    raw: str = ""
    stopped: bool = False


class Judge(Protocol):
    """Scores answers."""

    name: str
    """`oracle`, or KIND:NAME of a model."""

    async def judge(self, answer: AgentAnswer, anchors: Anchors) -> Judged:
        """The verdicts on one answer; others may be asked for at the same time."""
        ...

    async def close(self) -> None:
        """Let go of what it needs."""
        ...


def action_verdict(answer: AgentAnswer, anchors: Anchors) -> Verdict:
    """Right is any action that a plan of the least cost starts with; to stop is right once nothing
    is left to be done. Whoever names no action has it wrong: abstentions are not dropped.
    """
    if anchors.best is None:
        return Verdict(score=None, evidence="The environment knows no best action.")
    if answer.stopped and not anchors.best:
        return Verdict(score=int(not anchors.plan), evidence="It stopped.")
    if not anchors.best:
        return Verdict(score=None, evidence="No plan leads to the goal from here.")
    best = ", ".join(anchors.best)
    if answer.action is None:
        said = "It stopped" if answer.stopped else "It named no action"
        return Verdict(score=0, evidence=f"{said}; best: {best}.")
    return Verdict(score=int(answer.action in anchors.best), evidence=f"Best: {best}.")
