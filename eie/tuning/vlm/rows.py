"""Episodes as rows of tokens, with every label of an episode in one row.

The trunk of a row is what was seen and done, exactly as the model is asked with `history=whole`. A
label that was not what was done, or a question about what is seen, is a branch: later tokens don't
see it, and it sees the trunk before it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from inhabit.agents.core import Step
from inhabit.agents.dialogue.prompt import Prompt
from inhabit.agents.models.vlm.processor import IMAGE, Attention
from inhabit.agents.models.vlm.sight import Table, nothing
from inhabit.eie.tuning.vlm.episodes import LabelledEpisode, LabelledStep

_SURE, _ABSENT = 0.6, 0.1
"""Confidence from which a class counts as seen in questions, and below which as not seen."""
_SAID = 4
"""Classes that an answer to "what do you see" names."""


@dataclass(slots=True, eq=False)
class TokenRow:
    """Tokens with labels: a trunk that is continued token by token, and branches that leave it."""

    ids: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Position of each token."""
    branches: list[int] = field(default_factory=list)
    """0 for tokens of the trunk, else the number of the token's branch."""
    sources: list[int] = field(default_factory=list)
    """Index of the token after which each label comes."""
    targets: list[int] = field(default_factory=list)
    """Token id of each label."""
    detections: Table = field(default_factory=nothing)
    """Detections of the image tokens, in order."""
    answers: list[int] = field(default_factory=list)
    """Index of the label that begins the answer to each question."""
    at: int = -1
    """Index of the last token of the trunk."""

    def say(self, tokens: Iterable[int], *, labelled: bool = False) -> None:
        """Continue the trunk."""
        for token in tokens:
            self._add(token, 0, self.at, labelled)
            self.at = len(self.ids) - 1

    def branch(self, before: Sequence[int], label: Sequence[int]) -> None:
        """Leave the trunk for `before`, and then what is to be said."""
        number, source = max(self.branches, default=0) + 1, self.at
        for i, token in enumerate([*before, *label]):
            self._add(token, number, source, i >= len(before))
            source = len(self.ids) - 1

    def _add(self, token: int, branch: int, source: int, labelled: bool) -> None:
        if labelled:
            self.sources.append(source)
            self.targets.append(token)
        self.ids.append(token)
        self.places.append(self.places[source] + 1 if source >= 0 else 0)
        self.branches.append(branch)


class Rows:
    """Writes rows for one model."""

    def __init__(self, tokenizer: Any, prompt: Prompt, classes: Sequence[str]) -> None:
        """Write rows with the tokenizer and the prompt of a model; `classes` are of detections.

        Only the first turn of `prompt` tells the goal.
        """
        self._tokenizer, self._prompt, self.classes = tokenizer, prompt, classes
        self._known: dict[str, Sequence[int]] = {}
        self._ask = self.tokens("\n" + prompt.ask())
        self._turns: dict[object, str] = {}

    def episode(
        self, episode: LabelledEpisode, goal: str, questions: Mapping[int, Sequence[int]]
    ) -> TokenRow:
        """A whole episode, every step labelled.

        `questions` has the classes that are asked about at some steps.
        """
        row = TokenRow()
        for number, shown in enumerate(self._begun(row, episode.steps, goal, None)):
            step = episode.steps[number]
            for asked in questions.get(number, ()):
                seen = "yes" if asked in shown[:, 0] else "no"
                row.answers.append(len(row.targets))
                row.branch(self.tokens(f"\n{self.classes[asked]}?"), self.reply(seen))
            if len(shown) and number in questions:
                row.branch(self.tokens("\nsay"), self.reply(self.said(shown)))
            row.say(self._ask)
            if step.best != step.action:
                row.branch((), self.reply(step.best))
            row.say(self.reply(step.action), labelled=step.best == step.action)
        return row

    def without(self, episode: LabelledEpisode, goal: str, hidden: int) -> TokenRow:
        """The episode as if the class `hidden` had never been detected, up to the last step that is
        labelled for this: other pictures, the same words, other answers.
        """
        row = TokenRow()
        asked = [i for i, step in enumerate(episode.steps) if step.hidden == hidden]
        for number, _ in enumerate(self._begun(row, episode.steps, goal, hidden)):
            step = episode.steps[number]
            row.say(self._ask)
            if step.hidden == hidden:
                row.branch((), self.reply(step.unseen or step.best))
            if number == asked[-1]:
                break
            row.say(self.reply(step.action))
        return row

    def asked(self, steps: Sequence[LabelledStep], goal: str) -> TokenRow:
        """What the model is asked at the last of `steps`, which has no action yet."""
        row = TokenRow()
        for number, _ in enumerate(self._begun(row, steps, goal, None), 1):
            row.say(self._ask)
            if number < len(steps):
                row.say(self.reply(steps[number - 1].action))
        return row

    def said(self, shown: Table) -> str:
        """What is surely in view, in a sentence."""
        sure = shown[shown[:, 1].argsort()[::-1]][:_SAID]
        *named, last = (f"a {self.classes[int(row[0])]}" for row in sure)
        return f"I see {', '.join(named)} and {last}." if named else f"I see {last}."

    def _begun(
        self, row: TokenRow, steps: Sequence[LabelledStep], goal: str, hidden: int | None
    ) -> Iterator[Table]:
        """Write each step up to its images; yields all that was detected in them."""
        row.say(self.tokens(self._tokenizer.bos_token))
        last: Step | None = None
        attend = Attention(self.classes)
        for step in steps:
            row.say(self.tokens(self._turn(goal, last, step.text)))
            shown = attend(step.table[step.table[:, 0] != hidden])
            row.say(self.tokens(IMAGE * len(shown)))
            row.detections = np.concatenate([row.detections, shown])
            yield shown
            last = Step(step.action, step.reason, step.feedback)

    def _turn(self, goal: str, last: Step | None, text: str) -> str:
        known = last and (last.action, last.reason, last.feedback)
        # Later turns are rendered once for all episodes in which they are the same.
        key = "" if last else goal, known, text
        if key not in self._turns:
            self._turns[key] = self._prompt.turn(goal, last, text)
        return self._turns[key]

    def reply(self, text: str) -> Sequence[int]:
        """The tokens of an answer, its end included."""
        return self.tokens(f" {text}{self._tokenizer.eos_token}")

    def tokens(self, text: str) -> Sequence[int]:
        """The tokens of a part of a row."""
        if text not in self._known:
            read = self._tokenizer(text, add_special_tokens=False)["input_ids"]
            self._known[text] = tuple(read)
        return self._known[text]


