"""The network: what a moment is and what a choice is, through two layers, to how good it is."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from agents.models.ranker.features import CHOICE, MOMENT, USES, Lexicon, Question
from agents.models.ranker.reading import VERBS

_WIDTH, _WORDS, _HIDDEN = 32, 64, 192


class Network(nn.Module):
    """Scores of choices. Some hundred thousand weights."""

    def __init__(self, lexicon: Lexicon, *, forget: float = 0.0) -> None:
        """A network that has learnt nothing yet.

        Args:
            lexicon: its words.
            forget: how often, while it learns, a noun is taken for one that it doesn't know: so
                that it goes by where a noun stands, and not by the noun alone.
        """
        super().__init__()
        self._forget = forget
        count = len(lexicon.nouns) + 2
        self.nouns = nn.Embedding(count, _WIDTH)
        self.seen = nn.Linear(count, _WIDTH)
        self.here = nn.Linear(count, _WIDTH)
        self.used = nn.Linear(len(USES) * count, 2 * _WIDTH)
        self.words = nn.EmbeddingBag(len(lexicon.words) + 1, _WORDS, mode="mean")
        self.verbs = nn.Embedding(len(VERBS), _WIDTH)
        self.moment = nn.Linear(MOMENT + _WORDS + 6 * _WIDTH, _HIDDEN)
        self.choice = nn.Linear(CHOICE + 2 * _WIDTH, _HIDDEN)
        self.mixed = nn.Sequential(nn.ReLU(), nn.Linear(_HIDDEN, _HIDDEN), nn.ReLU())
        self.score = nn.Linear(_HIDDEN, 1)

    def forward(self, questions: Sequence[Question]) -> list[torch.Tensor]:
        """The log-probability of each choice among its question's, (choices,) for each."""
        goals = [torch.from_numpy(q.goal) for q in questions]
        starts = torch.tensor([0, *(len(goal) for goal in goals)]).cumsum(0)[:-1]
        used = torch.stack([torch.from_numpy(q.used) for q in questions])
        last = torch.stack([torch.from_numpy(q.last) for q in questions])
        moment = self.moment(
            torch.cat(
                [
                    torch.stack([torch.from_numpy(q.moment) for q in questions]),
                    self.words(torch.cat(goals), starts),
                    self.seen(torch.stack([torch.from_numpy(q.seen) for q in questions])),
                    self.here(torch.stack([torch.from_numpy(q.here) for q in questions])),
                    self.used(used.flatten(1)),
                    self.nouns(self._some(last)).flatten(1),
                ],
                1,
            )
        )
        counts = [len(q.verbs) for q in questions]
        nouns = torch.cat([torch.from_numpy(q.nouns) for q in questions])
        choice = self.choice(
            torch.cat(
                [
                    torch.cat([torch.from_numpy(q.choices) for q in questions]),
                    self.verbs(torch.cat([torch.from_numpy(q.verbs) for q in questions])),
                    self.nouns(self._some(nouns)),
                ],
                1,
            )
        )
        whole = choice + moment.repeat_interleave(torch.tensor(counts), 0)
        scores = self.score(self.mixed(whole))[:, 0].split(counts)
        return [one.log_softmax(0) for one in scores]

    def _some(self, nouns: torch.Tensor) -> torch.Tensor:
        if not self.training or not self._forget:
            return nouns
        unknown = (torch.rand(nouns.shape) < self._forget) & (nouns > 0)
        return nouns.masked_fill(unknown, 1)
