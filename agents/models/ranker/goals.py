"""What a goal asks for: which type of task it is, and which part each of its nouns plays.

"Chill a bowl in the fridge, then place it in the sink" and "I need a cold bowl in the sink" ask for
the same, but speak of it in other words and of another number of nouns. Whoever acts is told what
is asked for, and not how it was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

PARTS = ("object", "place", "movable")
"""What is wanted; where it belongs, or the lamp that it is held under; what it lies in there."""
_OTHER = len(PARTS)
"""The part of a noun that only says how, such as the fridge that something is chilled in."""
_WIDTH = 32


@dataclass(frozen=True, slots=True)
class ParsedGoal:
    """What a goal asks for."""

    task: int
    """The type of task: its place in `Lexicon.tasks`."""
    nouns: tuple[str, ...]
    """One for each of `PARTS`, empty where a goal has no such part."""


class GoalReader(nn.Module):
    """Reads the words of a goal from both ends: a small recurrent network."""

    def __init__(self, words: Sequence[str], tasks: int) -> None:
        """A reader of so many types of `tasks` that has learnt nothing yet.

        All words beside `words` are one to it.
        """
        super().__init__()
        self._number = {_stem(word): i for i, word in enumerate(words, start=1)}
        self.words = nn.Embedding(len(words) + 1, _WIDTH)
        self.sentence = nn.GRU(_WIDTH, _WIDTH, bidirectional=True)
        self.task = nn.Linear(2 * _WIDTH, tasks)
        self.cues = nn.Embedding(len(words) + 1, tasks, padding_idx=0)
        self.part = nn.Linear(2 * _WIDTH, len(PARTS) + 1)

    def numbers(self, words: Sequence[str]) -> torch.Tensor:
        """Of the words of a goal, 0 for those that are not known, (words,)."""
        known = [self._number.get(_stem(word), 0) for word in words]
        return torch.tensor(known, dtype=torch.long)

    def forward(self, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of the types (tasks,), and of the parts at each word (words, 4)."""
        read, _ = self.sentence(self.words(numbers))
        # A word such as "chill" tells of the type wherever it stands.
        tasks: torch.Tensor = self.task(read.amax(0)) + self.cues(numbers).sum(0)
        return tasks.log_softmax(0), self.part(read).log_softmax(1)

    @torch.no_grad()
    def read(self, goal: Sequence[str], slots: Sequence[str]) -> ParsedGoal:
        """What a goal asks for: each part is played by the noun that is likeliest to, and no other.

        Args:
            goal: its words, nouns as "<0>", "<1>" and so on.
            slots: the nouns.
        """
        if not goal:
            return ParsedGoal(0, ("",) * len(PARTS))
        tasks, parts = self(self.numbers(goal))
        chances: list[tuple[float, str, int]] = []
        for i, noun in enumerate(slots):
            each: list[float] = parts[goal.index(f"<{i}>")].tolist()
            likelier = [part for part in range(_OTHER) if each[part] > each[_OTHER]]
            chances += [(each[part], noun, part) for part in likelier]
        found: dict[int, str] = {}
        for _, noun, part in sorted(chances, reverse=True):
            if part not in found and noun not in found.values():
                found[part] = noun
        return ParsedGoal(int(tasks.argmax()), tuple(found.get(i, "") for i in range(len(PARTS))))


def _stem(word: str) -> str:
    """A word without its ending: "chilled" is read as "chill"."""
    return re.sub(r"(?<=[a-z]{3})(?:ing|ed|e|s)$", "", word)
