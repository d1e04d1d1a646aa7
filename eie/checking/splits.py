"""Assigns splits by a key that they must not share, so that nothing leaks between them."""

from __future__ import annotations

import hashlib
from typing import Literal

from inhabit.eie.examples.example import Split

By = Literal["room", "object", "family"]
_SHARES: tuple[tuple[Split, float], ...] = (("train", 0.7), ("val", 0.1), ("test", 0.2))


def split_of(key: str, seed: int) -> Split:
    """The split of everything that has `key` (a room, an object, a family of tasks).

    70 % of the keys train, 10 % validate and 20 % test. A hash decides, so a key's split does not
    depend on the rest of the set.
    """
    digest = hashlib.sha256(f"split {seed} {key}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    for split, share in _SHARES:
        if place < share:
            return split
        place -= share
    return "test"
