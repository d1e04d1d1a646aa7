"""Assigns splits by a key that they must not share, so that nothing leaks between them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, get_args

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
By = Literal["room", "object", "family"]
_SHARES: tuple[tuple[Split, float], ...] = (("train", 0.7), ("val", 0.1), ("test", 0.2))


def split_of(key: str, seed: int, among: Sequence[str] = ()) -> Split:
    """The split of everything that has `key` (a room, an object, a family of tasks).

    70 % of the keys train, 10 % validate and 20 % test. A hash decides, so a key's split does not
    depend on the rest of the set.

    Args:
        key: in question.
        seed: of the set.
        among: all keys, if they are few. They are then apportioned by the order of their hashes,
            so that no split stays empty.
    """
    place = _place(key, seed)
    if key in among:
        order = sorted(among, key=lambda other: _place(other, seed))
        place = (order.index(key) + 0.5) / len(order)
    for split, share in _SHARES:
        if place < share:
            return split
        place -= share
    return "test"


def _place(key: str, seed: int) -> float:
    """A uniform number from 0 to 1."""
    digest = hashlib.sha256(f"split {seed} {key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