def questions(
    episodes: Sequence[LabelledEpisode], classes: Sequence[str], each: int, rng: random.Random
) -> list[dict[int, list[int]]]:
    """Questions for each episode: two steps, and up to `each` classes at each of them; none if
    `each` is 0.

    Every class is asked about as often where it is seen as where it is not, so that no answer can
    be guessed from the class.
    """
    asked: list[dict[int, list[int]]] = []
    balance = dict.fromkeys(range(len(classes)), 0)
    for episode in episodes:
        steps = rng.sample(range(len(episode.steps)), min(2 if each else 0, len(episode.steps)))
        asked.append({step: [] for step in steps})
        attend = Attention(classes)
        for number, step in enumerate(episode.steps):
            shown = attend(step.table)
            if number not in steps or not len(shown):
                continue
            glimpsed = {int(row[0]) for row in step.table if row[1] >= _ABSENT}
            seen = [int(row[0]) for row in shown if row[1] >= _SURE and balance[int(row[0])] <= 0]
            owed = [k for k in balance if balance[k] > 0 and k not in glimpsed]
            picked = rng.sample(seen, min(each // 2, len(seen)))
            picked += rng.sample(owed, min(each // 2, len(owed)))
            for k in picked:
                balance[k] += 1 if k in seen else -1
            rng.shuffle(picked)
            asked[-1][number] = picked
    return asked


def padded(rows: Sequence[TokenRow], device: torch.device | None = None) -> dict[str, torch.Tensor]:
    """Rows as the inputs of the model: ids, positions and a mask of what each token sees."""
    longest = max(len(row.ids) for row in rows)
    branches = _stacked([row.branches for row in rows], longest).to(device)
    trunk = branches[:, None] == 0
    visible = (trunk | (branches[:, None] == branches[:, :, None])).tril()
    hidden = torch.zeros(visible.shape, device=device)
    hidden.masked_fill_(~visible, torch.finfo(torch.float32).min)
    seen = torch.from_numpy(np.concatenate([row.detections for row in rows]))
    return {
        "input_ids": _stacked([row.ids for row in rows], longest).to(device),
        "position_ids": _stacked([row.places for row in rows], longest).to(device),
        "attention_mask": hidden[:, None],
        "detections": seen.to(device),
    }


def _stacked(lists: Sequence[Sequence[int]], longest: int) -> torch.Tensor:
    return torch.tensor([[*one, *[0] * (longest - len(one))] for one in lists])
