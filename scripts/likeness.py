"""How much the texts of a set resemble those of people, by three plain measures."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline, make_union

SAMPLE = 200
"""Number of texts that self-BLEU compares; it rises with this number."""
_ORDER = 4
_EPSILON = 0.1
"""Matches that count where an n-gram order has none (NLTK's smoothing method 1)."""
_FOLDS = 5
_GRAMS = (3, 4)
"""Lengths of the character n-grams among the classifier's features."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """The measures of a set's texts, and the same of people's."""

    texts: int
    """Number of texts that were compared, of either side."""
    self_bleu: float
    self_bleu_of_people: float
    vocabulary: int
    vocabulary_of_people: int
    told_apart: float
    """Accuracy of a classifier on texts that it was not trained on; 0.5 is chance."""


def compare(ours: Sequence[str], people: Sequence[str], seed: int = 0) -> Likeness:
    """Compare texts, one for each task, with those of people; the order does not matter.

    Equally many texts of both sides are taken at random.
    """
    rng = random.Random(f"likeness {seed}")
    count = min(len(ours), len(people))
    mine, theirs = rng.sample(list(ours), count), rng.sample(list(people), count)
    return Likeness(
        count,
        self_bleu(mine),
        self_bleu(theirs),
        len(vocabulary(mine)),
        len(vocabulary(theirs)),
        told_apart(mine, theirs, seed),
    )


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    return re.findall(r"[a-z0-9]+(?:['-][a-z0-9]+)*", text.lower())


def vocabulary(texts: Sequence[str]) -> set[str]:
    """All different words."""
    return {word for text in texts for word in words(text)}


def self_bleu(texts: Sequence[str]) -> float:
    """The mean BLEU-4 of each of the first `SAMPLE` texts against all others of them.

    As in Texygen (Zhu et al. 2018), with uniform weights and smoothing method 1 of NLTK. Words are
    lower-cased, punctuation is left out. 0 with fewer than two texts.
    """
    split = [words(text) for text in texts[:SAMPLE]]
    split = [one for one in split if one]
    if len(split) < 2:
        return 0.0
    counts = [[_grams(one, n) for n in range(1, _ORDER + 1)] for one in split]
    most = [_two_highest(counts, n) for n in range(_ORDER)]
    scores = []
    for at, one in enumerate(split):
        logs = 0.0
        for n in range(_ORDER):
            found = counts[at][n]
            total = sum(found.values())
            matched = sum(min(k, _without(most[n][gram], found[gram])) for gram, k in found.items())
            logs += math.log(max(matched, _EPSILON) / max(total, 1))
        nearest = min(
            (len(other) for i, other in enumerate(split) if i != at),
            key=lambda length: (abs(length - len(one)), length),
        )
        penalty = min(0.0, 1 - nearest / len(one))
        scores.append(math.exp(penalty + logs / _ORDER))
    return sum(scores) / len(scores)


def _grams(said: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(said[i : i + n]) for i in range(len(said) - n + 1))


def _two_highest(
    counts: Sequence[Sequence[Counter[tuple[str, ...]]]], n: int
) -> dict[tuple[str, ...], tuple[int, int]]:
    """N-gram -> the two highest counts in one text, so that a text can be left out."""
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    for one in counts:
        for gram, k in one[n].items():
            first, second = found.get(gram, (0, 0))
            found[gram] = (k, first) if k > first else (first, max(second, k))
    return found


def _without(highest: tuple[int, int], own: int) -> int:
    """The highest count in the other texts."""
    return highest[1] if own == highest[0] else highest[0]


def told_apart(ours: Sequence[str], people: Sequence[str], seed: int = 0) -> float:
    """Accuracy of a logistic regression that tells `ours` from `people`, by cross-validation.

    Features are words, pairs of words, and character n-grams; lower case, without punctuation.
    Equal texts are always in the same fold. Every figure is of texts that were not trained on.

    Raises:
        ValueError: there are fewer different texts than folds.
    """
    texts = [" ".join(words(text)) for text in (*ours, *people)]
    labels = np.repeat([0, 1], [len(ours), len(people)])
    if len(set(texts)) < _FOLDS:
        raise ValueError(f"{len(set(texts))} different texts can't be told apart: {_FOLDS} or more")
    features = make_union(
        CountVectorizer(ngram_range=(1, 2), binary=True, token_pattern=r"\S+"),
        CountVectorizer(analyzer="char_wb", ngram_range=_GRAMS, binary=True),
    )
    folds = GroupKFold(_FOLDS, shuffle=True, random_state=seed)
    model = make_pipeline(features, LogisticRegression(solver="liblinear"))
    found = cross_val_predict(model, texts, labels, groups=texts, cv=folds)
    return float((found == labels).mean())
