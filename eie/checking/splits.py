"""Assigns splits by a key that they must not share, so that nothing leaks between them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, get_args

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
By = Literal["room", "object", "family"]


def split_of(key: str, seed: int, among: Sequence[str] = ()) -> Split:
    """The split of everything that has `key` (a room, an object, a family of tasks).

    70 % of the keys train, 10 % validate and 20 % test. A hash decides, so a key's split does not
    depend on the rest of the set.

    Args:
        key: in question.
        seed: of the set.
        among: all keys, if they are few. Three or more are then apportioned by the order of their
            hashes, so that no split stays empty.
    """
    if len(among) > 2 and key in among:
        order = sorted(among, key=lambda other: _place(other, seed), reverse=True)
        tests, rest = max(1, round(0.2 * len(order))), order.index(key)
        vals = max(1, round(0.1 * len(order)))
        return "test" if rest < tests else "val" if rest < tests + vals else "train"
    place = _place(key, seed)
    return "train" if place < 0.7 else "val" if place < 0.8 else "test"


def _place(key: str, seed: int) -> float:
    """A uniform number from 0 to 1."""
    digest = hashlib.sha256(f"split {seed} {key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
