"""Computes the logits at nodes of a trie, level by level, as a beam search asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.beam_search import BeamResult, BeamRules, Following, levels
from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.likelihood import log_prob_ends
from inhabit.agents.models.local.reader import PromptReader, ReadPrefix, batch_caches
from inhabit.agents.models.trie import Trie


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
