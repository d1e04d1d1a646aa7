"""Matches a free text with a candidate action: the verb and each object separately.

Comparing whole sentences misleads: for a sentence encoder, "shut the cupboard door" is nearer to
"open the cabinet" than to "close the cabinet". So the verb must be the same or a known synonym, and
each object must be named after it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from inhabit.agents.dialogue.synonyms import HELD, is_verb, same_noun, verb_phrases
from inhabit.envs.core import Action

_LONGEST = 80
"""Maximum number of words that are read."""
_SPAN = 4
"""Maximum number of words in a name."""
_ENOUGH = 0.55
"""Lowest score of a match. Each factor below reduces the score, which is at most 1."""
_ANY_NUMBER, _PART, _SYNONYM = 0.97, 0.8, 0.97
_WORD_BEFORE, _WORD_LEFT, _DOUBTS = 0.93, 0.97, 6
"""Factors for an unmatched word before the last object, and after it; at most so many count."""
_SAME_WORDS = 1e-3
"""Bonus for the same function words, such as "in" or "on"."""
_ALIKE = 0.85
"""Lowest similarity (`difflib`) at which two names count as the same one misspelt."""
_WHERE = frozenset({"in", "into", "inside", "on", "onto", "to", "from", "with", "at"})
_AWAY = frozenset({"down", "back", "away"})
"""Words after "put" that are no object."""
_CLAUSE = re.compile(
    r"([,.;:!?\n]|\b(?:so|but|then)\b|(?=\b(?:instead of|rather than)\b))", re.IGNORECASE
)
_DENIAL = re.compile(
    r"(?:\b(?:not|never|cannot|dont|cant|wont|unable|impossible|refuse|instead of|rather than)"
    r"|n['\u2019]t)\b(?! (?:only|forget)\b)",
    re.IGNORECASE,
)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS, 1)}
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
_BEFORE_NUMBER = re.compile(r"\b(?:number|no\.?|nr\.?)\s*(?=\d)")
_SILENT = _WHERE | {"the", "a", "an", "of", "and", "then", "it", "its", "my", "i", "will", "should"}


class MatchKind(StrEnum):
    """How a text was matched."""

    EXACT = "exact"
    """The text is that of a candidate."""
    WORDS = "words"
    """The text is that of a candidate, up to case, articles and punctuation."""
    PARTS = "parts"
    """Verb and objects were found separately."""
    AMBIGUOUS = "ambiguous"
    """The text fits several objects of different names equally well."""
    NOTHING = "nothing"
    """The text fits no candidate."""


@dataclass(frozen=True, slots=True)
class Match:
    """The matched candidate; None for the last two of `MatchKind`."""

    action: Action | None
    how: MatchKind
    near: tuple[Action, ...] = ()
    """The nearest candidates, best first."""


def match(text: str, candidates: Sequence[Action]) -> Match:
    """The one of `candidates` that `text` means.

    Of objects that differ by their number alone ("cabinet_2", "cabinet_3"), a name without a number
    means the first. A name that fits different kinds equally well ("table": a side table, a coffee
    table) means none of them. What a clause denies ("I can't open the fridge") is not meant.
    """
    for action in candidates:
        if action.text == text.strip():
            return Match(action, MatchKind.EXACT)
    plain = _plain(_words(text))
    for action in candidates:
        if plain and _plain(_words(action.text)) == plain:
            return Match(action, MatchKind.WORDS)
    return _by_parts(text, candidates)


def _by_parts(text: str, candidates: Sequence[Action]) -> Match:
    clauses = _CLAUSE.split(text)
    affirmed = [clause for clause in clauses if not _DENIAL.search(clause)]
    said, denied = _Said.of("".join(affirmed)), _Said.of(text)

    def score(action: Action) -> float:
        if not _DENIAL.search(action.text):
            return said.score(action)
        return denied.score(action) if len(affirmed) < len(clauses) else 0.0

    scored = [(score(action), action) for action in candidates]
    best = max((score for score, _ in scored), default=0.0)
    if best <= 0.0:
        return Match(None, MatchKind.NOTHING)
    nearest = sorted(scored, key=lambda pair: -pair[0])
    near = tuple(action for score, action in nearest[:5] if score > 0.0)
    if best < _ENOUGH:
        return Match(None, MatchKind.NOTHING, near)
    equals = [action for score, action in scored if score > best - 1e-9]
    if len({_names(action) for action in equals}) > 1:
        return Match(None, MatchKind.AMBIGUOUS, near)
    return Match(equals[0], MatchKind.PARTS, near)


@dataclass(frozen=True)
class _Said:
    """The words of a text, analyzed once for all candidates."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> _Said:
        plain = " ".join(_DIGITS.get(word, word) for word in text.casefold().split(" "))
        plain = _BEFORE_NUMBER.sub("", plain.replace("thing in hand", "it"))
        return cls(tuple(_words(plain)[:_LONGEST]))

    @cached_property
    def _known(self) -> dict[str, Mapping[int, float]]:
        return {}

    @cached_property
    def _spans(self) -> tuple[tuple[int, str, str], ...]:
        """Each span of words: its start, its letters without spaces, and its number."""
        found = []
        for start in range(len(self.words)):
            for end in range(start + 1, min(start + _SPAN, len(self.words)) + 1):
                letters, number = _name(self.words[start:end])
                number = number or self._ordinal(start)
                rest = self.words[end : end + 1]
                if letters and (number or not rest or not rest[0].isdecimal()):
                    found.append((start, letters, number))
        return tuple(found)

    def _ordinal(self, start: int) -> str:
        """The number of what an ordinal before `start` counts: "the second", "the 2nd"."""
        *_, number, word = ("", "", *self.words[:start])
        if word in _ORDINALS:
            return str(_ORDINALS.index(word) + 1)
        return number if number.isdecimal() and word in ("st", "nd", "rd", "th") else ""

    def score(self, action: Action) -> float:
        """How well the words mean `action`, from 0 to 1."""
        parts = _Parts.of(action)
        found = (
            verb * _WORD_BEFORE ** self._doubts(0, position) * self._objects(parts, position)
            for position, verb in self._verbs(parts.verb)
        )
        if not (best := max(found, default=0.0)):
            return 0.0
        words = _words(action.text)
        return best + _SAME_WORDS * sum(w in self.words for w in words) / len(words)

    def _verbs(self, verb: tuple[str, ...]) -> Iterator[tuple[int, float]]:
        """Positions of the verb, each with a confidence."""
        for phrase, own in verb_phrases(verb) if verb else ():
            for position, word in enumerate(self.words):
                if word == phrase[0] and _in_order(phrase[1:], self.words[position + 1 :]):
                    yield position, 1.0 if own else _SYNONYM

    def _objects(self, parts: _Parts, after: int) -> float:
        """How well all objects are named after the verb, in order."""
        score, position, used = 1.0, after + 1, set(parts.verb)
        for name in parts.objects:
            if name in HELD:
                place = self._next_place(position)
                used.update(self.words[position:place])
                position = place
                continue
            places = self._places(name)
            here = {p: s for p, s in places.items() if p >= position}
            if not here:
                return 0.0
            first = max(here, key=lambda p: (here[p], -p))
            score *= here[first]
            position = first + 1
            used.update(_words(name))
        score *= _WORD_BEFORE ** self._doubts(after + 1, position, used)
        return score * _WORD_LEFT ** self._doubts(position, len(self.words), used)

    def _doubts(self, start: int, end: int, used: Set[str] = frozenset()) -> int:
        """Number of content words from `start` to `end` that are not `used`."""
        rest = (w for w in self.words[start:end] if w not in used and w not in _SILENT)
        return min(_DOUBTS, sum(1 for _ in rest))

    def _next_place(self, position: int) -> int:
        """Position of the next preposition, after the held object was named. Without a
        preposition the first word is the held object: "put(mug, fridge)".
        """
        rest = range(position, len(self.words))
        held = (p + 1 for p in rest if self.words[p] not in _SILENT | _AWAY)
        return next((p for p in rest if self.words[p] in _WHERE), next(held, position))

    def _places(self, name: str) -> Mapping[int, float]:
        """Positions where `name` is mentioned, each with a confidence."""
        if name not in self._known:
            letters, number = _name(_words(name))
            places: dict[int, float] = {}
            for start, said, said_number in self._spans:
                sure = _alike(letters, said) * _numbered(number, said_number)
                if sure > places.get(start, 0.0):
                    places[start] = sure
            self._known[name] = places
        return self._known[name]


