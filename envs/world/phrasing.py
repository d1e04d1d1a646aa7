"""The learnt units of people's goals with their counts, and hashes of the goals they came from.

`scripts/learn_phrasing` writes both files. They hold no sentence of anybody.
"""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_FOLDER = Path(__file__).parent
FACTS = _FOLDER / "phrasing.json"
"""Unit, such as "heat" or "name sofa" -> form -> number of goals that have it."""
KNOWN = _FOLDER / "people.npy"
"""`fingerprint` of every goal that was learnt from, uint32 (n,), sorted."""
_TEMPER = 0.5
"""Exponent of the counts, but those of articles: below 1, rare forms come more often than in
people's goals."""


@lru_cache(maxsize=1)
def facts() -> Mapping[str, Mapping[str, int]]:
    """All units."""
    found: Mapping[str, Mapping[str, int]] = json.loads(FACTS.read_text(encoding="utf-8"))
    return found


def pick(unit: str, rng: random.Random, fits: Callable[[str], bool] = lambda form: True) -> str:
    """A form of a unit, by its frequency; "" if none fits.

    Args:
        unit: a key of `facts`.
        rng: the source of randomness.
        fits: which forms may be picked.
    """
    found = {form: n for form, n in facts().get(unit, {}).items() if fits(form)}
    if not found:
        return ""
    temper = 1.0 if unit.startswith("det ") else _TEMPER
    return rng.choices(list(found), [n**temper for n in found.values()])[0]


def fingerprint(text: str) -> int:
    """A 32-bit hash of a text's words, whatever their case and punctuation."""
    return zlib.crc32(" ".join(re.findall(r"[a-z0-9]+", text.lower())).encode())


def is_known(text: str) -> bool:
    """Whether a goal equals one that a person wrote; wrongly true once in 230,000 texts."""
    known = _known()
    at = int(np.searchsorted(known, fingerprint(text)))
    return at < len(known) and int(known[at]) == fingerprint(text)


@lru_cache(maxsize=1)
def _known() -> NDArray[np.uint32]:
    found: NDArray[np.uint32] = np.load(KNOWN, allow_pickle=False)
    return found
