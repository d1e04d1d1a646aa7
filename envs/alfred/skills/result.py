"""The result of a skill."""

from __future__ import annotations

from dataclasses import dataclass

from inhabit.envs.core import Reason


@dataclass(frozen=True, slots=True)
class Result:
    """The reason of a failure (None if it succeeded), and a feedback sentence."""

    reason: Reason | None
    feedback: str


def done(sentence: str) -> Result:
    """A success."""
    return Result(None, _capital(sentence))


def failed(reason: Reason, sentence: str) -> Result:
    """A failure."""
    return Result(reason, _capital(sentence))


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
