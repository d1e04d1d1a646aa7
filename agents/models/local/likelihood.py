"""Exact log-probabilities of many texts after a prompt, in one forward pass.

The score of a candidate with tokens a_1 ... a_n is

    sum over i of log p(a_i | prompt, a_1 ... a_{i-1})  +  log(1 - sum over t of p(t | prompt, a))

where t runs over the tokens with which longer candidates continue it. So "open the drawer" is the
reply that begins with these words and does not become "open the drawer_2": candidates are mutually
exclusive events, even if one is a prefix of another, and their probabilities sum to at most 1. If
no other candidate continues it, the second term is zero. An end-of-turn token is not scored: then
every candidate would be read to its last token, half as many tokens again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.reader import Reader, ReadPrefix, batch_caches
from inhabit.agents.models.local.trie import Trie


class Likelihood:
    """Scores candidates with one causal transformer. Not thread-safe."""

    def __init__(self, model: Any, features: PictureFeatures | None = None) -> None:
        """Score with `model`, in evaluation mode, and its pictures by `features`."""
        self.reader = Reader(model, features)

    def scores(self, prompt: EncodedPrompt, trie: Trie) -> NDArray[np.float64]:
        """The score of each sequence that `trie` was packed from, in nats, (sequences,)."""
        return self.scores_of_many([(prompt, trie)])[0]

    @torch.inference_mode()
    def scores_of_many(
        self, questions: Sequence[tuple[EncodedPrompt, Trie]]
    ) -> list[NDArray[np.float64]]:
        """Scores for several prompts, each with a trie of its own, in one forward pass.

        Prompts with images are read first, together where the model takes features of images.
        """
        if self.reader.alone and len(questions) > 1:
            return [self.scores(*one) for one in questions]
        read = self.reader.read_prefixes([prompt for prompt, _ in questions])
        rows = [_Row(*one, prefix) for one, prefix in zip(questions, read, strict=True)]
        cached = max(row.prefix.read for row in rows)
        rest = max(len(row.rest) for row in rows)
        nodes = max(len(row.trie) for row in rows) - 1
        ids = np.zeros((len(rows), rest + nodes), np.int64)
        positions = np.zeros_like(ids)
        seen = np.zeros((len(rows), rest + nodes, cached + rest + nodes), np.bool_)
        for i, row in enumerate(rows):
            row.write(ids[i], positions[i], seen[i], rest, cached)
        cache = batch_caches([row.prefix.cache for row in rows]) if cached else None
        prompts = [row.prompt for row in rows]
        logits, _ = self.reader.forward(
            cache, ids, positions, seen, keep=nodes + 1, prompts=prompts
        )
        return [sums(logits[i, : len(row.trie)], row.trie) for i, row in enumerate(rows)]


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """One row of a batch: the rest of a prompt, then the nodes of its trie."""

    prompt: EncodedPrompt
    trie: Trie
    prefix: ReadPrefix

    @property
    def rest(self) -> Sequence[int]:
        """The tokens of the prompt that are not cached, at least one."""
        return self.prompt.ids[self.prefix.read :]

    def write(
        self,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        seen: NDArray[np.bool_],
        end: int,
        cached: int,
    ) -> None:
        """Fill a row of (n,) tokens with an attention mask of (n, cached + n).

        The rest of the prompt ends at `end`, so that the nodes of all rows begin there. Padding
        comes before the prompt and after the nodes, and is masked.
        """
        prefix, trie, rest = self.prefix, self.trie, self.rest
        first, last = end - len(rest), end + len(trie) - 1
        place = prefix.shift + prefix.read + len(rest)
        ids[first:end], ids[end:last] = rest, trie.tokens[1:]
        positions[first:end] = np.arange(place - len(rest), place)
        positions[end:last] = place - 1 + trie.depths[1:]
        seen[first:last, : prefix.read] = True
        here = seen[:, cached:]
        here[first:end, first:end] = np.tri(len(rest), dtype=np.bool_)
        here[end:last, first:end] = True
        here[end:last, end:last] = trie.ancestors[1:, 1:]


def sums(logits: torch.Tensor, trie: Trie) -> NDArray[np.float64]:
    """Scores of the sequences, in nats, from the logits at each node, (nodes, vocabulary)."""
    totals = logits.logsumexp(-1)
    nodes, tokens = torch.from_numpy(trie.edge_nodes), torch.from_numpy(trie.edge_tokens)
    edges = (logits[nodes, tokens] - totals[nodes]).double().cpu().numpy()
    ends = {
        node: log_prob_ends(logits[node], trie.edge_tokens[trie.edge_nodes == node])
        for node in set(trie.ends) - {None}
    }
    return np.array(
        [
            edges[list(path)].sum() + (0.0 if end is None else ends[end])
            for path, end in zip(trie.paths, trie.ends, strict=True)
        ]
    )


def log_prob_ends(logits: torch.Tensor, others: NDArray[np.int64]) -> float:
    """Log-probability, in nats, that none of the tokens `others` follows `logits` (vocabulary,)."""
    rest = logits.clone()
    rest[torch.from_numpy(others)] = -torch.inf
    return float(rest.logsumexp(-1) - logits.logsumexp(-1))
