"""A policy over texts: it scores each plausible action by its words, the goal and the history.

A network that is shared by all actions scores (state, action) pairs. It learns for example that an
action whose words occur in the goal is good once it is offered, and applies this to other objects.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

WORDS = 64
"""Words are hashed into so many features."""
_COMMON = frozenset(
    [
        "a",
        "an",
        "the",
        "in",
        "on",
        "to",
        "up",
        "of",
        "and",
        "it",
        "is",
        "be",
        "with",
        "your",
        "you",
        "i",
    ]
)
_NEVER = -1000


class Batch(NamedTuple):
    """Features of n states, and of the m plausible actions of all of them."""

    state: torch.Tensor  # (n, STATE)
    action: torch.Tensor  # (m, d)
    owner: torch.Tensor  # (m,): the state of each action
    index: torch.Tensor  # (m,): its number in the vocabulary

    @staticmethod
    def join(parts: Sequence[Batch]) -> Batch:
        """One batch of the states of all parts, in order."""
        sizes = np.cumsum([0, *(len(part.state) for part in parts)])
        owner = [part.owner + int(first) for part, first in zip(parts, sizes, strict=False)]
        states, actions, _, index = (torch.cat(column) for column in zip(*parts, strict=True))
        return Batch(states, actions, torch.cat(owner), index)

    def take(self, states: torch.Tensor) -> tuple[Batch, torch.Tensor]:
        """The batch of some states in this order, and the numbers of its rows in this one."""
        place = torch.full((len(self.state),), -1)
        place[states] = torch.arange(len(states))
        rows = torch.nonzero(place[self.owner] >= 0)[:, 0]
        owner = place[self.owner[rows]]
        return Batch(self.state[states], self.action[rows], owner, self.index[rows]), rows


class History:
    """What one episode has shown so far, and the features of its plausible actions."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._vocabulary = vocabulary
        verbs = sorted({text.split()[0] for text in vocabulary})
        self._verb = np.array([verbs.index(text.split()[0]) for text in vocabulary])
        self._verbs = len(verbs)
        self._words = np.stack([_hashed(text) for text in vocabulary])
        self.begin("")

    def begin(self, goal: str) -> None:
        """Forget the last episode."""
        n = len(self._vocabulary)
        self._step, self._last, self._goal = 0, -1, goal
        self._match = np.array([_match(text, goal) for text in self._vocabulary], np.float32)
        self._offered, self._tried, self._failed = (np.full(n, _NEVER) for _ in range(3))
        self._times, self._revealed = np.zeros(n), np.zeros(n)
        self._verb_worked = np.full(self._verbs, _NEVER)

    def note(self, action: int, worked: bool) -> None:
        """An action has been executed."""
        self._step += 1
        self._last = action
        self._tried[action] = self._step
        self._times[action] += 1
        if worked:
            self._verb_worked[self._verb[action]] = self._step
        else:
            self._failed[action] = self._step

    def features(self, mask: np.ndarray, text: str, feedback: str) -> tuple[Any, Any]:
        """Of the state, and of each plausible action."""
        index = np.flatnonzero(mask)
        new = index[self._offered[index] == _NEVER]
        self._offered[new] = self._step
        if self._last >= 0:
            self._revealed[self._last] = self._match[new, 0].max(initial=0.0)
        verbs = self._verb_worked
        since = [
            times[index, None] >= verbs for times in (self._offered, self._tried, self._failed)
        ]
        ages = [_fade(self._step - times[index]) for times in (self._tried, self._failed)]
        action = np.concatenate([
            self._words[index], self._match[index], *since, *ages,
            np.minimum(self._times[index, None], 3) / 3, self._revealed[index, None],
            (index == self._last)[:, None],
        ], 1, dtype=np.float32)  # fmt: skip
        last = self._words[self._last] if self._last >= 0 else np.zeros(WORDS, np.float32)
        state = np.concatenate([
            _hashed(self._goal), _hashed(text), _hashed(feedback), last,
            _match(text, self._goal), _match(feedback, self._goal),
            _fade(self._step - verbs).ravel(), [self._step / 50],
        ], dtype=np.float32)  # fmt: skip
        return state, action


class Policy(nn.Module):
    """Log-probabilities of the plausible actions, and the value of each state."""

    def __init__(self, example: Batch, hidden: int = 128) -> None:
        super().__init__()
        self.state = nn.Linear(example.state.shape[1], hidden)
        self.action = nn.Linear(example.action.shape[1], hidden)
        self.gate = nn.Linear(example.action.shape[1], hidden)
        self.body = nn.Sequential(nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.score = nn.Linear(hidden, 1)
        self.value = nn.Sequential(nn.Linear(3 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        nn.init.zeros_(self.score.weight)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities (m,) and values (n,)."""
        n, owner = len(batch.state), batch.owner
        state = self.state(batch.state)
        # The product lets a word of the state meet a word of the action, as fridge and kitchen.
        pair = self.body(state[owner] * self.gate(batch.action) + self.action(batch.action))
        score = self.score(pair)[:, 0]
        best = score.new_full((n,), -1e9).scatter_reduce(0, owner, score.detach(), "amax")
        total = score.new_zeros(n).index_add(0, owner, (score - best[owner]).exp())
        logp = score - (best + total.log())[owner]
        mean = pair.new_zeros(n, pair.shape[1]).index_add(
            0, owner, pair * logp.detach().exp()[:, None]
        )
        spread = owner[:, None].expand_as(pair)
        most = pair.new_zeros(n, pair.shape[1]).scatter_reduce(0, spread, pair, "amax")
        return logp, self.value(torch.cat([state, mean, most], 1))[:, 0]


def per_state(values: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Sums of values of actions, for each state."""
    return values.new_zeros(len(batch.state)).index_add(0, batch.owner, values)


def sample(logp: torch.Tensor, batch: Batch) -> torch.Tensor:
    """The row of an action for each state, chosen with these probabilities."""
    noisy = logp - torch.empty_like(logp).exponential_().log()  # Gumbel's trick.
    best = logp.new_full((len(batch.state),), -1e9).scatter_reduce(0, batch.owner, noisy, "amax")
    return torch.nonzero(noisy == best[batch.owner])[:, 0]


def _fade(ages: np.ndarray) -> np.ndarray:
    """Ages in steps, as values that fall from 1 to 0 at two speeds."""
    return np.exp(-ages[:, None] / np.array([2.0, 10.0]))


@lru_cache(maxsize=100_000)
def _tokens(text: str) -> tuple[str, ...]:
    words = re.findall(r"[a-z]+", text.lower())
    return tuple(w[:-1] if w.endswith("s") and len(w) > 3 else w for w in words)


@lru_cache(maxsize=100_000)
def _hashed(text: str) -> np.ndarray:
    found = np.zeros(WORDS, np.float32)
    for word in _tokens(text):
        code = zlib.crc32(word.encode())
        found[code % WORDS] += 1 if code >> 16 & 1 else -1
    return found


@lru_cache(maxsize=1_000_000)
def _match(text: str, goal: str) -> np.ndarray:
    """How the words of a text occur in the goal: their share, all of them, their place, and the
    longest run of them in the same order.
    """
    wanted = _tokens(goal)
    said = [word for word in _tokens(text)[1:] if word not in _COMMON]
    places = [wanted.index(word) for word in said if word in wanted]
    if not places:
        return np.zeros(5, np.float32)
    whole = " ".join(_tokens(text)[1:])
    share, place = len(places) / len(said), places[0] / len(wanted)
    return np.array(
        [share, share == 1, place, share * (len(said) > 1), whole in " ".join(wanted)], np.float32
    )
