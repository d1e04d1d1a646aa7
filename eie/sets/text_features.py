"""Features of candidates from texts alone, for blind baselines."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from inhabit.eie.examples.example import Example

_NOUN = re.compile(r"\bthe ([a-z][a-z_ ]*?)(?=_?\d*(?:$| (?:in|on|to|with|from|at)\b))")


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[a-z0-9']+", text.lower())


def asked(example: Example) -> str:
    """All words that are equal for every candidate: question and history."""
    past = " ".join(f"did {past.action}" for past in example.history)
    return f"{example.question} {past}"


def bag_of_words(example: Example) -> list[Mapping[str, float]]:
    """Words and pairs of words of each candidate, beside the words of the question."""
    about = sorted(set(words(asked(example))))
    found: list[Mapping[str, float]] = []
    for text in example.candidates:
        said = words(text)
        own = {*said, f"= {text.lower()}", *(f"{a} {b}" for a, b in pairwise(said))}
        crossed = {f"{a}|{b}" for a in about for b in said}
        found.append(dict.fromkeys(sorted(own | crossed), 1.0))
    return found


class TfIdf:
    """Words of candidates crossed with words and pairs of words of questions, by tf-idf."""

    def __init__(self, examples: Iterable[Example]) -> None:
        """Count in how many questions and candidates each word occurs."""
        self._count: Counter[str] = Counter()
        self._texts = 0
        for example in examples:
            self._texts += 1
            self._count.update(set(words(" ".join((asked(example), *example.candidates)))))

    def features(self, example: Example) -> list[Mapping[str, float]]:
        """Values of unit length for each candidate."""
        about = words(asked(example))
        terms = sorted({*about, *(f"{a} {b}" for a, b in pairwise(about))})
        heavy = sorted(terms, key=lambda term: -self._weight(term))[:24]
        found: list[Mapping[str, float]] = []
        for text in example.candidates:
            said = {f"= {text.lower()}": 1.0, **{w: self._weight(w) for w in set(words(text))}}
            values = {w: said[w] for w in sorted(said)}
            for a in heavy:
                for b in sorted(said):
                    values[f"{a}|{b}"] = self._weight(a) * said[b]
            length = math.sqrt(sum(v * v for v in values.values())) or 1.0
            found.append({name: value / length for name, value in values.items()})
        return found

    def _weight(self, term: str) -> float:
        rarest = min((self._count[word] for word in term.split()), default=0)
        return math.log((1 + self._texts) / (1 + rarest))


def roles(example: Example) -> list[Mapping[str, float]]:
    """The verb of each candidate with the role that its noun plays in the goal and elsewhere."""
    parsed = [_parse(text) for text in example.candidates]
    goal, question = example.goal.lower(), asked(example).lower()
    rest = question.replace(goal, " ")
    last = _parse(example.history[-1].action)[0] if example.history else "nothing"
    found: list[Mapping[str, float]] = []
    for verb, noun in parsed:
        beside = sorted(v for v, n in parsed if n == noun and v != verb)
        role = _role(noun, goal)
        tokens = {
            f"verb {verb}",
            f"role {role}",
            f"{verb}|{role}",
            f"{verb}|{role}|told {noun in rest}",
            f"{verb}|beside {' '.join(beside)}",
            f"{verb}|{role}|beside {' '.join(beside)}",
            f"{verb}|alone {sum(v == verb for v, _ in parsed)}",
            f"{verb}|after {last}",
            f"{verb}|kind {example.kind}",
            f"all {' '.join(sorted(v for v, _ in parsed))}|{verb}",
            f"all {' '.join(sorted(v for v, _ in parsed))}|{verb}|{role}",
        }
        found.append(dict.fromkeys(sorted(tokens), 1.0))
    return found


def _parse(text: str) -> tuple[str, str]:
    """The verb of an action, and its last noun."""
    text = text.lower()
    nouns = _NOUN.findall(text)
    verb = text.split(" the ")[0].strip()
    return verb, nouns[-1].strip() if nouns else ""


def _role(noun: str, goal: str) -> str:
    """Where the goal speaks of a noun: not at all, as the place, first, or later."""
    at = goal.find(noun) if noun else -1
    if at < 0:
        return "absent"
    if re.search(r"\b(?:in|on|to|into|onto|at|by)\b(?: \w+){0,2} $", goal[:at]):
        return "place"
    return "first" if at < len(goal) / 2 else "later"


def numbered(texts: Sequence[str], size: int) -> list[list[int]]:
    """Words as numbers below `size`, by a hash that does not depend on the process."""
    return [[zlib.crc32(word.encode()) % size for word in words(text)] for text in texts]
