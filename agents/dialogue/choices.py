"""The actions that a model may choose at one step: how a prompt lists them, what a reply means."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_uppercase

from pydantic import JsonValue

from inhabit.agents.core import STOP, View
from inhabit.agents.dialogue.history import without_failed
from inhabit.agents.dialogue.matching import MatchKind, match
from inhabit.envs.core import Action

_STOPS = frozenset({STOP, "done", "finish", "finished"})
_ALONE = re.compile(
    r"\W*(?i:(?:the |my )?(?:answer|action|choice|option)(?: is)?\W+)?([A-Za-z]|[A-Z]{2})\W*"
)
_LEADING = re.compile(r"\W*([A-Z]{1,2})\s*[.):]\s*(.+)", re.DOTALL)


class Problem(StrEnum):
    """Why a text names no action that may be chosen."""

    NO_ACTION = "no_action"
    """The text contains no action."""
    CUT_OFF = "cut_off"
    """The text ended at the limit of tokens before an action."""
    UNKNOWN = "unknown"
    """The text matches no candidate."""
    AMBIGUOUS = "ambiguous"
    """The text matches several candidates."""
    HELD = "held"
    """The action has just failed, and nothing has changed since."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """The interpretation of a text: an action, a stop, or a problem."""

    action: Action | None = None
    """The action meant. With `Problem.HELD` too: it is done if the model, asked again, insists."""
    stop: bool = False
    problem: Problem | None = None
    near: tuple[Action, ...] = ()
    """Candidates nearest to the text, for a problem."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The candidates of one step, without those that have just failed."""

    candidates: tuple[Action, ...]
    allowed: tuple[Action, ...]
    lettered: bool
    """Whether a model answers with a letter."""
    listed: bool
    """Whether the prompt lists the candidates."""
    stop: bool
    """Whether the model may end the episode."""

    @classmethod
    def of(cls, view: View, *, lettered: bool, most: int, stop: bool) -> Choices:
        """The choices of `view`; more than `most` are not listed, and so have no letters.

        Where "stop" is an action, it does not end the episode.
        """
        allowed = without_failed(view)
        stop = stop and all(action.text.casefold() != STOP for action in view.candidates)
        listed = len(allowed) <= most
        return cls(view.candidates, allowed, lettered and listed, listed, stop)

    @property
    def lines(self) -> Sequence[str]:
        """One line for each choice, as a prompt lists them."""
        texts = [a.text for a in self.allowed] + [STOP] * self.stop
        if not self.lettered:
            return texts
        return [f"{label(i)}. {text}" for i, text in enumerate(texts)]

    @property
    def examples(self) -> Sequence[str]:
        """One choice for each verb, for when there are too many to list."""
        first = {action.verb: action.text for action in reversed(self.allowed)}
        return [*reversed(first.values()), *([STOP] * self.stop)]

    @property
    def answers(self) -> Sequence[str] | None:
        """All values that the action of a reply may have; None if they are not listed."""
        if not self.listed:
            return None
        if self.lettered:
            return [label(i) for i in range(len(self.allowed) + self.stop)]
        return self.lines

    def schema(self, parts: Sequence[str], most: int = 1) -> Mapping[str, JsonValue]:
        """JSON schema of a reply with the texts `parts`, and then an action.

        If there may be up to `most` actions, they are any texts: what can be done later is not
        known yet.
        """
        if most > 1:
            several: JsonValue = {"type": "array", "items": {"type": "string"}}
            return _object(parts, "actions", several)
        action: dict[str, JsonValue] = {"type": "string"}
        if self.answers is not None:
            action["enum"] = list(self.answers)
        return _object(parts, "action", action)

    def understand(self, said: str, parsed: Action | None) -> Meaning:
        """Interpret `said`, which the environment understands as `parsed`. An action is always one
        of the candidates, even where `parsed` is another one.
        """
        if self.lettered and (meaning := self._letter(said)) is not None:
            return meaning
        found = match(said, self.candidates)
        if found.how is MatchKind.EXACT or found.how is MatchKind.WORDS:
            return self._checked(found.action)
        if self.stop and said.strip(" \t\n\"'.!").casefold() in _STOPS:
            return Meaning(stop=True)
        if parsed in self.candidates:
            return self._checked(next(a for a in self.candidates if a == parsed))
        if found.action is not None:
            return self._checked(found.action)
        ambiguous = found.how is MatchKind.AMBIGUOUS
        return Meaning(problem=Problem.AMBIGUOUS if ambiguous else Problem.UNKNOWN, near=found.near)

    def _letter(self, said: str) -> Meaning | None:
        """Interpret a letter; words after it count instead if they match another candidate."""
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
        return Meaning(action, problem=Problem.HELD, near=() if action is None else (action,))


def _object(parts: Sequence[str], last: str, schema: JsonValue) -> Mapping[str, JsonValue]:
    words: JsonValue = {"type": "string"}
    return {
        "type": "object",
        "properties": {**dict.fromkeys(parts, words), last: schema},
        "required": [*parts, last],
        "additionalProperties": False,
    }


def label(number: int) -> str:
    """The letters of a choice: A to Z, then AA to ZZ."""
    first, second = divmod(number, 26)
    return (ascii_uppercase[first - 1] if first else "") + ascii_uppercase[second]


def position(letters: str) -> int:
    """The index of a choice: the inverse of `label`."""
    number = 0
    for letter in letters:
        number = 26 * number + ascii_uppercase.index(letter) + 1
    return number - 1
