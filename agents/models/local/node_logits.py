"""Computes the logits at nodes of a trie, level by level, as a beam search asks for them.

Exact log-probabilities of many texts after a prompt, in one forward pass.

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
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.beam_search import BeamResult, BeamRules, Following, levels
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
        rows = [_TrieRow(*one, prefix) for one, prefix in zip(questions, read, strict=True)]
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
class _TrieRow:
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


class NodeReader(Protocol):
    """Logits at nodes of several tries, level by level."""

    @property
    def tokens(self) -> Sequence[tuple[int, int]]:
        """Number of tokens of each question, and how many of them had been read earlier."""
        ...

    def logits_at(self, nodes: Sequence[list[int]]) -> list[torch.Tensor]:
        """Logits (nodes, vocabulary) of the next level of each trie, which begins with node 0."""
        ...


@torch.inference_mode()
def search(
    reader: PromptReader, questions: Sequence[tuple[EncodedPrompt, Trie, BeamRules]]
) -> list[tuple[list[BeamResult], tuple[int, int]]]:
    """The best sequences of each trie after its prompt, by a beam search.

    Returns:
        For each question at most `width` results, best first, of equals the first; and the number
        of its tokens, and of those that had been read earlier.
    """
    if reader.alone and len(questions) > 1:
        return [found for one in questions for found in search(reader, [one])]
    reading = _Reading(reader, [(prompt, trie) for prompt, trie, _ in questions])
    return descend(reading, [(trie, rules) for _, trie, rules in questions])


def descend(
    reading: NodeReader, questions: Sequence[tuple[Trie, BeamRules]]
) -> list[tuple[list[BeamResult], tuple[int, int]]]:
    """`search` for tries whose logits `reading` gives."""
    edges = [trie.outgoing() for trie, _ in questions]
    searching = levels(questions)
    nodes = next(searching)
    while True:
        said = [
            [
                _following(trie, outgoing[node], node, logits)
                for node, logits in zip(some, of_trie, strict=True)
            ]
            for (trie, _), outgoing, some, of_trie in zip(
                questions, edges, nodes, reading.logits_at(nodes), strict=True
            )
        ]
        try:
            nodes = searching.send(said)
        except StopIteration as end:
            return list(zip(end.value, reading.tokens, strict=True))


def _following(trie: Trie, edges: Sequence[int], node: int, logits: torch.Tensor) -> Following:
    tokens = trie.edge_tokens[list(edges)]
    likely = logits[torch.from_numpy(tokens)] - logits.logsumexp(-1)
    none = log_prob_ends(logits, tokens) if node in trie.ends else None
    return Following(likely.double().tolist(), none)


@dataclass(slots=True, eq=False)
class _Row:
    """One prompt and its trie, and their columns in the cache."""

    prompt: EncodedPrompt
    trie: Trie
    prefix: ReadPrefix
    seen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Whether each column belongs to the prompt, (columns,)."""
    columns: dict[int, int] = field(default_factory=dict)
    """Node -> its column."""
    logits: dict[int, torch.Tensor] = field(default_factory=dict)
    """Node -> its logits, (vocabulary,)."""
    only: dict[int, int] = field(init=False)
    """Node -> the only node after it."""

    def __post_init__(self) -> None:
        self.only = self.trie.only_children()

    def ahead(self, nodes: Sequence[int]) -> list[int]:
        """Those of `nodes` that are not read, each with the nodes that alone can follow it.

        The tokens of a level are few, and reading some more with them costs little.
        """
        chains = [node for node in nodes if node not in self.logits]
        for node in chains:  # grows meanwhile
            if node in self.only:
                chains.append(self.only[node])
        return chains


class _Reading:
    """Logits at nodes of tries, read level by level after their prompts.

    All rows share the columns of one cache; masks tell them apart.
    """

    def __init__(
        self, reader: PromptReader, questions: Sequence[tuple[EncodedPrompt, Trie]]
    ) -> None:
        self._reader = reader
        read = reader.read_prefixes([prompt for prompt, _ in questions])
        self._rows = [_Row(*one, prefix) for one, prefix in zip(questions, read, strict=True)]
        self._columns = max(row.prefix.read for row in self._rows)
        caches = [row.prefix.cache for row in self._rows]
        self._cache = batch_caches(caches) if self._columns else None

    @property
    def tokens(self) -> list[tuple[int, int]]:
        """Number of tokens of each question, and how many of them had been read earlier."""
        return [(len(row.prompt.ids) + len(row.columns), row.prefix.kept) for row in self._rows]

    def logits_at(self, nodes: Sequence[list[int]]) -> list[torch.Tensor]:
        """Logits (nodes, vocabulary) of the next level of each trie, which begins with node 0."""
        if not self._rows[0].seen.size:
            for row, logits in zip(self._rows, self._first(), strict=True):
                row.logits[0] = logits[0]
        unread = [row.ahead(some) for row, some in zip(self._rows, nodes, strict=True)]
        if any(unread):
            for row, some, logits in zip(self._rows, unread, self._next(unread), strict=True):
                row.logits |= dict(zip(some, logits, strict=False))
        return [
            torch.stack([row.logits[node] for node in some]) if some else torch.empty(0)
            for row, some in zip(self._rows, nodes, strict=True)
        ]

    def _first(self) -> torch.Tensor:
        """Logits after the prompts, which end in the same column."""
        longest = max(len(row.prompt.ids) - row.prefix.read for row in self._rows)
        ids, positions, seen = self._blank(longest)
        for i, row in enumerate(self._rows):
            read, shift = row.prefix.read, row.prefix.shift
            rest = row.prompt.ids[read:]
            ids[i, -len(rest) :] = rest
            positions[i, -len(rest) :] = shift + np.arange(read, read + len(rest))
            here = seen[i, -len(rest) :]
            here[:, :read] = True
            here[:, -len(rest) :] = np.tri(len(rest), dtype=np.bool_)
            row.seen = here[-1]
        return self._forward(ids, positions, seen, keep=1)

    def _next(self, nodes: Sequence[list[int]]) -> torch.Tensor:
        longest = max(map(len, nodes))
        ids, positions, seen = self._blank(longest)
        for i, (row, some) in enumerate(zip(self._rows, nodes, strict=True)):
            row.columns |= {node: self._columns + n for n, node in enumerate(some)}
            ids[i, : len(some)] = row.trie.tokens[some]
            after = row.prefix.shift + len(row.prompt.ids) - 1
            positions[i, : len(some)] = after + row.trie.depths[some]
            here = seen[i, : len(some)]
            here[:, : row.seen.size] = row.seen
            read = np.ix_(some, list(row.columns))
            here[:, list(row.columns.values())] = row.trie.ancestors[read]
        return self._forward(ids, positions, seen, keep=longest)

    def _blank(
        self, longest: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """Empty tokens, positions and attention mask for `longest` more columns."""
        shape = len(self._rows), longest
        seen = np.zeros((*shape, self._columns + longest), np.bool_)
        return np.zeros(shape, np.int64), np.zeros(shape, np.int64), seen

    def _forward(
        self,
        ids: NDArray[np.int64],
        positions: NDArray[np.int64],
        seen: NDArray[np.bool_],
        *,
        keep: int,
    ) -> torch.Tensor:
        prompts = [row.prompt for row in self._rows]
        logits, self._cache = self._reader.forward(
            self._cache, ids, positions, seen, keep=keep, prompts=prompts
        )
        self._columns += ids.shape[1]
        return logits.float()
