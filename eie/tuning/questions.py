"""Examples as questions of tokens: a prompt, candidates after it, and which one is right; and
losses over the candidates of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.trie import Trie
from inhabit.eie.tuning.samples import Sample, Wording
from inhabit.eie.tuning.settings import Objective, TuneSettings


@dataclass(frozen=True, slots=True, eq=False)
class CandidateScores:
    """Log-probability and length of each candidate. Gradients flow through `sums`."""

    sums: torch.Tensor
    """Log-probabilities in nats, (candidates,), defined in `agents/models/local/node_logits.py`."""
    lengths: torch.Tensor
    """Lengths in tokens, (candidates,)."""

    @property
    def means(self) -> torch.Tensor:
        """Mean log-probability per token, as EgoPlan-Bench compares candidates."""
        return self.sums / self.lengths


def score(logits: torch.Tensor, trie: Trie) -> CandidateScores:
    """Scores of the sequences of `trie`, from `logits` after its nodes, (nodes, vocabulary)."""
    device = logits.device
    totals = logits.logsumexp(-1)
    nodes = torch.from_numpy(trie.edge_nodes).to(device)
    tokens = torch.from_numpy(trie.edge_tokens).to(device)
    edges = logits[nodes, tokens] - totals[nodes]
    sums = []
    for path, end in zip(trie.paths, trie.ends, strict=True):
        total = edges[list(path)].sum()
        if end is not None:
            # log(1 - p(continuation)), summed over the other tokens to avoid cancellation.
            onward = torch.zeros(logits.shape[-1], dtype=torch.bool, device=device)
            onward[tokens[nodes == end]] = True
            ends = logits[end].masked_fill(onward, -torch.inf).logsumexp(0) - totals[end]
            total = total + ends
        sums.append(total)
    lengths = torch.tensor([len(path) for path in trie.paths], device=device)
    return CandidateScores(torch.stack(sums), lengths)


def loss(
    scores: CandidateScores, answer: int, objective: Objective, *, other: int | None
) -> torch.Tensor:
    """The loss of one example. `other` is a wrong candidate for the hinge, or None."""
    nll = -scores.means
    total = nll[answer]
    if objective is Objective.CONTRAST and other is not None:
        total = total + functional.relu(nll[answer] - nll[other])
    if objective is Objective.RANKING:
        total = total - scores.sums.log_softmax(0)[answer]
    return total


_GIGABYTE = 10**9
_FEW = 6


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A prompt and candidates as tokens."""

    id: str
    """Id of the example."""
    prompt: EncodedPrompt
    trie: Trie
    answer: int
    """Index of the correct sequence of `trie`."""
    other: int | None = None
    """Index of the wrong sequence that the hinge compares with; None if there is none."""
    episode: str = ""
    """Episode of the example."""


class Questions:
    """Encodes the examples of one set; prompts and images are kept for the next epoch."""

    def __init__(
        self, samples: Sequence[Sample], encoder: Any, settings: TuneSettings, *, sees: bool
    ) -> None:
        """Encode `samples` with the `Encoder` of a model."""
        self.samples = samples
        self._encoder = encoder
        self._settings = settings
        self._wording = Wording(settings, sees=sees)
        self._prompts: dict[int, EncodedPrompt] = {}
        self._answers: dict[str, tuple[int, ...]] = {}
        self._left = settings.cache * _GIGABYTE

    def to_learn(self, index: int, rng: np.random.Generator) -> Question:
        """What is needed of an example to train on it; `rng` picks wrong candidates."""
        sample, settings = self.samples[index], self._settings
        if settings.objective is Objective.SFT:
            answer = self._tokens(self._target(sample))
            end = (self._encoder.end,) if settings.end else ()
            return self._question(index, [(*answer, *end)], 0, None)
        wrong = self._wrong(sample, rng)
        texts = [sample.answer, *wrong]
        return self._question(
            index, [self._tokens(text) for text in texts], 0, 1 if wrong else None
        )

    def to_judge(self, index: int) -> Question:
        """All candidates of an example; if reasons are trained, the answer with its reason."""
        sample = self.samples[index]
        if self._settings.reasons:
            return self._question(index, [self._tokens(self._target(sample))], 0, None)
        told = [self._tokens(text) for text in sample.example.candidates]
        return self._question(index, told, sample.example.answer, None)

    def to_compare(self, index: int) -> Question:
        """A few candidates of an example, to compare ways to read."""
        sample = self.samples[index]
        several = self._settings.objective is not Objective.SFT
        told = sample.example.candidates[:_FEW] if several else [self._target(sample)]
        return self._question(index, [self._tokens(text) for text in told], 0, None)

    def _question(
        self, index: int, told: Sequence[tuple[int, ...]], answer: int, other: int | None
    ) -> Question:
        example = self.samples[index].example
        return Question(
            example.id,
            self._prompt(index),
            Trie.pack(told),
            answer,
            other,
            self.samples[index].episode,
        )

    def _tokens(self, text: str) -> tuple[int, ...]:
        """The tokens of a candidate. Examples share most of theirs."""
        found = self._answers.get(text)
        if found is None:
            found = self._answers[text] = self._encoder.candidate(text)
        return found

    def _target(self, sample: Sample) -> str:
        if self._settings.reasons:
            return f"{sample.example.reason} So: {sample.answer}"
        return sample.answer

    def _wrong(self, sample: Sample, rng: np.random.Generator) -> list[str]:
        """Wrong candidates, picked uniformly at random, in the order of their picking."""
        own, settings = sample.example.candidates, self._settings
        wrong = [text for i, text in enumerate(own) if i != sample.example.answer]
        most = 1 if settings.objective is Objective.CONTRAST else settings.negatives
        if most is not None and most < len(wrong):
            wrong = [wrong[i] for i in rng.choice(len(wrong), most, replace=False)]
        if settings.objective is Objective.RANKING:
            picked = rng.integers(len(self.samples), size=settings.other_answers)
            answers = dict.fromkeys(self.samples[i].answer for i in picked)
            wrong += [text for text in answers if text not in own]
        return wrong

    def _prompt(self, index: int) -> EncodedPrompt:
        found = self._prompts.get(index)
        if found is None:
            found = self._encoder.prompt(self._wording.messages(self.samples[index]))
            size = sum(t.numel() * t.element_size() for t in found.images.values())
            size += 64 * len(found.ids)
            if size <= self._left:
                self._left -= size
                self._prompts[index] = found
        return found
