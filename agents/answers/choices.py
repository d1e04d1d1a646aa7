"""What a model may answer at one moment, how that is told to it, and what its words then mean."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase

from pydantic import JsonValue

from inhabit.agents.answers.matching import MatchKind, match
from inhabit.agents.core import View
from inhabit.agents.prompts.history import without_failed
from inhabit.envs.core import Action

STOP = "stop"
"""What a model says that holds the goal for reached, or for out of reach."""
_STOPS = frozenset({STOP, "done", "finish", "finished"})
_ALONE = re.compile(r"\W*([A-Za-z]|[A-Z]{2})\W*")
_LEADING = re.compile(r"\W*([A-Z]{1,2})\s*[.):]\s*(.+)", re.DOTALL)


class Problem(StrEnum):
    """Why words name no action that may be done."""

    NO_ACTION = "no_action"
    """There is nothing in them that would be one."""
    UNKNOWN = "unknown"
    """It is none of the candidates."""
    AMBIGUOUS = "ambiguous"
    """It may be several of them."""
    HELD = "held"
    """It has just failed, and nothing has changed since."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What words mean: an action, a stop, or a problem."""

    action: Action | None = None
    stop: bool = False
    problem: Problem | None = None
    near: tuple[Action, ...] = ()
    """Of a problem: what may have been meant."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The candidates of a moment without those that have just failed."""

    candidates: tuple[Action, ...]
    allowed: tuple[Action, ...]
    lettered: bool
    """Whether a model answers with a letter."""
    listed: bool
    """Whether the prompt lists them."""
    stop: bool
    """Whether it may say that it is done."""

    @classmethod
    def of(cls, view: View, *, lettered: bool, most: int, stop: bool) -> Choices:
        """Those of `view`; more than `most` are not listed, and so have no letters."""
        allowed = without_failed(view)
        listed = len(allowed) <= most
        return cls(view.candidates, allowed, lettered and listed, listed, stop)

    @property
    def lines(self) -> Sequence[str]:
        """One for each, as a prompt lists them."""
        texts = [a.text for a in self.allowed] + [STOP] * self.stop
        if not self.lettered:
            return texts
        return [f"{label(i)}. {text}" for i, text in enumerate(texts)]

    @property
    def examples(self) -> Sequence[str]:
        """One for each verb, where there are too many to list."""
        first = {action.verb: action.text for action in reversed(self.allowed)}
        return [*reversed(first.values()), *([STOP] * self.stop)]

    @property
    def answers(self) -> Sequence[str] | None:
        """All that `action` may be in an answer; None where that isn't listed."""
        if not self.listed:
            return None
        if self.lettered:
            return [label(i) for i in range(len(self.allowed) + self.stop)]
        return self.lines

    def schema(self, parts: Sequence[str]) -> Mapping[str, JsonValue]:
        """The JSON schema of an answer that has `parts` in words, and then an action."""
        action: dict[str, JsonValue] = {"type": "string"}
        if self.answers is not None:
            action["enum"] = list(self.answers)
        words: JsonValue = {"type": "string"}
        return {
            "type": "object",
            "properties": {**dict.fromkeys(parts, words), "action": action},
            "required": [*parts, "action"],
            "additionalProperties": False,
        }

    async def understand(
        self, said: str, parse: Callable[[str], Awaitable[Action | None]]
    ) -> Meaning:
        """What `said` means: always one of the candidates, whatever the environment's own `parse`
        makes of it.
        """
        if self.lettered and (meaning := self._letter(said)) is not None:
            return meaning
        found = match(said, self.candidates)
        if found.how is MatchKind.EXACT or found.how is MatchKind.WORDS:
            return self._checked(found.action)
        if self.stop and said.strip(" \t\n\"'.!").casefold() in _STOPS:
            return Meaning(stop=True)
        parsed = await parse(said)
        if parsed is not None and parsed in self.candidates:
            return self._checked(next(a for a in self.candidates if a == parsed))
        if found.action is not None:
            return self._checked(found.action)
        ambiguous = found.how is MatchKind.AMBIGUOUS
        return Meaning(problem=Problem.AMBIGUOUS if ambiguous else Problem.UNKNOWN, near=found.near)

    def _letter(self, said: str) -> Meaning | None:
        """By its letter; where words follow the letter and are another one's, these count."""
        if (alone := _ALONE.fullmatch(said)) is not None:
            return self._numbered(alone[1].upper())
        if (leading := _LEADING.fullmatch(said)) is None:
            return None
        found = match(leading[2], self.candidates)
        if found.how is MatchKind.EXACT or found.how is MatchKind.WORDS:
            return self._checked(found.action)
        return self._numbered(leading[1])

    def _numbered(self, letters: str) -> Meaning:
        number = position(letters)
        if number < len(self.allowed):
            return Meaning(self.allowed[number])
        if self.stop and number == len(self.allowed):
            return Meaning(stop=True)
        return Meaning(problem=Problem.UNKNOWN)

    def _checked(self, action: Action | None) -> Meaning:
        if action in self.allowed:
            return Meaning(action)
        return Meaning(problem=Problem.HELD, near=() if action is None else (action,))


def label(number: int) -> str:
    """A to Z, and then AA to ZZ."""
    first, second = divmod(number, 26)
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[second]


def position(letters: str) -> int:
    """The number whose `label` is `letters`."""
    number = 0
    for letter in letters:
        number = 26 * number + ascii_uppercase.index(letter) + 1
    return number - 1
