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

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.reader import PromptReader, ReadPrefix, batch_caches
from inhabit.agents.models.trie import Trie

_NODES = 4
"""Rows of logits that are summed up at a time: what a CPU keeps at hand."""


class Likelihood:
    """Scores candidates with one causal transformer. Not thread-safe."""

    def __init__(self, reader: PromptReader) -> None:
        """Score what `reader` reads."""
        self.reader = reader

    @torch.inference_mode()
    def scores_of_many(
        self, questions: Sequence[tuple[EncodedPrompt, Trie]]
    ) -> list[tuple[NDArray[np.float64], int]]:
        """Scores for several prompts, each with a trie of its own.

        What follows the segments of a prompt, at least its last token, is read with its trie:
        for prompts of like length in one forward pass.

        Returns:
            For each the score of each sequence that the trie was packed from, in nats,
            (sequences,), and the number of tokens that had been read earlier.
        """
        found: dict[int, tuple[NDArray[np.float64], int]] = {}
        for group in self.reader.passes([prompt for prompt, _ in questions]):
            found |= zip(group, self._scores([questions[i] for i in group]), strict=True)
        return [found[i] for i in range(len(questions))]

    def _scores(
        self, questions: Sequence[tuple[EncodedPrompt, Trie]]
    ) -> list[tuple[NDArray[np.float64], int]]:
        """Scores for prompts that share the pass in which their tries are read."""
        prompts = [prompt for prompt, _ in questions]
        read = self.reader.read_prefixes(prompts)
        rows = [_Row(*one, prefix) for one, prefix in zip(questions, read, strict=True)]
        cached = max(row.prefix.read for row in rows)
        rest = max(len(row.rest) for row in rows)
        nodes = max(len(row.trie) for row in rows) - 1
        ids = np.zeros((len(rows), rest + nodes), np.int64)
        positions = np.zeros(ids.shape, np.int64)
        seen = np.zeros((*ids.shape, cached + rest + nodes), np.bool_)
        for i, row in enumerate(rows):
            row.write(ids[i], positions[i], seen[i], rest, cached)
        logits, _ = self.reader.forward(
            batch_caches([row.prefix.cache for row in rows]) if cached else None,
            ids,
            positions,
            seen,
            keep=nodes + 1,
            prompts=prompts,
        )
        return [
            (sums(logits[i, : len(row.trie)], row.trie), row.prefix.kept)
            for i, row in enumerate(rows)
        ]


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
        """Fill a row of (n,) tokens and positions with an attention mask of
        (n, cached + n).

        The rest of the prompt ends at `end`, so that the nodes of all rows begin there. Padding
        comes before the prompt and after the nodes, and is masked.
        """
        prefix, trie, rest = self.prefix, self.trie, self.rest
        first, last = end - len(rest), end + len(trie) - 1
        place = prefix.shift + len(self.prompt.ids)
        ids[:] = rest[-1]  # text, as padding is: never a token that stands for an image
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
    totals = torch.cat([some.float().logsumexp(-1) for some in torch.split(logits, _NODES)])
    nodes, tokens = torch.from_numpy(trie.edge_nodes), torch.from_numpy(trie.edge_tokens)
    edges = (logits[nodes, tokens].float() - totals[nodes]).double().cpu().numpy()
    ends = {
        node: log_prob_ends(logits[node].float(), trie.edge_tokens[trie.edge_nodes == node])
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
