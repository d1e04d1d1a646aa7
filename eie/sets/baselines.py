"""Baselines of a set: how often its questions can be answered without images, and with some sight.

Each example is answered by models that were trained on other rooms (cross-validation by room); on
other groups where there are fewer than five rooms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from inhabit.eie.examples.example import Example
from inhabit.eie.sets.seeing import EyeFeatures
from inhabit.eie.sets.text_features import TfIdf, asked, bag_of_words, roles, words
from inhabit.episodes.scoring.builtin_metrics import wilson

FOLDS = 5


def folds(examples: Sequence[Example]) -> list[int]:
    """The fold of each example, 0 to `FOLDS` - 1, of about equal size.

    Rooms are kept together; where there are too few, groups.
    """
    keys = [example.room or example.group or example.id for example in examples]
    if len(set(keys)) < FOLDS:
        keys = [example.group or example.id for example in examples]
    sizes = [0] * FOLDS
    fold: dict[str, int] = {}
    # Large keys first, each to the smallest fold.
    for key, count in sorted(Counter(keys).items(), key=lambda item: (-item[1], item[0])):
        fold[key] = sizes.index(min(sizes))
        sizes[fold[key]] += count
    return [fold[key] for key in keys]


SEES_AND_READS = "a regression on what a vision network detects and the goal says"
"""Name of the one baseline that is given both; the other ones with images do not read the goal."""
MOST = 4000
"""Number of examples that are used, from the start of the set."""
_SIZE = 1 << 18
"""Features are hashed to so many columns."""
_WORDS, _HIDDEN, _EPOCHS, _BATCH, _RATE = 2048, 32, 12, 64, 0.005
"""Settings of the small network: words, hidden units, epochs, batch size and learning rate."""

Examples = Callable[[], Iterable[Example]]
"""Iterates over the examples of a set from the start, at every call."""
Extract = Callable[[Example], Sequence[Mapping[str, float]]]
"""Gives the features of each candidate of an example."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """Accuracy of one baseline."""

    name: str
    right: int
    examples: int
    sees: bool = False
    """Whether the baseline is given the images."""

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
    by_room: bool
    """Whether folds share no room; else there are too few rooms, and folds share no group."""

    @property
    def blind(self) -> float:
        """The accuracy of the best baseline without images."""
        return max(one.accuracy for one in self.baselines if not one.sees)

    @property
    def seeing(self) -> float | None:
        """The accuracy of the best baseline with images, if there is one."""
        return max((one.accuracy for one in self.baselines if one.sees), default=None)


def measure(examples: Examples, seed: int = 0, eyes: EyeFeatures | None = None) -> Report | None:
    """Train and score all baselines; None if there are fewer examples than folds, or all are twins.

    Of the examples, the first `MOST` are used. With `eyes`, there are baselines with images.
    """
    known = list(islice(examples(), MOST))
    if len(known) < FOLDS or len(set(fold := folds(known))) < 2:
        return None
    ways: dict[str, Extract] = {
        "bag of words": bag_of_words,
        "tf-idf with crosses of question and candidate": TfIdf(known).features,
        "roles of nouns and verbs": roles,
    }
    found = [
        Baseline("always the first candidate", sum(e.answer == 0 for e in known), len(known)),
        Baseline("the most frequent answer in training", _frequent(known, fold), len(known)),
        *(Baseline(name, _linear(known, fold, way), len(known)) for name, way in ways.items()),
        Baseline("small text network", _network(known, fold, seed), len(known)),
    ]
    if eyes is not None:
        detected, attended = _linear(known, fold, eyes), _attention(known, fold, eyes, seed)
        found += [
            Baseline("a regression on what a vision network detects", detected, len(known), True),
            Baseline("attention to what a vision network sees", attended, len(known), True),
            Baseline(SEES_AND_READS, _linear(known, fold, eyes.reading), len(known), True),
        ]
    chance = sum(1 / len(example.candidates) for example in known) / len(known)
    rooms = {example.room or example.group or example.id for example in known}
    return Report(chance, tuple(found), len(rooms) >= FOLDS)


def _right(
    examples: Sequence[Example],
    fold: Sequence[int],
    choose: Callable[[Sequence[int], Sequence[int]], Sequence[int]],
) -> int:
    """Right answers of `choose`, which learns from some examples and answers others, by number."""
    right = 0
    for held in sorted(set(fold)):
        train = [i for i, other in enumerate(fold) if other != held]
        test = [i for i, other in enumerate(fold) if other == held]
        chosen = zip(choose(train, test), test, strict=True)
        right += sum(answer == examples[i].answer for answer, i in chosen)
    return right


def _linear(examples: Sequence[Example], fold: Sequence[int], way: Extract) -> int:
    """Right answers of a regression on the differences between right and wrong candidates."""
    hasher = FeatureHasher(_SIZE, alternate_sign=False)
    rows: csr_matrix = hasher.transform(chain.from_iterable(map(way, examples)))
    first = np.cumsum([0, *(len(example.candidates) for example in examples)])

    def choose(train: Sequence[int], test: Sequence[int]) -> Sequence[int]:
        pairs = [
            (first[i] + examples[i].answer, row)
            for i in train
            for row in range(first[i], first[i + 1])
            if row != first[i] + examples[i].answer
        ]
        pairs *= 2 if len(pairs) == 1 else 1
        right, wrong = np.array(pairs, np.int64).reshape(-1, 2).T
        # Every other pair the other way round: a regression needs both classes.
        sign = np.where(np.arange(len(right)) % 2, -1.0, 1.0)
        model = LogisticRegression(fit_intercept=False, solver="liblinear", max_iter=200)
        model.fit((rows[right] - rows[wrong]).multiply(sign[:, None]).tocsr(), sign)
        scores: NDArray[np.float64] = rows @ model.coef_[0]
        return [int(scores[first[i] : first[i + 1]].argmax()) for i in test]

    return _right(examples, fold, choose)


def _network(examples: Sequence[Example], fold: Sequence[int], seed: int) -> int:
    """Right answers of a network that reads a candidate beside its question."""
    hashed = HashingVectorizer(analyzer=words, n_features=_WORDS, alternate_sign=False, norm="l2")

    def read(some: Sequence[Example]) -> csr_matrix:
        said = [(text, asked(e)) for e in some for text in e.candidates]
        own = hashed.transform([text for text, _ in said])
        return hstack([own, hashed.transform([question for _, question in said])]).tocsr()

    def choose(train: Sequence[int], test: Sequence[int]) -> Sequence[int]:
        learnt, left = [examples[i] for i in train], [examples[i] for i in test]
        right = [place == e.answer for e in learnt for place in range(len(e.candidates))]
        network = MLPClassifier(
            _HIDDEN,
            max_iter=_EPOCHS,
            learning_rate_init=_RATE,
            batch_size=min(_BATCH, len(right)),
            random_state=seed,
        )
        with catch_warnings():
            # So many passes are meant.
            simplefilter("ignore", ConvergenceWarning)
            network.fit(read(learnt), right)
        likely = network.predict_proba(read(left))[:, -1]
        ends = np.cumsum([len(example.candidates) for example in left])
        return [int(each.argmax()) for each in np.split(likely, ends[:-1])]

    return _right(examples, fold, choose)


def _attention(
    examples: Sequence[Example], fold: Sequence[int], eyes: EyeFeatures, seed: int
) -> int:
    from inhabit.eie.sets.image_network import ImageNetwork

    grids = [eyes.grid(example) for example in examples]

    def choose(train: Sequence[int], test: Sequence[int]) -> Sequence[int]:
        model = ImageNetwork.trained([examples[i] for i in train], [grids[i] for i in train], seed)
        return [model.choose(examples[i], grids[i]) for i in test]

    return _right(examples, fold, choose)


def _frequent(examples: Sequence[Example], fold: Sequence[int]) -> int:
    """Right answers of always taking the candidate that is right most often in training."""

    def choose(train: Sequence[int], test: Sequence[int]) -> Sequence[int]:
        often = Counter(examples[i].right for i in train)
        counts = ([often[text] for text in examples[i].candidates] for i in test)
        return [each.index(max(each)) for each in counts]

    return _right(examples, fold, choose)
