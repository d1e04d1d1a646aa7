"""Losses over the candidates of one step."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional

from inhabit.agents.models.trie import Trie
from inhabit.eie.tuning.settings import Objective


@dataclass(frozen=True, slots=True, eq=False)
class CandidateScores:
    """Log-probability and length of each candidate. Gradients flow through `sums`."""

    sums: torch.Tensor
    """(candidates,), in nats, as `agents/models/local/likelihood.py` defines them."""
    lengths: torch.Tensor
    """(candidates,), in tokens."""

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
