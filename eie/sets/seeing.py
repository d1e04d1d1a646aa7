"""Features of candidates from the images, by the eyes of the built-in planner."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from inhabit.eie.examples.example import Example
from inhabit.eie.sets.text_features import words

_LOW = 0.6
"""From this share of the height on, the middle of the image is where held things are."""
_SURE = 0.3
_SIZES = (0.01, 0.03, 0.08, 0.2)
_STATES = ("", "open ", "on ")
_TAKES = ("pick up", "grab")


class EyeFeatures:
    """What the eyes detect of the things that candidates speak of."""

    def __init__(self, folder: Path) -> None:
        """Look at the images of the set in `folder`.

        Raises:
            ImportError: torch or transformers is missing.
        """
        from inhabit.agents.models.ranker.cells import CellDetector

        self._folder = folder
        self._detector = CellDetector()
        self._index = {name: i for i, name in enumerate(self._detector.names)}
        self._seen: dict[str, NDArray[np.float32]] = {}

    def __call__(self, example: Example) -> list[Mapping[str, float]]:
        """Features of each candidate."""
        now = self._cells(example.image)
        last = example.history[-1].image if example.history else None
        views = {"now": now}
        if example.kind == "recognition" and last is not None:
            views["before"] = self._cells(last)
        said = [" ".join(words(text)) for text in example.candidates]
        taken = [text for text in said if text.startswith(_TAKES)]
        thing = next(iter(self._names(" ".join(taken) or " ".join(words(example.goal)))), None)
        kind = "film" if example.kind == "recognition" else "next"
        return [self._features(text, views, thing, kind) for text in said]

    def _features(
        self, said: str, views: Mapping[str, NDArray[np.float32]], thing: str | None, kind: str
    ) -> Mapping[str, float]:
        """Features of one candidate.

        Args:
            said: its words.
            views: cells of the image, and of the one before it in a film.
            thing: what may be in the hand.
            kind: of the question.
        """
        verb = f"{kind} {said.split(' ')[0]}"
        if said.startswith("turn"):
            verb = f"{verb} {said.split(' ')[1]}"
        found = {verb: 1.0}
        names = self._names(said)
        for when, cells in views.items():
            for name in names[:1]:
                for state in _STATES:
                    if (index := self._index.get(f"{state}{name}")) is not None:
                        self._add(found, f"{verb} its {state}{when}", cells[index])
            if thing is not None:
                self._add(found, f"{verb} thing {when}", cells[self._index[thing]])
            found[f"{verb} hand {when}"] = float(_hand(cells).max())
        return found

    def _names(self, said: str) -> list[str]:
        """The classes that words speak of, the longest first."""
        plain = [n for n in self._index if not n.startswith(("open ", "on "))]
        return sorted((n for n in plain if f" {n} " in f" {said} "), key=lambda n: (-len(n), n))

    def _add(self, found: dict[str, float], name: str, cells: NDArray[np.float32]) -> None:
        below = cells[round(_LOW * cells.shape[0]) :]
        most, low = float(cells.max()), float(below.max())
        size = float((cells > _SURE).mean())
        found |= {
            f"{name} most": most,
            f"{name} sure": float(most > _SURE),
            f"{name} low": low,
            f"{name} size": min(1.0, 4 * size),
        }
        for limit in _SIZES:
            found[f"{name} size>{limit}"] = float(size > limit)
            found[f"{name} low>{limit}"] = float((below > _SURE).mean() > limit)

    def _cells(self, image: str) -> NDArray[np.float32]:
        """Confidence of each class in each cell, (classes, rows, columns)."""
        if image not in self._seen:
            with Picture.open(self._folder / image, formats=("PNG",)) as opened:
                self._seen[image] = self._detector.cells(np.asarray(opened.convert("RGB")))
        return self._seen[image]


def _hand(cells: NDArray[np.float32]) -> NDArray[np.float32]:
    """Confidence of each class at the bottom, where held things are."""
    rows = cells.shape[1]
    found: NDArray[np.float32] = cells[:, round(_LOW * rows) :].max(axis=(1, 2))
    return found
