"""Many token sequences as one trie, so that shared prefixes are read once.

A model reads the whole trie in one pass if every node attends to its ancestors only, at the
position that it has in its own sequence: tree attention, as in SpecInfer (Miao et al., 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Trie:
    """Packed sequences. The nodes are the prefixes that some token follows.

    Node 0 is the empty prefix: the end of the prompt. The logits at a node give the probability of
    each token after it, so the last token of a sequence need not be read, unless another sequence
    continues from there.
    """

    tokens: NDArray[np.int64]
    """(n,): the last token of each node; undefined for node 0."""
    depths: NDArray[np.int64]
    """(n,): the length of each node in tokens."""
    ancestors: NDArray[np.bool_]
    """(n, n): whether node j is node i or a prefix of it."""
    edge_nodes: NDArray[np.int64]
    """(e,): the node at which each edge begins. An edge is one more token after a node."""
    edge_tokens: NDArray[np.int64]
    """(e,): the token of each edge."""
    paths: tuple[tuple[int, ...], ...]
    """Edges of each sequence, in the order given."""
    ends: tuple[int | None, ...]
    """Node that each sequence ends at; None where no other sequence continues it."""

    @classmethod
    def pack(cls, sequences: Sequence[Sequence[int]]) -> Self:
        """The trie of `sequences`, which may repeat and be prefixes of one another.

        Raises:
            ValueError: a sequence is empty, or there is none.
        """
        if not sequences or not all(sequences):
            raise ValueError("Only sequences of at least one token can be packed into a trie.")
        edges: dict[tuple[int, int], int] = {}  # (edge before, or -1; token) -> edge
        paths = []
        for sequence in sequences:
            path: list[int] = []
            for token in sequence:
                before = path[-1] if path else -1
                path.append(edges.setdefault((before, token), len(edges)))
            paths.append(tuple(path))
        # Every edge is numbered after the one before it, and so are the nodes.
        node_of = {edge: n for n, edge in enumerate(sorted({before for before, _ in edges}))}
        size = len(node_of)
        tokens, depths = np.zeros(size, np.int64), np.zeros(size, np.int64)
        ancestors = np.eye(size, dtype=np.bool_)
        for (before, token), edge in edges.items():
            if edge in node_of:
                node, parent = node_of[edge], node_of[before]
                tokens[node], depths[node] = token, depths[parent] + 1
                ancestors[node] |= ancestors[parent]
        return cls(
            tokens=tokens,
            depths=depths,
            ancestors=ancestors,
            edge_nodes=np.array([node_of[before] for before, _ in edges], np.int64),
            edge_tokens=np.array([token for _, token in edges], np.int64),
            paths=tuple(paths),
            ends=tuple(node_of.get(path[-1]) for path in paths),
        )

    def __len__(self) -> int:
        """Number of nodes, node 0 included."""
        return len(self.tokens)

    def outgoing(self) -> dict[int, list[int]]:
        """Node -> the edges that begin there, at least one."""
        edges: dict[int, list[int]] = {}
        for edge, node in enumerate(self.edge_nodes.tolist()):
            edges.setdefault(node, []).append(edge)
        return edges

    def only_children(self) -> dict[int, int]:
        """Node -> the node after it, where just one token follows it, and is followed itself."""
        following: dict[int, set[int]] = {}
        for path in self.paths:
            for edge, after in pairwise(path):
                begin, end = int(self.edge_nodes[edge]), int(self.edge_nodes[after])
                following.setdefault(begin, set()).add(end)
        edges = self.outgoing()
        return {node: min(ends) for node, ends in following.items() if len(edges[node]) == 1}

    def nodes_to(self, node: int) -> list[int]:
        """The nodes from the first token to `node`; none for node 0."""
        above = [int(i) for i in self.ancestors[node].nonzero()[0] if i]
        return sorted(above, key=lambda one: int(self.depths[one]))

    def leaves(self) -> list[int]:
        """The nodes that no other node follows."""
        return [int(node) for node in (self.ancestors.sum(0) == 1).nonzero()[0]]

    def path(self, node: int) -> tuple[int, ...]:
        """The tokens of `node`."""
        return tuple(int(self.tokens[one]) for one in self.nodes_to(node))
