"""The candidates that a beam kept, as a tree of their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inhabit.episodes.scoring.likelihood import Share


@dataclass(frozen=True, slots=True)
class BeamBranch:
    """A prefix, and what it goes on with."""

    words: str
    """What it adds to the prefix above."""
    share: float
    """Of the probability of all that was kept."""
    logprob: float | None
    """Of the candidate that ends here, in nats."""
    below: Sequence[BeamBranch] = ()
    cut: int = 0
    """How many further words follow here only in candidates that were cut."""


def beam_tree(shares: Sequence[Share], candidates: Sequence[str]) -> BeamBranch | None:
    """The tree of the kept candidates, from no words on; None where none was cut.

    A record keeps the results of a search: a prefix is kept if a result begins with it, and its
    share is that of all results below it.
    """
    if not shares or not len(shares) < len(candidates):
        return None
    kept = [(tuple(one.text.split()), one) for one in shares]
    below, cut = _grow(kept, [tuple(text.split()) for text in candidates], 0)
    return BeamBranch("", 1.0, None, below, cut)


def _grow(
    kept: Sequence[tuple[tuple[str, ...], Share]], every: Sequence[tuple[str, ...]], at: int
) -> tuple[Sequence[BeamBranch], int]:
    """The branches from word `at` on, and how many words were cut there."""
    heads = list(dict.fromkeys(words[at] for words, _ in kept if len(words) > at))
    branches = []
    for head in heads:
        inside = [one for one in kept if one[0][at : at + 1] == (head,)]
        following = [words for words in every if words[at : at + 1] == (head,)]
        end, words = at + 1, [head]
        # Words between which there is no choice stand together.
        while len(nexts := {w[end : end + 1] for w in following}) == 1 and nexts != {()}:
            words.append(*next(iter(nexts)))
            end += 1
        below, cut = _grow(inside, following, end)
        share = sum(one.share for _, one in inside)
        here = next((one.logprob for text, one in inside if len(text) == end), None)
        branches.append(BeamBranch(" ".join(words), share, here, below, cut))
    others = {words[at] for words in every if len(words) > at} - set(heads)
    return branches, len(others)
