"""A small network that looks for what candidates name, for a baseline with images.

The words of a candidate attend (Vaswani et al., 2017) to the cells of the image, as the vision
network of the built-in planner describes them. It is trained on the set itself, so it also learns
to recognise what that vision network has no class for, in images of any environment.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from inhabit.eie.examples.example import Example
from inhabit.eie.sets.seeing import Grid
from inhabit.eie.sets.text_features import numbered

_WORDS = 2048
"""Number of embedded words; words are hashed to them."""
_COMPONENTS, _WIDTH = 128, 64
"""Principal components of a cell's features, and the width of the network."""
_LEAST = 0.01
"""Added to the spread of each component, relative to that of the first."""
_SAMPLE = 4000
"""Cells that the principal components are computed from."""
_MOST_STEPS, _WARMUP, _BATCH, _RATE, _DECAY, _DROPOUT = 800, 30, 64, 2e-3, 0.1, 0.4
_PASSES = 60
"""Passes over the examples, at most: more over a small set find no more in its images."""
_NEVER = -1e9


class ImageNetwork:
    """Scores the candidates of an example by its image. It does not read the question."""

    def __init__(self, grids: Sequence[Grid], rng: np.random.Generator) -> None:
        """An untrained network for images like these; `rng` chooses the cells of a sample."""
        self._mean, self._components = _principal(grids, rng)
        self._network = _Attention(len(grids[0]), self._components.shape[1])

    @classmethod
    def trained(cls, examples: Sequence[Example], grids: Sequence[Grid], seed: int) -> ImageNetwork:
        """Train by AdamW on one example at least. Figures may differ between processors."""
        rng, threads = np.random.default_rng(seed), torch.get_num_threads()
        # Products are so small that threads would spend their time on waiting for each other.
        torch.set_num_threads(1)
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                made = cls(grids, rng)
                made._train(examples, grids, rng)
        finally:
            torch.set_num_threads(threads)
        return made

    def choose(self, example: Example, grid: Grid) -> int:
        """Index of the candidate with the highest score."""
        with torch.inference_mode():
            return int(self._scores(self._projected([grid]), _read([example]))[0].argmax())

    def _train(
        self, examples: Sequence[Example], grids: Sequence[Grid], rng: np.random.Generator
    ) -> None:
        shown, said = self._projected(grids), _read(examples)
        answers = torch.tensor([example.answer for example in examples])
        weights = self._network.parameters()
        optimizer = torch.optim.AdamW(weights, lr=_RATE, weight_decay=_DECAY)
        steps = min(_MOST_STEPS, max(_WARMUP, _PASSES * len(examples) // _BATCH))
        for step in range(steps):
            chosen = rng.choice(len(examples), min(_BATCH, len(examples)), replace=False)
            for group in optimizer.param_groups:
                group["lr"] = _RATE * min(1, (step + 1) / _WARMUP) * (1 - step / steps)
            scores = self._scores(shown[chosen], said[chosen])
            loss = functional.cross_entropy(scores, answers[chosen])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        self._network.eval()

    def _projected(self, grids: Sequence[Grid]) -> torch.Tensor:
        """The cells of images, (images, cells, components)."""
        return torch.from_numpy(
            np.stack([(grid - self._mean) @ self._components for grid in grids])
        )

    def _scores(self, shown: torch.Tensor, said: torch.Tensor) -> torch.Tensor:
        """Of each candidate, (examples, candidates); of those that an example lacks, the least."""
        scores: torch.Tensor = self._network(shown, said)
        return scores.masked_fill(~said.any(-1), _NEVER)


def _read(examples: Sequence[Example]) -> torch.Tensor:
    """The words of candidates as numbers, (examples, candidates, words); 0 where there is none."""
    said = [numbered(example.candidates, _WORDS - 1) for example in examples]
    most = max(map(len, said))
    longest = max((len(words) for candidates in said for words in candidates), default=1)
    read = torch.zeros(len(said), most, longest, dtype=torch.long)
    for row, candidates in enumerate(said):
        for place, words in enumerate(candidates):
            read[row, place, : len(words)] = torch.tensor(words) + 1
    return read


class _Attention(nn.Module):
    def __init__(self, cells: int, components: int) -> None:
        super().__init__()
        self.words = nn.Embedding(_WORDS, _WIDTH, padding_idx=0)
        self.places = nn.Parameter(0.1 * torch.randn(cells, _WIDTH))
        self.cells = nn.Linear(components, _WIDTH)
        self.query = nn.Linear(_WIDTH, _WIDTH)
        self.key = nn.Linear(_WIDTH, _WIDTH)
        self.value = nn.Linear(_WIDTH, _WIDTH)
        self.dropout = nn.Dropout(_DROPOUT)
        self.score = nn.Sequential(
            nn.Linear(4 * _WIDTH, _WIDTH), nn.ReLU(), nn.Dropout(_DROPOUT), nn.Linear(_WIDTH, 1)
        )
        with torch.no_grad():
            self.words.weight *= 0.3

    def forward(self, shown: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Scores (images, candidates) of (images, cells, components) and (images, candidates,
        words).
        """
        said = self.dropout(self.words(words).sum(2))
        cells = functional.relu(self.cells(self.dropout(shown)) + self.places)
        fits = self.query(said) @ self.key(cells).transpose(1, 2) / _WIDTH**0.5
        found = fits.softmax(-1) @ self.value(cells)
        whole = cells.mean(1, keepdim=True)
        joined = torch.cat([found, found * said, said, whole * said], -1)
        scores: torch.Tensor = self.score(joined)[..., 0]
        return scores


def _principal(
    grids: Sequence[Grid], rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The mean of cells, (features,), and their first principal components.

    Components are scaled to unit variance: (features, components).
    """
    chosen = rng.integers(len(grids), size=_SAMPLE), rng.integers(len(grids[0]), size=_SAMPLE)
    cells = np.stack([grids[i][j] for i, j in zip(*chosen, strict=True)]).astype(np.float32)
    mean, deviation = cells.mean(axis=0), cells.std(axis=0) + 1e-3
    unit = (cells - mean) / deviation
    powers, columns = np.linalg.eigh(unit.T @ unit / len(unit))  # in ascending order
    spread = np.sqrt(np.maximum(powers[-_COMPONENTS:], 0)) + _LEAST * powers[-1] ** 0.5
    found: NDArray[np.float32] = columns[:, -_COMPONENTS:] / spread / deviation[:, None]
    return mean, found.astype(np.float32)
