"""Beam search constrained to candidates: token by token, along their likeliest prefixes.

Scores are those of `agents/models/local/likelihood.py`, summed on the way down the trie. So with a
width that covers the candidates nothing is dropped, and the result equals that of ranking. The
search reads at most `width` tokens a level instead of the whole trie: this pays for thousands of
candidates, while ranking is cheaper for dozens.

With `BeamRules.end` the candidates end with the end-of-answer token, and the search goes as
`generate` of transformers does with `num_beams` and `prefix_allowed_tokens_fn`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.likelihood import log_prob_ends
from inhabit.agents.models.local.reader import PromptReader, ReadPrefix, batch_caches
from inhabit.agents.models.local.trie import Trie


@dataclass(frozen=True, slots=True)
class BeamRules:
    """How a trie is searched."""

    width: int
    end: bool = False
    """Whether sequences end with the end-of-answer token. An ended one then counts only if it is
    among the `width` likeliest continuations of its level, as with `generate`."""
    length_penalty: float = 0.0
    """Results are ordered by score / tokens ** length_penalty."""

    def value(self, score: float, tokens: int) -> float:
        """What results are ordered by."""
        return score / math.pow(tokens, self.length_penalty)


@dataclass(frozen=True, slots=True)
class BeamResult:
    """A sequence of a trie."""

    sequence: int
    """Its number."""
    score: float
    """Its log-probability in nats."""
    value: float
    """What it is ordered by."""


class NodeReader(Protocol):
    """Logits at nodes of several tries, level by level."""

    @property
    def tokens(self) -> Sequence[int]:
        """Number of tokens read for each question."""
        ...

    def logits_at(self, nodes: Sequence[list[int]]) -> list[torch.Tensor]:
        """Logits (nodes, vocabulary) of the next level of each trie, which begins with node 0."""
        ...


@torch.inference_mode()
def search(
    reader: PromptReader, questions: Sequence[tuple[EncodedPrompt, Trie, BeamRules]]
) -> list[tuple[list[BeamResult], int]]:
    """The best sequences of each trie after its prompt, by a beam search.

    Returns:
        For each question at most `width` results, best first, of equals the first; and the number
        of tokens that were read.
    """
    if reader.alone and len(questions) > 1:
        return [found for one in questions for found in search(reader, [one])]
    reading = _Reading(reader, [(prompt, trie) for prompt, trie, _ in questions])
    return descend(reading, [(trie, rules) for _, trie, rules in questions])


def descend(
    reading: NodeReader, questions: Sequence[tuple[Trie, BeamRules]]
) -> list[tuple[list[BeamResult], int]]:
    """`search` for tries whose logits `reading` gives."""
    trees = [_Tree(trie) for trie, _ in questions]
    found: list[list[BeamResult]] = [[] for _ in questions]
    beams = [{0: 0.0} for _ in questions]  # node of the trie -> score of its prefix
    while any(beams):
        for i, said in enumerate(reading.logits_at([list(beam) for beam in beams])):
            beams[i], found[i] = _step(trees[i], beams[i], found[i], said, questions[i][1])
    return list(zip(found, reading.tokens, strict=True))


def _step(
    tree: _Tree,
    beam: Mapping[int, float],
    found: Sequence[BeamResult],
    said: torch.Tensor,
    rules: BeamRules,
) -> tuple[dict[int, float], list[BeamResult]]:
    """The next beam and the results so far; `said` has a row of logits for each node of `beam`."""
    ended: list[tuple[int, float]] = []
    going_on: dict[int, float] = {}
    for node, logits in zip(beam, said, strict=True):
        ended += tree.ending(node, beam[node], logits)
        going_on |= tree.going_on(node, beam[node], logits)
    if rules.end:
        scores = sorted([*(score for _, score in ended), *going_on.values()], reverse=True)
        least = scores[: rules.width][-1]
        ended = [one for one in ended if one[1] >= least]
    results = [*found, *(tree.result(sequence, score, rules) for sequence, score in ended)]
    results = sorted(results, key=lambda one: (-one.value, one.sequence))[: rules.width]
    best = sorted(going_on, key=lambda node: -going_on[node])[: rules.width]
    if len(results) == rules.width:
        worst = results[-1].value
        limits = [tree.limit(node, going_on[node], rules) for node in best]
        if rules.end:  # the likeliest decides for all, as with `generate`
            best = best if limits and limits[0] > worst else []
        else:
            best = [node for node, limit in zip(best, limits, strict=True) if limit > worst]
    return {node: going_on[node] for node in best}, results


class _Tree:
    """Lookups for walking down a trie."""

    def __init__(self, trie: Trie) -> None:
        self._tokens = trie.edge_tokens
        self._depths = trie.depths
        self._lengths = [len(path) for path in trie.paths]
        self._edges: dict[int, list[int]] = {}
        """Node -> its outgoing edges."""
        self._nodes: dict[int, int] = {}
        """Edge -> the node that it leads to, unless that is a leaf."""
        self._last: dict[int, list[int]] = {}
        """Edge -> the sequences that end with it at a leaf."""
        self._stop: dict[int, list[int]] = {}
        """Node -> the sequences that end there, while others continue."""
        for edge, node in enumerate(trie.edge_nodes.tolist()):
            self._edges.setdefault(node, []).append(edge)
        for sequence, (path, end) in enumerate(zip(trie.paths, trie.ends, strict=True)):
            for edge, following in pairwise(path):
                self._nodes[edge] = int(trie.edge_nodes[following])
            if end is None:
                self._last.setdefault(path[-1], []).append(sequence)
            else:
                self._stop.setdefault(end, []).append(sequence)

    def result(self, sequence: int, score: float, rules: BeamRules) -> BeamResult:
        """A sequence with its score."""
        return BeamResult(sequence, score, rules.value(score, self._lengths[sequence]))

    def limit(self, node: int, score: float, rules: BeamRules) -> float:
        """The value that a prefix may reach: its score never increases as it gets longer.

        With `end`, that at its own length, by which `generate` stops.
        """
        longer = rules.length_penalty > 0 and not rules.end
        return rules.value(score, max(self._lengths) if longer else int(self._depths[node]))

    def ending(self, node: int, score: float, logits: torch.Tensor) -> Iterator[tuple[int, float]]:
        """The sequences that end at `node` of `score`, or one token after it, with their scores."""
        if stopping := self._stop.get(node):
            end = score + log_prob_ends(logits, self._tokens[self._edges[node]])
            yield from ((sequence, end) for sequence in stopping)
        for edge, likely in self._likely(node, logits):
            yield from ((sequence, score + likely) for sequence in self._last.get(edge, ()))

    def going_on(self, node: int, score: float, logits: torch.Tensor) -> dict[int, float]:
        """The child nodes of `node`, with their scores."""
        likely = self._likely(node, logits)
        return {self._nodes[e]: score + one for e, one in likely if e in self._nodes}

    def _likely(self, node: int, logits: torch.Tensor) -> Iterator[tuple[int, float]]:
        edges = self._edges[node]
        said = logits[torch.from_numpy(self._tokens[edges])] - logits.logsumexp(-1)
        return zip(edges, said.double().tolist(), strict=True)


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
    def tokens(self) -> list[int]:
        """Number of tokens read for each question."""
        return [len(row.prompt.ids) + len(row.columns) for row in self._rows]

    def logits_at(self, nodes: Sequence[list[int]]) -> list[torch.Tensor]:
        """Logits (nodes, vocabulary) of the next level of each trie, which begins with node 0."""
        logits = self._next(nodes) if self._rows[0].seen.size else self._first()
        return [said[: len(some)] for said, some in zip(logits, nodes, strict=True)]

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
