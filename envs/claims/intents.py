"""Reads intents from a clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inhabit.envs.claims.claim import Intent, Noun
from inhabit.envs.claims.clauses import Clause
from inhabit.envs.claims.nouns import Mention
from inhabit.envs.claims.words import (
    DETERMINERS,
    DONE,
    NEGATIONS,
    PARTICLE_VERBS,
    PRONOUNS,
    SELF,
    STATES,
    VERBS,
)

_AHEAD = 6
"""Maximum distance in words of the "on" in "switch the lamp on"."""


class Intents:
    """The intents of one clause."""

    def __init__(self, clause: Clause) -> None:
        self._clause = clause
        self._tokens = clause.tokens

    def intents(self) -> Iterator[Intent]:
        """All intents in order; "stop" if the clause says that nothing is left to do."""
        clause = self._clause
        if clause.hypothetical:
            return
        if any(done in clause.words for done in DONE):
            yield Intent(clause.words, "stop", ())
            return
        i = 0
        while i < len(self._tokens):
            verb, length = self._verb(i)
            if verb and self._is_due(i) and not self._denied(i):
                yield self._intent(verb, i, i + length)
            i += max(1, length)

    def _verb(self, i: int) -> tuple[str, int]:
        """The verb at `i` and its number of tokens; empty if there is none."""
        token = self._tokens[i]
        if token in PARTICLE_VERBS:
            for j in range(i + 1, min(i + _AHEAD, len(self._tokens))):
                if self._tokens[j] in ("on", "off"):
                    return f"switch {self._tokens[j]}", j - i + 1 if j == i + 1 else 1
        for length in (2, 1):
            if (found := VERBS.get(self._tokens[i : i + length])) is not None:
                return found, length
        return "", 0

    def _is_due(self, i: int) -> bool:
        """Whether the verb at `i` is an intent, not a state."""
        tokens = self._tokens
        if tokens[i] in STATES and i > 0 and tokens[i - 1] in DETERMINERS:
            return False
        return i >= self._clause.modal or tokens[i].endswith("ing")

    def _denied(self, i: int) -> bool:
        return any(token in NEGATIONS for token in self._tokens[max(0, i - 4) : i])

    def _intent(self, verb: str, start: int, end: int) -> Intent:
        before = [m for m in self._clause.mentions if m.end <= start]
        after = [m for m in self._clause.mentions if m.start >= end]
        subject = self._subject(before, start)
        moves = verb == "go to" and not SELF & set(self._tokens[:start])
        if subject is not None and (moves or self._is_passive(start)):
            nouns = [subject, *(m.noun for m in after[:1])]
            verb = "put" if moves else verb
        else:
            it = self._it(end, after)
            nouns = [*([] if it is None else [it]), *(m.noun for m in after)]
            if not nouns and (it := self._pronoun()) is not None:
                nouns = [it]
        places = 2 if verb == "put" else 1
        return Intent(self._clause.words, verb, tuple(nouns[:places]))

    def _is_passive(self, start: int) -> bool:
        return "be" in self._tokens[max(0, start - 2) : start]

    def _subject(self, before: list[Mention], start: int) -> Noun | None:
        if before:
            return before[0].noun
        return self._pronoun() if not SELF & set(self._tokens[:start]) else None

    def _it(self, end: int, after: list[Mention]) -> Noun | None:
        """The antecedent of a pronoun after the verb."""
        first = after[0].start if after else len(self._tokens)
        if PRONOUNS & set(self._tokens[end : min(first, end + 3)]):
            near = [m.noun for m in self._clause.mentions if m.end <= end]
            return _any_of(near) if near else self._pronoun()
        return None

    def _pronoun(self) -> Noun | None:
        """The antecedent of "it": whichever of the last two nouns fits."""
        topic, other = self._clause.topic, self._clause.other
        near = [noun for noun in (topic, other) if noun is not None]
        return _any_of(near) if near else None


def _any_of(nouns: Sequence[Noun]) -> Noun:
    """Whichever fits; numbers are dropped if several do."""
    if len(nouns) == 1:
        return nouns[0]
    return Noun("it", frozenset().union(*(noun.kinds for noun in nouns)))
