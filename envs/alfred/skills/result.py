"""What came of a skill."""

from __future__ import annotations

from dataclasses import dataclass

from inhabit.envs.core import Reason


@dataclass(frozen=True, slots=True)
class Result:
    """Why it had no effect (None if it had), and a sentence about it."""

    reason: Reason | None
    feedback: str


def done(sentence: str) -> Result:
    """It did what it says."""
    return Result(None, _capital(sentence))


def failed(reason: Reason, sentence: str) -> Result:
    """It had no effect."""
    return Result(reason, _capital(sentence))


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
