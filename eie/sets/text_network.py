"""A small neural text model, for a blind baseline: embedded words and one hidden layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.examples.example import Example
from inhabit.eie.sets.text_features import asked, numbered

_WORDS, _WIDTH, _HIDDEN = 2048, 24, 32
"""Number of embedded words (words are hashed to them), their width, and hidden units."""
_EPOCHS, _BATCH, _RATE = 12, 16, 0.01

Array = NDArray[np.float64]


class TextNetwork:
    """Scores candidates by the embeddings of their words, of the question's and of both together.

    Trained with Adam (Kingma and Ba 2015).
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._all: list[Array] = [
            rng.normal(0, 0.3, (_WORDS, _WIDTH)),
            rng.normal(0, 0.3, (_WORDS, _WIDTH)),
            rng.normal(0, 0.2, (3 * _WIDTH, _HIDDEN)),
            np.zeros(_HIDDEN),
            rng.normal(0, 0.2, _HIDDEN),
        ]
        self._rng = rng

    @classmethod
    def trained(cls, examples: Sequence[Example], seed: int) -> TextNetwork:
        """Train on examples."""
        made = cls(seed)
        read = [_read(example) for example in examples]
        answers = [example.answer for example in examples]
        first, second = ([np.zeros_like(p) for p in made._all] for _ in range(2))
        step = 0
        for _ in range(_EPOCHS):
            order = made._rng.permutation(len(read))
            for begin in range(0, len(order), _BATCH):
                slopes = [np.zeros_like(p) for p in made._all]
                for number in order[begin : begin + _BATCH]:
                    question, candidates = read[number]
                    made._add_slopes(slopes, question, candidates, answers[number])
                step += 1
                for p, slope, m, v in zip(made._all, slopes, first, second, strict=True):
                    m += 0.1 * (slope - m)
                    v += 0.001 * (slope**2 - v)
                    scale = np.sqrt(v / (1 - 0.999**step)) + 1e-8
                    p -= _RATE * (m / (1 - 0.9**step)) / scale
        return made

    def choose(self, example: Example) -> int:
        """Index of the candidate with the highest score."""
        return int(np.argmax(self._scored(*_read(example))[0]))

    def _scored(
        self, question: list[int], candidates: list[list[int]]
    ) -> tuple[Array, Array, Array, Array]:
        asks, says, inner, bias, outer = self._all
        q = asks[question].mean(axis=0)
        c = np.array([says[words].mean(axis=0) for words in candidates])
        joined = np.concatenate([c, c - c.mean(axis=0), q * c], axis=1)
        hidden = np.maximum(0, joined @ inner + bias)
        return hidden @ outer, hidden, joined, c

    def _add_slopes(
        self, slopes: list[Array], question: list[int], candidates: list[list[int]], answer: int
    ) -> None:
        asks, _, inner, _, outer = self._all
        scores, hidden, joined, c = self._scored(question, candidates)
        wrong = np.exp(scores - scores.max())
        wrong /= wrong.sum()
        wrong[answer] -= 1
        slopes[4] += wrong @ hidden
        before = np.outer(wrong, outer) * (hidden > 0)
        slopes[2] += joined.T @ before
        slopes[3] += before.sum(axis=0)
        own, apart, both = np.split(before @ inner.T, 3, axis=1)
        q = asks[question].mean(axis=0)
        np.add.at(slopes[0], question, (both * c).sum(axis=0) / len(question))
        each = own + apart - apart.mean(axis=0) + both * q
        for words, slope in zip(candidates, each, strict=True):
            np.add.at(slopes[1], words, slope / len(words))


def _read(example: Example) -> tuple[list[int], list[list[int]]]:
    question, *candidates = numbered([asked(example), *example.candidates], _WORDS)
    return question or [0], [words or [0] for words in candidates]
