"""The network: scores each candidate from the features of the step and of the candidate.

The score is the sum of two terms: an MLP over both embeddings added, and the scaled dot product
of a query from the step and a key from the candidate, as in attention (Vaswani et al., 2017).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

from inhabit.agents.alfred_specialist.ranker.features import (
    CHOICE,
    KINDS,
    MOMENT,
    NAMED,
    RankerQuestion,
    RankerVocabulary,
)
from inhabit.agents.alfred_specialist.ranker.parsing import VERBS

_WIDTH, _SEEN, _TASK, _HIDDEN, _FIT = 32, 64, 32, 256, 64
_SMALL = 0.05
"""Initial standard deviation of the embeddings."""


class Network(nn.Module):
    """Scores candidates. A few hundred thousand weights."""

    def __init__(self, vocabulary: RankerVocabulary, *, forget: float = 0.0) -> None:
        """Create an untrained network.

        Args:
            vocabulary: its words.
            forget: in training, the probability of replacing a noun by the unknown one, so that
                the network learns from the role of a noun, not from the noun alone.
        """
        super().__init__()
        self._forget = forget
        count = len(vocabulary.nouns) + 2
        self.nouns = nn.Embedding(count, _WIDTH)
        self.verbs = nn.Embedding(len(VERBS), _WIDTH)
        self.task = nn.Embedding(len(vocabulary.tasks), _TASK)
        self.kinds = nn.Linear(KINDS * count, _SEEN)
        told = MOMENT + _TASK + _SEEN + NAMED * _WIDTH
        self.moment = nn.Sequential(
            nn.Linear(told, _HIDDEN), nn.ReLU(), nn.Dropout(forget), nn.Linear(_HIDDEN, _HIDDEN)
        )
        self.choice = nn.Linear(CHOICE, _HIDDEN)
        self.of_noun = nn.Linear(_WIDTH, _HIDDEN, bias=False)
        self.of_verb = nn.Linear(_WIDTH, _HIDDEN, bias=False)
        self.mixed = nn.Sequential(
            nn.ReLU(), nn.Dropout(forget), nn.Linear(_HIDDEN, _HIDDEN), nn.ReLU()
        )
        self.score = nn.Linear(_HIDDEN, 1)
        self.asks = nn.Linear(_HIDDEN, _FIT)
        self.fits = nn.Linear(_HIDDEN, _FIT)
        # With large initial embeddings the network would memorize what to do with each noun.
        for known in (self.nouns, self.verbs):
            nn.init.normal_(known.weight, std=_SMALL)

    def forward(self, questions: Sequence[RankerQuestion]) -> list[torch.Tensor]:
        """The log-probabilities of each question's candidates, (choices,) each."""
        counts = torch.tensor([len(q.verbs) for q in questions])
        moment = self.moment(self._told(questions))
        nouns = torch.cat([torch.from_numpy(q.nouns) for q in questions])
        verbs = torch.cat([torch.from_numpy(q.verbs) for q in questions])
        choice = (
            self.choice(torch.cat([torch.from_numpy(q.choices) for q in questions]).float())
            + functional.embedding(self._some(nouns), self.of_noun(self.nouns.weight))
            + functional.embedding(verbs, self.of_verb(self.verbs.weight))
        )
        mixed = self.mixed(choice + moment.repeat_interleave(counts, 0))
        wanted = self.asks(moment.relu()).repeat_interleave(counts, 0)
        scores = self.score(mixed)[:, 0] + (wanted * self.fits(choice.relu())).mean(1)
        return [one.log_softmax(0) for one in scores.split(counts.tolist())]

    def _told(self, questions: Sequence[RankerQuestion]) -> torch.Tensor:
        """The inputs for the steps, (questions, features)."""
        named = torch.stack([torch.from_numpy(q.named) for q in questions])
        kinds = torch.stack([torch.from_numpy(q.kinds) for q in questions])
        return torch.cat(
            [
                torch.stack([torch.from_numpy(q.moment) for q in questions]),
                self.task(torch.tensor([q.task for q in questions])),
                self.kinds(kinds.flatten(1)),
                self.nouns(self._some(named)).flatten(1),
            ],
            1,
        )

    def _some(self, nouns: torch.Tensor) -> torch.Tensor:
        if not self.training or not self._forget:
            return nouns
        unknown = (torch.rand(nouns.shape) < self._forget) & (nouns > 0)
        return nouns.masked_fill(unknown, 1)
