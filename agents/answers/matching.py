"""Which of the candidates a model's own words mean: verb and objects are looked for apart.

Whole sentences compared with one another mislead: "shut the cupboard door" is nearer to "open the
cabinet" than to "close the cabinet" for a sentence encoder. So the verb has to be the same, or a
known synonym, and each object has to be named after it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from inhabit.agents.answers.synonyms import HELD, is_verb, same_noun, verb_phrases
from inhabit.envs.core import Action

_LONGEST = 80
"""Words that are looked at; whoever has not named an action by then is not naming one."""
_SPAN = 4
"""Words that a name has at the most."""
_ENOUGH = 0.55
"""The score from which on words mean a candidate. Each doubt below takes off a share of 1."""
_ANY_NUMBER, _PART, _SYNONYM = 0.97, 0.8, 0.97
_WORD_BEFORE, _WORD_LEFT, _DOUBTS = 0.93, 0.97, 6
"""For a word before the verb, or one after it that nothing stands for; so many at the most."""
_SAME_WORDS = 1e-3
"""What a candidate gains whose little words are those that were said, as in "in" and "on"."""
_ALIKE = 0.85
"""How alike the letters of two names must be (`difflib`) to be the same one misspelt."""
_WHERE = frozenset({"in", "into", "inside", "on", "onto", "to", "from", "with", "at"})
_SILENT = _WHERE | {"the", "a", "an", "of", "and", "then", "it", "its", "my", "i", "will", "should"}


class MatchKind(StrEnum):
    """How words were understood."""

    EXACT = "exact"
    """They are a candidate's text."""
    WORDS = "words"
    """They are but for case, articles and punctuation."""
    PARTS = "parts"
    """Verb and objects, each found by itself."""
    AMBIGUOUS = "ambiguous"
    """They fit several things of different names alike."""
    NOTHING = "nothing"
    """They fit no candidate."""


@dataclass(frozen=True, slots=True)
class Match:
    """What words mean: a candidate or, with the last two of `MatchKind`, none."""

    action: Action | None
    how: MatchKind
    near: tuple[Action, ...] = ()
    """Some that were nearly meant, for whoever asks again."""


def match(text: str, candidates: Sequence[Action]) -> Match:
    """The one of `candidates` that `text` means.

    Of things that differ by their number alone ("cabinet_2", "cabinet_3"), words without a number
    mean the first. Words that fit things of different names alike ("table": a side table, a coffee
    table) mean none of them.
    """
    for action in candidates:
        if action.text == text.strip():
            return Match(action, MatchKind.EXACT)
    words = _words(text)[:_LONGEST]
    plain = _plain(words)
    for action in candidates:
        if plain and _plain(_words(action.text)) == plain:
            return Match(action, MatchKind.WORDS)
    return _by_parts(_Said(tuple(words)), candidates)


def _by_parts(said: _Said, candidates: Sequence[Action]) -> Match:
    scored = [(said.score(action), action) for action in candidates]
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
    """The words of a model, taken apart once for all candidates."""

    words: tuple[str, ...]

    @cached_property
    def _known(self) -> dict[str, Mapping[int, float]]:
        return {}

    @cached_property
    def _spans(self) -> tuple[tuple[int, str, str], ...]:
        """Where each run of words begins, with its letters run together, and its number."""
        found = []
        for start in range(len(self.words)):
            for end in range(start + 1, min(start + _SPAN, len(self.words)) + 1):
                letters, number = _name(self.words[start:end])
                rest = self.words[end : end + 1]
                if letters and (number or not rest or not rest[0].isdecimal()):
                    found.append((start, letters, number))
        return tuple(found)

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
        """Where the verb stands, and how surely it is that one."""
        for phrase, own in verb_phrases(verb) if verb else ():
            for position, word in enumerate(self.words):
                if word == phrase[0] and _in_order(phrase[1:], self.words[position + 1 :]):
                    yield position, 1.0 if own else _SYNONYM

    def _objects(self, parts: _Parts, after: int) -> float:
        """How well every object is named after the verb, one after the other."""
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
        return score * _WORD_LEFT ** self._doubts(after + 1, len(self.words), used)

    def _doubts(self, start: int, end: int, used: Set[str] = frozenset()) -> int:
        """How many words from `start` to `end` say something that isn't `used`."""
        rest = (w for w in self.words[start:end] if w not in used and w not in _SILENT)
        return min(_DOUBTS, sum(1 for _ in rest))

    def _next_place(self, position: int) -> int:
        """Where it is said in or on what, after the thing in hand was named; or `position`."""
        rest = range(position, len(self.words))
        return next((p for p in rest if self.words[p] in _WHERE), position)

    def _places(self, name: str) -> Mapping[int, float]:
        """Where `name` is named, and how surely."""
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
        """Its arguments are its objects, where its text has them after a verb; else all but the
        first word, or but the verb.
        """
        text = action.text
        pairs = sorted((text.find(argument), argument) for argument in action.arguments)
        if pairs and (verb := _plain(_words(text[: max(0, pairs[0][0])]))):
            return cls(verb, tuple(name for _, name in pairs))
        words = _plain(_words(text))
        if is_verb(words):
            return cls(words, ())
        return cls(words[:1], (" ".join(words[1:]),) if words[1:] else ())


def _names(action: Action) -> tuple[tuple[str, ...], ...]:
    """What an action is about, but for numbers."""
    return tuple((_name(_words(name))[0],) for name in _Parts.of(action).objects)


def _words(text: str) -> list[str]:
    """Letters and numbers apart, in lower case: "Mug_2" is two words."""
    return re.findall(r"[^\W\d_]+|\d+", text.casefold())


def _plain(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(w for w in words if w not in ("the", "a", "an"))


def _name(words: Sequence[str]) -> tuple[str, str]:
    """Letters run together ("counter top" is "countertop"), and the number at the end, if any."""
    number = words[-1] if words and words[-1].isdecimal() else ""
    letters = words[:-1] if number else words
    return ("".join(letters), number) if not any(w.isdecimal() for w in letters) else ("", "")


def _numbered(number: str, said: str) -> float:
    """A thing without a number is the first of its kind."""
    if number == said:
        return 1.0
    if not said:
        return _ANY_NUMBER
    return _ANY_NUMBER if (number or "1") == (said or "1") else 0.0


def _alike(name: str, said: str) -> float:
    """How surely two names, letters alone, are of the same kind of thing."""
    if name == said:
        return 1.0
    if not name:
        return 0.0
    if same_noun(name, said):
        return _SYNONYM
    if len(said) > 2 and name.endswith(said):
        return _PART
    if name[0] != said[0] or abs(len(name) - len(said)) > 2 or min(len(name), len(said)) < 4:
        return 0.0
    ratio = difflib.SequenceMatcher(None, name, said, autojunk=False).ratio()
    return _PART * ratio if ratio >= _ALIKE else 0.0


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(word in rest for word in wanted)
