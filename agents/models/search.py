"""Beam search held to candidates: token by token, along the likeliest beginnings of one.

Scores are those of `agents/models/likelihood.py`, added up on the way down the trie. A candidate
that others go on from ends there with the probability that none of them follows; so with a width
that covers the candidates nothing is ever dropped, and the search says exactly what ranking says.
It reads at most `width` tokens a level instead of the whole trie: worth it for thousands of
candidates, while ranking is cheaper for dozens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from agents.models.encode import Tokens
from agents.models.likelihood import stays
from agents.models.reader import Reader
from agents.models.trie import Trie


@dataclass(frozen=True, slots=True)
class Found:
    """A sequence of a trie, by its number, and its score in nats."""

    sequence: int
    score: float


@torch.inference_mode()
def search(reader: Reader, prompt: Tokens, trie: Trie, width: int) -> tuple[list[Found], int]:
    """The best sequences of `trie` after `prompt`.

    Returns:
        At most `width` of them, best first, of equals the first; and how many tokens were read.
    """
    tree, reading = _Tree(trie), _Reading(reader, prompt, trie)
    found: list[Found] = []
    beam = {0: 0.0}  # node of the trie -> score of the beginning that it stands for
    while beam:
        going_on: dict[int, float] = {}
        for node, logits in zip(beam, reading.say(list(beam)), strict=True):
            found += tree.ending(node, beam[node], logits)
            going_on |= tree.going_on(node, beam[node], logits)
        found = sorted(found, key=lambda one: (-one.score, one.sequence))[:width]
        worst = found[-1].score if len(found) == width else -np.inf
        best = sorted(going_on, key=lambda node: -going_on[node])[:width]
        # A beginning never gets likelier as it goes on.
        beam = {node: going_on[node] for node in best if going_on[node] > worst}
    return found, reading.tokens


class _Tree:
    """A trie as it is walked down."""

    def __init__(self, trie: Trie) -> None:
        self._tokens = trie.edge_tokens
        self._edges: dict[int, list[int]] = {}
        """Node -> the edges that begin there."""
        self._nodes: dict[int, int] = {}
        """Edge -> the node that it leads to, where something goes on from there."""
        self._last: dict[int, list[int]] = {}
        """Edge -> the sequences that it ends, where nothing goes on from there."""
        self._stop: dict[int, list[int]] = {}
        """Node -> the sequences that end there, though others go on."""
        for edge, node in enumerate(trie.edge_nodes.tolist()):
            self._edges.setdefault(node, []).append(edge)
        for sequence, (path, end) in enumerate(zip(trie.paths, trie.ends, strict=True)):
            for edge, following in pairwise(path):
                self._nodes[edge] = int(trie.edge_nodes[following])
            if end is None:
                self._last.setdefault(path[-1], []).append(sequence)
            else:
                self._stop.setdefault(end, []).append(sequence)

    def ending(self, node: int, score: float, logits: torch.Tensor) -> Iterator[Found]:
        """The sequences that end at `node`, or one token after it, where it has `score`."""
        if stopping := self._stop.get(node):
            end = score + stays(logits, self._tokens[self._edges[node]])
            yield from (Found(sequence, end) for sequence in stopping)
        for edge, likely in self._likely(node, logits):
            yield from (Found(sequence, score + likely) for sequence in self._last.get(edge, ()))

    def going_on(self, node: int, score: float, logits: torch.Tensor) -> dict[int, float]:
        """The nodes after `node`, with their scores."""
        likely = self._likely(node, logits)
        return {self._nodes[e]: score + one for e, one in likely if e in self._nodes}

    def _likely(self, node: int, logits: torch.Tensor) -> Iterator[tuple[int, float]]:
        edges = self._edges[node]
        said = logits[torch.from_numpy(self._tokens[edges])] - logits.logsumexp(-1)
        return zip(edges, said.double().tolist(), strict=True)


class _Reading:
    """What a model says at nodes of a trie, read level by level behind one prompt."""

    def __init__(self, reader: Reader, prompt: Tokens, trie: Trie) -> None:
        self._reader = reader
        self._prompt = prompt
        self._trie = trie
        self._begun = reader.begin(prompt)
        self._cache = self._begun.cache
        self._read: list[int] = []
        self.tokens = len(prompt.ids)

    def say(self, nodes: list[int]) -> torch.Tensor:
        """Logits (nodes, vocabulary) of nodes of the next level; first of node 0 alone."""
        return self._first() if nodes == [0] else self._next(nodes)

    def _first(self) -> torch.Tensor:
        rest = np.array(self._prompt.ids[self._begun.read :], np.int64)
        places = self._begun.read + np.arange(len(rest))
        seen = np.tri(len(rest), len(self._prompt.ids), self._begun.read, np.bool_)
        return self._go_on(rest, places, seen, keep=1)

    def _next(self, nodes: list[int]) -> torch.Tensor:
        before = len(self._prompt.ids)
        self._read += nodes
        self.tokens += len(nodes)
        seen = np.ones((len(nodes), before + len(self._read)), np.bool_)
        seen[:, before:] = self._trie.ancestors[np.ix_(nodes, self._read)]
        places = before - 1 + self._trie.depths[nodes]
        return self._go_on(self._trie.tokens[nodes], places, seen, keep=len(nodes))

    def _go_on(
        self,
        ids: NDArray[np.int64],
        places: NDArray[np.int64],
        seen: NDArray[np.bool_],
        *,
        keep: int,
    ) -> torch.Tensor:
        positions = self._begun.shift + places
        logits, self._cache = self._reader.go_on(
            self._cache, ids[None], positions[None], seen[None], keep=keep
        )
        return logits[0]
