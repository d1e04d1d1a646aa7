"""The network of the reader: a bidirectional GRU over words, with one classifier per role.

A word is the sum of its own embedding and the mean embedding of its character n-grams, as in
fastText (Bojanowski et al., 2017), so that misspelt words and plurals are close to known ones. A
known name also adds directly to the score of its noun, so that rare nouns are read as well.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from inhabit.agents.alfred_specialist.reading.reading import ROLES
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


_EMBEDDED, _HIDDEN = 96, 128
_HEADS = 1 + len(ROLES)
_EXCLUDED = -1e4


@dataclass(frozen=True, slots=True)
class ReaderVocabulary:
    """The words that a reader knows, and what it may answer."""

    words: tuple[str, ...]
    tasks: tuple[str, ...]
    """Task types."""
    nouns: tuple[str, ...]
    """The first one is "": the role is not filled."""


class GoalNetwork(nn.Module):
    """Maps instructions to logits of task types and of the noun of each role."""

    def __init__(self, vocabulary: ReaderVocabulary, *, dropout: float = 0.0) -> None:
        super().__init__()
        self._number = {word: i for i, word in enumerate(vocabulary.words, start=1)}
        self.mentions = Mentions(vocabulary.nouns)
        nouns = len(vocabulary.nouns)
        self._nouns = nouns
        self.words = nn.Embedding(len(vocabulary.words) + 1, _EMBEDDED)
        self.grams = nn.EmbeddingBag(BUCKETS, _EMBEDDED, mode="mean")
        self.named = nn.Embedding(2, _EMBEDDED)
        self.dropout = nn.Dropout(dropout)
        self.sentence = nn.GRU(_EMBEDDED, _HIDDEN, bidirectional=True, batch_first=True)
        self.attention = nn.Linear(2 * _HIDDEN, _HEADS)
        self.pointer = nn.Linear(2 * _HIDDEN, len(ROLES))
        self.task = nn.Linear(4 * _HIDDEN, len(vocabulary.tasks))
        self.roles = nn.ModuleList(nn.Linear(4 * _HIDDEN, nouns) for _ in ROLES)

    def forward(
        self, texts: Sequence[Sequence[str]], allowed: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the task types (texts, tasks) and of the nouns (texts, roles, nouns).

        Args:
            texts: tokens of each instruction, at least one.
            allowed: bool (texts, nouns): what the answer may be; None for every noun.
        """
        lengths = torch.tensor([len(text) for text in texts])
        named = torch.zeros(len(texts), int(lengths.max()), dtype=torch.long)
        pointed: list[tuple[int, int, int]] = []
        for row, text in enumerate(texts):
            for at, (size, noun) in self.mentions.find(text).items():
                named[row, at : at + size] = 1
                pointed.append((row, at + size - 1, noun))
        embedded = self.dropout(self._embedded(texts) + self.named(named))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        read, _ = pad_packed_sequence(self.sentence(packed)[0], batch_first=True)
        absent = (torch.arange(read.shape[1])[None] >= lengths[:, None])[..., None]
        weights = self.attention(read).masked_fill(absent, _EXCLUDED).softmax(1)
        attended = torch.einsum("bth,btd->bhd", weights, read)
        most = read.masked_fill(absent, _EXCLUDED).amax(1)
        summary = self.dropout(torch.cat([attended, most[:, None].expand(-1, _HEADS, -1)], 2))
        roles = torch.stack([role(summary[:, i + 1]) for i, role in enumerate(self.roles)], 1)
        roles = roles + self._pointed(read, pointed, len(texts))
        if allowed is not None:
            roles = roles.masked_fill(~allowed[:, None], _EXCLUDED)
        return self.task(summary[:, 0]), roles

    def _embedded(self, texts: Sequence[Sequence[str]]) -> torch.Tensor:
        """The embeddings of all tokens, (texts, tokens, size); each distinct one once."""
        distinct = {token: i for i, token in enumerate(dict.fromkeys(t for s in texts for t in s))}
        parts = [grams(token) for token in distinct]
        offsets = torch.tensor([0, *map(len, parts)])[:-1].cumsum(0)
        flat = torch.tensor([gram for part in parts for gram in part])
        numbers = torch.tensor([self._number.get(token, 0) for token in distinct])
        vectors: torch.Tensor = self.words(numbers) + self.grams(flat, offsets)
        rows = [torch.tensor([distinct[token] for token in text]) for text in texts]
        return vectors[nn.utils.rnn.pad_sequence(rows, batch_first=True)]

    def _pointed(
        self, read: torch.Tensor, pointed: Sequence[tuple[int, int, int]], texts: int
    ) -> torch.Tensor:
        """What the mentions of nouns add to their scores, (texts, roles, nouns)."""
        found = torch.zeros(texts, self._nouns, len(ROLES))
        if pointed:
            rows, places, nouns = torch.tensor(pointed).T
            found = found.index_put((rows, nouns), self.pointer(read[rows, places]), True)
        return found.transpose(1, 2)


def encode(text: str) -> list[str]:
    """The tokens of an instruction, at least one."""
    return tokens(text) or [""]
