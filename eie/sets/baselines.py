"""Text-only baselines: how often a set's questions can be answered without images.

They are trained on the train split and scored on the test split. What a model with images reaches
beyond them is due to the images.
"""

from __future__ import annotations

import random
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.examples.example import Example
from inhabit.episodes.scoring.metrics import wilson

_SIZE = 1 << 18
"""Number of weights of the classifier; features are hashed to them."""
_EPOCHS = 4
_RATE = 0.1
_TOGETHER = 256
"""Size of the shuffle buffer, so that a set need not fit into memory."""

Examples = Callable[[], Iterable[Example]]
"""Iterates over the examples of a set from the start, at every call."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Accuracy of one baseline on the test split."""

    name: str
    right: int
    examples: int

    @property
    def accuracy(self) -> float:
        """Share of right answers; 0 without examples."""
        return self.right / self.examples if self.examples else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson confidence interval of the accuracy."""
        return wilson(self.right, self.examples)


@dataclass(frozen=True, slots=True)
class Report:
    """All baselines, and the accuracy of random guessing."""

    chance: float
    """Mean of 1 / number of candidates."""
    baselines: tuple[Baseline, ...]
    """Always the first, the most frequent in training, a bag of words."""


def measure(examples: Examples, seed: int = 0) -> Report | None:
    """Train and score all baselines; None without training or test examples.

    Args:
        examples: of the set.
        seed: of the order of training.
    """
    frequent: Counter[str] = Counter()
    chances, trained = 0.0, 0
    for example in examples():
        if example.split == "train":
            frequent[example.candidates[example.answer]] += 1
            trained += 1
        elif example.split == "test":
            chances += 1 / len(example.candidates)
    tested = sum(example.split == "test" for example in examples())
    if not trained or not tested:
        return None
    words = BagOfWords.trained(examples, seed)
    ways: dict[str, Callable[[Example], int]] = {
        "always the first": lambda example: 0,
        "most frequent in training": lambda example: _first_most(
            [frequent[text] for text in example.candidates]
        ),
        "bag of words, without pictures": words.choose,
    }
    right = Counter(
        name
        for example in examples()
        if example.split == "test"
        for name, choose in ways.items()
        if choose(example) == example.answer
    )
    made = tuple(Baseline(name, right[name], tested) for name in ways)
    return Report(chances / tested, made)


class BagOfWords:
    """Softmax over the candidates; features are words, and pairs of question and candidate words.

    Multinomial logistic regression by Adagrad (Duchi et al. 2011), features hashed.
    """

    def __init__(self) -> None:
        self._weights = np.zeros(_SIZE, np.float64)
        self._squares = np.full(_SIZE, 1e-8, np.float64)

    @classmethod
    def trained(cls, examples: Examples, seed: int) -> BagOfWords:
        """Train on the train split of `examples`."""
        made, rng = cls(), random.Random(f"bag of words {seed}")
        for _ in range(_EPOCHS):
            for example in _shuffled((e for e in examples() if e.split == "train"), rng):
                made._learn(example)
        return made

    def choose(self, example: Example) -> int:
        """Index of the candidate with the highest score; the first of equals."""
        return int(np.argmax(self._scores(_features(example))))

    def _scores(self, features: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
        return np.array([self._weights[found].sum() for found in features])

    def _learn(self, example: Example) -> None:
        features = _features(example)
        scores = self._scores(features)
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        for place, found in enumerate(features):
            slope = shares[place] - (place == example.answer)
            self._squares[found] += slope**2
            self._weights[found] -= _RATE * slope / np.sqrt(self._squares[found])


def _features(example: Example) -> Sequence[NDArray[np.int64]]:
    """The indices of the weights of each candidate."""
    past = " ".join(f"did {past.action}" for past in example.history)
    asked = sorted(set(_words(f"{example.question} {past}")))
    found = []
    for text in example.candidates:
        said = _words(text)
        own = [*said, text.lower(), *(f"{a} {b}" for a, b in pairwise(said))]
        crossed = [f"{a}|{b}" for a in asked for b in said]
        found.append(np.unique([zlib.crc32(f.encode()) % _SIZE for f in (*own, *crossed)]))
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _shuffled(examples: Iterable[Example], rng: random.Random) -> Iterable[Example]:
    waiting: list[Example] = []
    for example in examples:
        waiting.append(example)
        if len(waiting) == _TOGETHER:
            yield waiting.pop(rng.randrange(_TOGETHER))
    rng.shuffle(waiting)
    yield from waiting


def _first_most(counts: Sequence[int]) -> int:
    return max(range(len(counts)), key=lambda place: counts[place])
