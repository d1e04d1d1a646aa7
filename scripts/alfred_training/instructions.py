"""Trains the reader of instructions (`reading/`); needs no simulator."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch.nn import functional

from inhabit.agents.alfred_specialist.reading.network import (
    LINE,
    GoalNetwork,
    Mentions,
    ReaderVocabulary,
    encode,
)
from inhabit.agents.dialogue.synonyms import surface_forms
from inhabit.eie.tuning.settings import TuneError

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CONSONANTS = "bcdfghjklmnprstvwz"


@dataclass(frozen=True, slots=True)
class Instruction:
    """A text with its meaning."""

    text: str
    kind: str
    """The task type."""
    parts: tuple[str, ...]
    """The noun of each role; empty if there is none."""
    allowed: frozenset[str] = frozenset()
    """Nouns of the room; empty where the room is not known."""
    steps: tuple[str, ...] = ()
    """Sentences for each step."""


@dataclass(frozen=True, slots=True)
class InstructionTraining:
    """Hyperparameters."""

    epochs: int = 10
    batch: int = 64
    rate: float = 3e-3
    decay: float = 2e-2
    dropout: float = 0.35
    least: int = 3
    """Occurrences that make a word known."""
    swapped: float = 0.2
    """Share of texts in which a named noun is replaced by another one."""
    unknown: float = 0.03
    """Share of texts in which a named noun is replaced by a word that means nothing: what plays
    its role is then not to be read."""
    misspelt: float = 0.03
    """Share of words with one wrong letter."""
    open: float = 0.25
    """Share of texts that are read without knowing the room."""
    with_steps: float = 0.2
    """Share of texts that are followed by the sentences of their steps, where they have some."""


def reader_vocabulary(instructions: Sequence[Instruction], least: int) -> ReaderVocabulary:
    """The words said at least `least` times, the task types and the nouns."""
    counts = Counter(token for one in instructions for token in _tokens(one))
    return ReaderVocabulary(
        words=tuple(sorted(token for token, count in counts.items() if count >= least)),
        tasks=tuple(sorted({one.kind for one in instructions})),
        nouns=("", *sorted({noun for one in instructions for noun in one.parts if noun})),
    )


def train_reader(
    instructions: Sequence[Instruction],
    vocabulary: ReaderVocabulary,
    settings: InstructionTraining,
    *,
    seed: int,
    tell: Callable[[str], None],
) -> GoalNetwork:
    """Train a reader. `tell` is called with a line after every epoch.

    Raises:
        TuneError: a loss is not finite.
    """
    torch.manual_seed(seed)
    rng = random.Random(seed)
    network = GoalNetwork(vocabulary, dropout=settings.dropout).train()
    steps = settings.epochs * -(-len(instructions) // settings.batch)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=settings.rate, weight_decay=settings.decay
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.rate, total_steps=steps)
    augment = _Augmentation(vocabulary, settings, rng)
    for epoch in range(settings.epochs):
        order = rng.sample(range(len(instructions)), len(instructions))
        total = 0.0
        for batch in _batches([augment(instructions[i]) for i in order], settings.batch, rng):
            loss = _loss(network, batch, vocabulary)
            if not torch.isfinite(loss):
                raise TuneError(f"The loss of epoch {epoch + 1} is no number.")
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * len(batch)
        tell(f"epoch {epoch + 1}: loss {total / len(order):.3f}")
    return network.eval().requires_grad_(False)


@dataclass(frozen=True, slots=True)
class _Example:
    words: tuple[str, ...]
    kind: str
    parts: tuple[str, ...]
    allowed: frozenset[str]


class _Augmentation:
    """Makes an example of an instruction, another one each time."""

    def __init__(
        self, vocabulary: ReaderVocabulary, settings: InstructionTraining, rng: random.Random
    ) -> None:
        self._nouns = vocabulary.nouns
        self._mentions = Mentions(vocabulary.nouns)
        self._settings, self._rng = settings, rng

    def __call__(self, one: Instruction) -> _Example:
        rng, settings = self._rng, self._settings
        words = encode(one.text)
        if one.steps and rng.random() < settings.with_steps:
            words += _tokens(replace(one, text=""))
        parts, allowed = one.parts, one.allowed
        chance = rng.random()
        if chance < settings.swapped + settings.unknown:
            words, parts = self._swapped(words, parts, chance < settings.unknown)
        if rng.random() < settings.open:
            allowed = frozenset()
        if allowed:
            allowed |= {part for part in parts if part}
        words = [
            _misspelt(word, rng) if rng.random() < settings.misspelt else word for word in words
        ]
        return _Example(tuple(words), one.kind, parts, allowed)

    def _swapped(
        self, words: Sequence[str], parts: tuple[str, ...], unknown: bool
    ) -> tuple[list[str], tuple[str, ...]]:
        """Replace one noun of a role, where it is named, by another one or by an unknown word."""
        found = self._mentions.find(words)
        named = {self._nouns[noun] for _, noun in found.values()}
        roles = [role for role, part in enumerate(parts) if part and part in named]
        if not roles:
            return list(words), parts
        role = self._rng.choice(roles)
        other = "" if unknown else self._rng.choice(self._nouns[1:])
        if other and other in parts:
            return list(words), parts
        name = [_invented(self._rng)]
        if other:
            name = encode(self._rng.choice(list(surface_forms(other))))
        changed: list[str] = []
        at = 0
        while at < len(words):
            size, noun = found.get(at, (1, 0))
            same = noun and self._nouns[noun] == parts[role]
            changed += name if same else words[at : at + size]
            at += size
        return changed, tuple(other if p == parts[role] else p for p in parts)


def _tokens(one: Instruction) -> list[str]:
    found = encode(one.text) if one.text else []
    for step in one.steps:
        found += [LINE, *encode(step)]
    return found


def _invented(rng: random.Random) -> str:
    """A word of two to four syllables that means nothing."""
    return "".join(
        rng.choice(_CONSONANTS) + rng.choice("aeiou") + rng.choice(("", "", "n", "r", "l", "ff"))
        for _ in range(rng.randint(2, 4))
    )


def _misspelt(word: str, rng: random.Random) -> str:
    if len(word) < 4 or not word.isalpha():
        return word
    at = rng.randrange(len(word) - 1)
    return rng.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + rng.choice(_LETTERS) + word[at + 1 :],
            word[:at] + word[at] + word[at:],
        )
    )


def _batches(examples: Sequence[_Example], size: int, rng: random.Random) -> list[list[_Example]]:
    """Batches of examples of similar length, in random order."""
    near = sorted(examples, key=lambda one: (len(one.words) // 8, rng.random()))
    batches = [list(near[first : first + size]) for first in range(0, len(near), size)]
    rng.shuffle(batches)
    return batches


def _loss(
    network: GoalNetwork, batch: Sequence[_Example], vocabulary: ReaderVocabulary
) -> torch.Tensor:
    tasks, roles = network(
        [one.words for one in batch], allowed_nouns(vocabulary, [one.allowed for one in batch])
    )
    kinds = torch.tensor([vocabulary.tasks.index(one.kind) for one in batch])
    number = {noun: i for i, noun in enumerate(vocabulary.nouns)}
    parts = torch.tensor([[number[part] for part in one.parts] for one in batch])
    loss = functional.cross_entropy(tasks, kinds)
    for role in range(parts.shape[1]):
        loss = loss + functional.cross_entropy(roles[:, role], parts[:, role])
    return loss


def allowed_nouns(vocabulary: ReaderVocabulary, allowed: Sequence[frozenset[str]]) -> torch.Tensor:
    """Which nouns may be answered, bool (texts, nouns)."""
    return torch.tensor(
        [[not some or not noun or noun in some for noun in vocabulary.nouns] for some in allowed]
    )
