"""Parses a goal: its task type, and the role of each noun.

"Chill a bowl in the fridge, then place it in the sink" and "I need a cold bowl in the sink" ask for
the same in different words and with a different number of nouns. The ranker gets the parsed goal,
so it does not depend on the wording.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

PARTS = ("object", "place", "movable")
"""Roles of nouns: the wanted object; its destination, or the lamp to hold it under; a movable
receptacle that it is put into."""
_OTHER = len(PARTS)
"""The role of any other noun, such as the fridge that something is chilled in."""
_WIDTH = 32


@dataclass(frozen=True, slots=True)
class ParsedGoal:
    """A parsed goal."""

    task: int
    """Index of the task type in `RankerVocabulary.tasks`."""
    nouns: tuple[str, ...]
    """One noun for each of `PARTS`, empty where the goal has none."""


class GoalReader(nn.Module):
    """A small bidirectional recurrent network over the words of a goal."""

    def __init__(self, words: Sequence[str], tasks: int) -> None:
        """Create an untrained reader for `tasks` types; words not in `words` share one entry."""
        super().__init__()
        self._number = {_stem(word): i for i, word in enumerate(words, start=1)}
        self.words = nn.Embedding(len(words) + 1, _WIDTH)
        self.sentence = nn.GRU(_WIDTH, _WIDTH, bidirectional=True)
        self.task = nn.Linear(2 * _WIDTH, tasks)
        self.cues = nn.Embedding(len(words) + 1, tasks, padding_idx=0)
        self.part = nn.Linear(2 * _WIDTH, len(PARTS) + 1)

    def numbers(self, words: Sequence[str]) -> torch.Tensor:
        """Indices of the words of a goal, 0 for unknown ones, (words,)."""
        known = [self._number.get(_stem(word), 0) for word in words]
        return torch.tensor(known, dtype=torch.long)

    def forward(self, numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of the types (tasks,), and of the roles at each word (words, 4)."""
        read, _ = self.sentence(self.words(numbers))
        # A word such as "chill" indicates the type at any position.
        tasks: torch.Tensor = self.task(read.amax(0)) + self.cues(numbers).sum(0)
        return tasks.log_softmax(0), self.part(read).log_softmax(1)

    @torch.no_grad()
    def read(self, goal: Sequence[str], slots: Sequence[str]) -> ParsedGoal:
        """Parse a goal: each role goes to its likeliest noun, and each noun has one role.

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
