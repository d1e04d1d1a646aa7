"""Finds the nouns of a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from inhabit.envs.claims.claim import Noun
from inhabit.envs.claims.words import SYNONYMS

_LONGEST = 3
"""Maximum number of words of a name."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun and its position: tokens `start` to `end`, exclusive."""

    noun: Noun
    start: int
    end: int


class Nouns:
    """The names of a set of kinds, with plurals and synonyms."""

    def __init__(self, kinds: Iterable[str]) -> None:
        """Know `kinds`, such as "coffee table"."""
        self._kinds: dict[str, frozenset[str]] = {}
        exact: dict[str, set[str]] = {}
        loose: dict[str, set[str]] = {}
        for kind in sorted(set(kinds)):
            words = kind.lower().replace("_", " ").split()
            whole = "".join(words)
            exact.setdefault(whole, set()).add(kind)
            for group in SYNONYMS:
                if whole in group:
                    for name in group - {whole}:
                        loose.setdefault(name, set()).add(kind)
            for start in range(1, len(words)):
                loose.setdefault("".join(words[start:]), set()).add(kind)
        for name, found in [*loose.items(), *exact.items()]:  # A kind's own name takes precedence.
            self._kinds[name] = frozenset(found)

    def mentions(self, tokens: Sequence[str]) -> tuple[Mention, ...]:
        """Every noun in `tokens`; of several at one token the longest."""
        found: list[Mention] = []
        i = 0
        while i < len(tokens):
            mention = self._at(tokens, i)
            if mention is not None:
                found.append(mention)
            i = i + 1 if mention is None else mention.end
        return tuple(found)

    def _at(self, tokens: Sequence[str], start: int) -> Mention | None:
        for end in range(min(len(tokens), start + _LONGEST), start, -1):
            if not all(map(str.isalpha, tokens[start:end])):
                continue
            said = "".join(tokens[start:end])
            kinds = next((self._kinds[n] for n in _singulars(said) if n in self._kinds), None)
            if kinds is None:
                continue
            number = tokens[end] if end < len(tokens) and tokens[end].isdecimal() else ""
            noun = Noun(" ".join(tokens[start:end]), kinds, number)
            return Mention(noun, start, end + bool(number))
        return None


def _singulars(said: str) -> Iterable[str]:
    yield said
    if len(said) > 3 and said.endswith("s"):
        yield said[:-1]
    if len(said) > 4 and said.endswith("es"):
        yield said[:-2]
    if len(said) > 4 and said.endswith("ves"):
        yield said[:-3] + "f"
        yield said[:-3] + "fe"
    if len(said) > 4 and said.endswith("ies"):
        yield said[:-3] + "y"
