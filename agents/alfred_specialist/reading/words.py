"""Words, character n-grams and known nouns of an instruction, as the inputs of `network.py`."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache

from inhabit.agents.dialogue.synonyms import surface_forms

BUCKETS = 6000
"""Number of embeddings that all character n-grams share, by hash."""
LINE = "<line>"
"""The token of a line break: step sentences follow the goal on lines of their own."""
LONGEST = 400
"""Number of tokens of an instruction that are read; the rest is cut off."""
_TOKEN = re.compile(r"\n+|[^\W\d_]+|\d+")
_SIZES = (3, 4, 5)
_PHRASE = 4
"""Maximum number of words in the name of a noun."""


def tokens(text: str) -> list[str]:
    """The words of an instruction in lower case, and its line breaks."""
    found = _TOKEN.findall(text.strip().lower())
    return [LINE if token.startswith("\n") else token for token in found[:LONGEST]]


@lru_cache(maxsize=32768)
def grams(token: str) -> tuple[int, ...]:
    """The buckets of a token's character n-grams."""
    marked = f"<{token[:40]}>"
    parts = {
        marked[at : at + size] for size in _SIZES for at in range(max(1, len(marked) - size + 1))
    }
    return tuple(sorted(zlib.crc32(part.encode()) % BUCKETS for part in parts))


class Mentions:
    """Finds the known names of nouns among tokens."""

    def __init__(self, nouns: Sequence[str]) -> None:
        """Look for these nouns, in singular and plural, and for their synonyms."""
        self._known: dict[tuple[str, ...], int] = {}
        for index, noun in enumerate(nouns):
            if noun:
                self._known[tuple(tokens(noun))] = index
        for index, noun in enumerate(nouns):
            for form in surface_forms(noun) if noun else ():
                self._known.setdefault(tuple(tokens(form)), index)

    def find(self, words: Sequence[str]) -> Mapping[int, tuple[int, int]]:
        """Position of a mention -> its number of words, and the index of the noun.

        Of overlapping mentions the first is taken, and of those the longest.
        """
        found: dict[int, tuple[int, int]] = {}
        at = 0
        while at < len(words):
            for size in range(min(_PHRASE, len(words) - at), 0, -1):
                noun = self._known.get(tuple(words[at : at + size]))
                if noun is not None:
                    found[at] = size, noun
                    at += size - 1
                    break
            at += 1
        return found
