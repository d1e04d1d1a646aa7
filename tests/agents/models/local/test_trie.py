"""Packing sequences into a tree loses nothing and repeats nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inhabit.agents.models.trie import Trie

sequences = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=12)


def prefix(trie: Trie, node: int) -> tuple[int, ...]:
    """The tokens of a node, read off its ancestors in the order of their depth."""
    line = sorted(trie.ancestors[node].nonzero()[0], key=lambda n: trie.depths[n])
    return tuple(int(trie.tokens[n]) for n in line if n)


@given(sequences)
def test_every_sequence_can_be_read_back(given_sequences: list[list[int]]) -> None:
    trie = Trie.pack(given_sequences)
    for sequence, path, end in zip(given_sequences, trie.paths, trie.ends, strict=True):
        assert [trie.edge_tokens[edge] for edge in path] == sequence
        for i, edge in enumerate(path):
            assert prefix(trie, trie.edge_nodes[edge]) == tuple(sequence[:i])
        goes_on = any(
            len(other) > len(sequence) and other[: len(sequence)] == sequence
            for other in given_sequences
        )
        assert (end is not None) == goes_on
        if end is not None:
            assert prefix(trie, end) == tuple(sequence)


@given(sequences)
def test_nothing_is_read_twice_and_nothing_in_vain(given_sequences: list[list[int]]) -> None:
    trie = Trie.pack(given_sequences)
    followed = {tuple(s[:i]) for s in given_sequences for i in range(len(s))}
    nodes = [prefix(trie, node) for node in range(len(trie))]
    assert nodes[0] == ()
    assert len(nodes) == len(set(nodes))
    assert set(nodes) == followed
    assert [len(node) for node in nodes] == trie.depths.tolist()


@pytest.mark.parametrize("bad", [[], [[]], [[1], []]])
def test_there_must_be_something_to_pack(bad: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="at least one token"):
        Trie.pack(bad)
