"""A small neural text model, for a blind baseline: words of a candidate and of the question."""

from __future__ import annotations

from collections.abc import Sequence
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.neural_network import MLPClassifier

from inhabit.eie.examples.example import Example
from inhabit.eie.sets.text_features import asked, words

_WORDS, _HIDDEN, _EPOCHS, _BATCH, _RATE = 2048, 32, 12, 64, 0.005


class TextNetwork:
    """Says of a candidate whether it is right, from its words beside those of the question."""

    def __init__(self, examples: Sequence[Example], seed: int) -> None:
        """Train on examples."""
        self._hash = HashingVectorizer(
            analyzer=words, n_features=_WORDS, alternate_sign=False, norm="l2"
        )
        right = [place == e.answer for e in examples for place in range(len(e.candidates))]
        self._network = MLPClassifier(
            _HIDDEN,
            max_iter=_EPOCHS,
            learning_rate_init=_RATE,
            batch_size=min(_BATCH, len(right)),
            random_state=seed,
        )
        with catch_warnings():
            # So many passes are meant.
            simplefilter("ignore", ConvergenceWarning)
            self._network.fit(self._read(examples), right)

    def choices(self, examples: Sequence[Example]) -> list[int]:
        """The index of the likeliest candidate of each example."""
        likely = self._network.predict_proba(self._read(examples))[:, -1]
        ends = np.cumsum([len(example.candidates) for example in examples])
        return [int(each.argmax()) for each in np.split(likely, ends[:-1])]

    def _read(self, examples: Sequence[Example]) -> csr_matrix:
        """A row for each candidate: its words, and those of the question."""
        said = [(text, asked(e)) for e in examples for text in e.candidates]
        own = self._hash.transform([text for text, _ in said])
        return hstack([own, self._hash.transform([question for _, question in said])]).tocsr()