@dataclass(frozen=True, slots=True)
class _Parts:
    """A candidate's verb and the names of its objects, in the order of its words."""

    verb: tuple[str, ...]
    objects: tuple[str, ...]

    @classmethod
    def of(cls, action: Action) -> _Parts:
        """Split an action: its objects are its arguments if its text has them after a verb, and
        otherwise all words after the verb.
        """
        text = action.text
        pairs = sorted((text.find(argument), argument) for argument in action.arguments)
        if pairs and (verb := _plain(_words(text[: max(0, pairs[0][0])]))):
            return cls(verb, tuple(name for _, name in pairs))
        words = tuple(word for word in _plain(_words(text)) if word not in HELD)
        if is_verb(words):
            return cls(words, ())
        return cls(words[:1], (" ".join(words[1:]),) if words[1:] else ())


def _names(action: Action) -> tuple[tuple[str, ...], ...]:
    """The names of an action's objects, without numbers."""
    return tuple((_name(_words(name))[0],) for name in _Parts.of(action).objects)


def _words(text: str) -> list[str]:
    """Lower-case words, with numbers separate: "Mug_2" is two words."""
    return re.findall(r"[^\W\d_]+|\d+", text.casefold())


def _plain(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(w for w in words if w not in ("the", "a", "an"))


def _name(words: Sequence[str]) -> tuple[str, str]:
    """The letters without spaces ("counter top" is "countertop"), and the number at the end."""
    number = words[-1] if words and words[-1].isdecimal() else ""
    letters = words[:-1] if number else words
    return ("".join(letters), number) if not any(w.isdecimal() for w in letters) else ("", "")


def _numbered(number: str, said: str) -> float:
    """Confidence that two numbers mean the same; none means the first of its kind."""
    if number == said:
        return 1.0
    if not said:
        return _ANY_NUMBER
    return _ANY_NUMBER if (number or "1") == (said or "1") else 0.0


def _alike(name: str, said: str) -> float:
    """Confidence that two names, letters alone, mean the same kind of object."""
    if name == said:
        return 1.0
    if not name:
        return 0.0
    if same_noun(name, said):
        return _SYNONYM
    if len(said) > 2 and said != "room" and name.endswith(said):  # "room" is in "bedroom".
        return _PART
    if name[0] != said[0] or abs(len(name) - len(said)) > 2 or min(len(name), len(said)) < 4:
        return 0.0
    ratio = difflib.SequenceMatcher(None, name, said, autojunk=False).ratio()
    return _PART * ratio if ratio >= _ALIKE else 0.0


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in wanted)
