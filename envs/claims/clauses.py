"""Splits a text into clauses, with their nouns and the antecedent of "it"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from inhabit.envs.claims.claim import Noun
from inhabit.envs.claims.words import (
    ACTORS,
    BREAKS,
    DETERMINERS,
    HYPOTHETICAL,
    LEADS,
    MODALS,
    PARTICLE_VERBS,
    PRONOUNS,
    STATES,
    SYNONYMS,
    TOLD,
    VERBS,
)

_LONGEST_NAME = 3
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
        for end in range(min(len(tokens), start + _LONGEST_NAME), start, -1):
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


_LONGEST = 4000
"""Maximum number of characters of a text that are read."""
_SHORT_FORMS = (
    (re.compile(r"\bcan'?t\b|\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(there|it|that|here|what|he|she)'s\b"), r"\1 is"),
    (re.compile(r"'m\b"), " am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'s\b"), ""),
    (re.compile(r"(\w)-(?=\w)"), r"\1 "),
)
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[.,;:!?()\n]")
_STOPS = frozenset(".,;:!?()\n")
_LINKS = frozenset({"is", "are", "was", "has", "needs", "stands", "lies", "can", "must", "have"})


@dataclass(frozen=True, slots=True)
class Clause:
    """Words with at most one predicate."""

    tokens: tuple[str, ...]
    mentions: tuple[Mention, ...]
    topic: Noun | None
    """The antecedent of "it", and the subject if the clause names none."""
    other: Noun | None
    """Another noun mentioned before."""
    hypothetical: bool
    """The clause states no fact: "before the mug is clean"."""
    modal: int
    """Index of the first token that states an intent; the number of tokens if none does."""

    @property
    def words(self) -> str:
        """The clause as text."""
        return " ".join(self.tokens)


def clauses(text: str, nouns: Nouns) -> Iterator[Clause]:
    """The clauses of `text` in order."""
    topic: Noun | None = None
    other: Noun | None = None
    for tokens, hypothetical in _split(_tokens(text)):
        mentions = nouns.mentions(tokens)
        yield Clause(tokens, mentions, topic, other, hypothetical, _modal(tokens))
        for mention in reversed(mentions):
            if mention.noun != topic:
                topic, other = mention.noun, topic


def _tokens(text: str) -> list[str]:
    text = text[:_LONGEST].lower().replace("\u2019", "'")
    for pattern, replacement in _SHORT_FORMS:
        text = pattern.sub(replacement, text)
    return _TOKEN.findall(text)


def _split(tokens: Sequence[str]) -> Iterator[tuple[tuple[str, ...], bool]]:
    clause: list[str] = []
    hypothetical = False
    for i, token in enumerate(tokens):
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        breaks = token in BREAKS | HYPOTHETICAL or (token == "that" and after in _LINKS)
        if not breaks and token not in _STOPS:
            clause.append(token)
            continue
        if clause:
            yield tuple(clause), hypothetical
        clause = []
        hypothetical = token in HYPOTHETICAL or (token == "so" and after == "that")
    if clause:
        yield tuple(clause), hypothetical


def _modal(tokens: Sequence[str]) -> int:
    """Index where an intent begins."""
    if (order := _order(tokens)) is not None:
        return order
    for i, token in enumerate(tokens):
        following = tokens[i + 1 : i + 3]
        seeing = token in ("can", "could") and "see" in following
        if token in MODALS and not seeing:
            return i
        if token == "to" and following and _is_verb(following):
            return max(0, i - 1) if tokens[i - 1] in ("have", "has", "had") else i
    return len(tokens)


def _order(tokens: Sequence[str]) -> int | None:
    """Index where an imperative begins: "now open it" or "I open it", but not "open fridge"."""
    leads = LEADS | ACTORS
    start = next((i for i, token in enumerate(tokens) if token not in leads), len(tokens))
    verb, after = tuple(tokens[start : start + 1]), tokens[start + 1 : start + 2]
    known = verb in VERBS or tuple(tokens[start : start + 2]) in VERBS
    if not known and not PARTICLE_VERBS & set(verb):
        return None
    told = bool(ACTORS & set(tokens[:start]))
    if told and verb[0] in TOLD:
        return None
    is_state = verb[0] in STATES and not told and not (DETERMINERS | PRONOUNS) & set(after)
    return None if is_state or verb[0].endswith(("ing", "ed")) else start


def _is_verb(tokens: Sequence[str]) -> bool:
    return tokens[0] == "be" or tuple(tokens[:1]) in VERBS or tuple(tokens[:2]) in VERBS
