"""Assigns splits by what they must not share, so that nothing leaks between them."""

from __future__ import annotations

import hashlib
from typing import Literal

from inhabit.eie.examples.example import Split

By = Literal["room", "object", "family"]
_SHARES: tuple[tuple[Split, float], ...] = (("train", 0.7), ("val", 0.1), ("test", 0.2))


def split_of(key: str, seed: int) -> Split:
    """The split of everything that has `key` (a room, an object, a family of tasks).

    Seven in ten keys train, one validates, two test, by a hash: whatever else is in the set, a
    key's split stays the same.
    """
    digest = hashlib.sha256(f"split {seed} {key}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    for split, share in _SHARES:
        if place < share:
            return split
        place -= share
    return "test"
