"""Beam search constrained to candidates: token by token, along their likeliest prefixes.

Scores are those of `agents/models/local/node_logits.py`, summed on the way down the trie. So with a
width that covers the candidates nothing is dropped, and the result equals that of ranking. The
search reads at most `width` tokens a level instead of the whole trie: this pays for thousands of
candidates, while ranking is cheaper for dozens.

With `BeamRules.end` the candidates end with the end-of-answer token, and the search goes as
`generate` of transformers does with `num_beams` and `prefix_allowed_tokens_fn`.

With `BeamRules.exact` it is a best-first search: since a score never increases as a prefix gets
longer, the likeliest prefixes are read until no other can lead to one of the `width` best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from inhabit.agents.models.trie import Trie

_AT_ONCE = 16
"""Prefixes that a best-first search reads together: on a CPU a forward pass over 16 tokens takes
about as long as one over four."""


@dataclass(frozen=True, slots=True)
class BeamRules:
    """How a trie is searched."""

    width: int
    end: bool = False
    """Whether sequences end with the end-of-answer token. In a beam an ended one then counts only
    if it is among the `width` likeliest continuations of its level, as with `generate`."""
    length_penalty: float = 0.0
    """Results are ordered by score / tokens ** length_penalty."""
    exact: bool = False
    """Whether the results are the `width` best of all sequences."""

    @property
    def as_generate(self) -> bool:
        """Whether the search stops and drops as `generate` does."""
        return self.end and not self.exact

    def value(self, score: float, tokens: int) -> float:
        """What results are ordered by."""
        return score / math.pow(tokens, self.length_penalty)


@dataclass(frozen=True, slots=True)
class BeamResult:
    """A sequence of a trie."""

    sequence: int
    """Number of the sequence in the trie."""
    score: float
    """Log-probability of the sequence, in nats."""
    value: float
    """What results are ordered by: `BeamRules.value` of the score."""


@dataclass(frozen=True, slots=True)
class Following:
    """What may follow a node of a trie."""

    edges: Sequence[float]
    """Log-probability, in nats, of each edge that begins at the node, in the order of the edges."""
    none: float | None
    """Log-probability that none of them follows; None where no sequence ends at the node."""


Levels = Generator[list[list[int]], Sequence[Sequence[Following]], list[list[BeamResult]]]
"""Yields the nodes of each trie that have to be read next, is sent what follows each of them, and
returns the results of each trie."""


def levels(questions: Sequence[tuple[Trie, BeamRules]]) -> Levels:
    """Search each trie, level by level or best first, beginning with its node 0.

    Returns:
        For each trie at most `width` results, best first, of equals the first.
    """
    trees = [_Tree(trie) for trie, _ in questions]
    found: list[list[BeamResult]] = [[] for _ in questions]
    beams = [{0: 0.0} for _ in questions]  # node of the trie -> score of its prefix, best first
    at_once = [_AT_ONCE if rules.exact else rules.width for _, rules in questions]
    nodes = [
        tree.branching(_AT_ONCE) if rules.exact else [0]
        for tree, (_, rules) in zip(trees, questions, strict=True)
    ]
    while any(beams):
        for i, said in enumerate((yield nodes)):
            if read := dict(zip(nodes[i], said, strict=True)):
                beams[i], found[i] = _step(trees[i], beams[i], found[i], read, questions[i][1])
        nodes = [list(beam)[:most] for beam, most in zip(beams, at_once, strict=True)]
    return found


def _step(
    tree: _Tree,
    beam: Mapping[int, float],
    found: Sequence[BeamResult],
    read: Mapping[int, Following],
    rules: BeamRules,
) -> tuple[dict[int, float], list[BeamResult]]:
    """The next beam and the results so far.

    `read` is what follows nodes of `beam`, or nodes after them; each comes after its parent.
    """
    ended: list[tuple[int, float]] = []
    going_on = dict(beam)
    for node, following in read.items():
        score = going_on.pop(node)
        ended += tree.ending(node, score, following)
        going_on |= tree.going_on(node, score, following)
    if rules.as_generate:
        scores = sorted([*(score for _, score in ended), *going_on.values()], reverse=True)
        least = scores[: rules.width][-1]
        ended = [one for one in ended if one[1] >= least]
    results = [*found, *(tree.result(sequence, score, rules) for sequence, score in ended)]
    results = sorted(results, key=lambda one: (-one.value, one.sequence))[: rules.width]
    best = sorted(going_on, key=lambda node: -going_on[node])
    best = best if rules.exact else best[: rules.width]
    if len(results) == rules.width:
        worst = results[-1].value
        limits = [tree.limit(node, going_on[node], rules) for node in best]
        if rules.as_generate:  # the likeliest decides for all, as with `generate`
            best = best if limits and limits[0] > worst else []
        else:
            # One that is as good may stand before the worst result: of equals the first counts.
            best = [node for node, limit in zip(best, limits, strict=True) if limit >= worst]
    return {node: going_on[node] for node in best}, results


class _Tree:
    """Lookups for walking down a trie."""

    def __init__(self, trie: Trie) -> None:
        self._depths = trie.depths
        self._paths = trie.paths
        self._lengths = [len(path) for path in trie.paths]
        self._edges = trie.outgoing()
        self._nodes: dict[int, int] = {}
        """Edge -> the node that it leads to, unless that is a leaf."""
        self._last: dict[int, list[int]] = {}
        """Edge -> the sequences that end with it at a leaf."""
        self._stop: dict[int, list[int]] = {}
        """Node -> the sequences that end there, while others continue."""
        for sequence, (path, end) in enumerate(zip(trie.paths, trie.ends, strict=True)):
            for edge, following in pairwise(path):
                self._nodes[edge] = int(trie.edge_nodes[following])
            if end is None:
                self._last.setdefault(path[-1], []).append(sequence)
            else:
                self._stop.setdefault(end, []).append(sequence)

    def branching(self, least: int) -> list[int]:
        """Node 0, and the nodes with at least `least` sequences below them, from the top."""
        below = Counter(
            self._nodes[edge] for path in self._paths for edge in path if edge in self._nodes
        )
        return [0, *sorted(node for node, sequences in below.items() if sequences >= least)]

    def result(self, sequence: int, score: float, rules: BeamRules) -> BeamResult:
        """A sequence with its score."""
        return BeamResult(sequence, score, rules.value(score, self._lengths[sequence]))

    def limit(self, node: int, score: float, rules: BeamRules) -> float:
        """The value that a prefix may reach: its score never increases as it gets longer.

        By `as_generate` that at its own length, by which `generate` stops.
        """
        longer = rules.length_penalty > 0 and not rules.as_generate
        return rules.value(score, max(self._lengths) if longer else int(self._depths[node]))

    def ending(self, node: int, score: float, following: Following) -> Iterator[tuple[int, float]]:
        """The sequences that end at `node` of `score`, or one token after it, with their scores."""
        if following.none is not None:
            end = score + following.none
            yield from ((sequence, end) for sequence in self._stop.get(node, ()))
        for edge, likely in zip(self._edges[node], following.edges, strict=True):
            yield from ((sequence, score + likely) for sequence in self._last.get(edge, ()))

    def going_on(self, node: int, score: float, following: Following) -> dict[int, float]:
        """The child nodes of `node`, with their scores."""
        likely = zip(self._edges[node], following.edges, strict=True)
        return {self._nodes[e]: score + one for e, one in likely if e in self._nodes}
