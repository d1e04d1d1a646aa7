"""Features of candidates from the images, by the bundled vision model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inhabit.eie.examples.example import Example
from inhabit.eie.sets.folder import SetError
from inhabit.eie.sets.text_features import words
from inhabit.episodes.recording.disk import read_picture

Cells = NDArray[np.float32]
"""Log-odds of each class in each cell, (classes, rows, columns)."""
Grid = NDArray[np.float16]
"""Features of the cells of an image, (cells, features)."""
Facts = Mapping[str, float]
"""Named numbers about an image, about -2 to 2."""

_STATES = ("open ", "on ")
_HELD = "held"
_TAKES = ("pick up", "grab")
_TWO_WORDS = ("turn", "switch", "pick", "go")
"""First words of verbs of two words."""
_MOST = 8.0
"""Log-odds beyond which nothing is surer."""


class EyeFeatures:
    """What the eyes detect of the things that candidates speak of, beside a candidate's verb.

    Is anything held, and is it what a candidate would pick up? Is the candidate's own thing in the
    image, how large and how low does it look, is it open, on, or held? In questions about a film,
    also how each of these numbers has changed.
    """

    def __init__(self, folder: Path) -> None:
        """Look at the images of the set in `folder`.

        Raises:
            ImportError: torch or transformers is missing.
        """
        from inhabit.agents.models.eyes.network import CellDetector

        self._folder = folder
        self._detector = CellDetector()
        self._index = {name: i for i, name in enumerate(self._detector.names)}
        self._plain = [n for n in self._index if not n.startswith((*_STATES, _HELD))]
        self._seen: dict[str, Cells] = {}
        self._grids: dict[str, Grid] = {}

    def __call__(self, example: Example) -> list[Mapping[str, float]]:
        """Features of each candidate."""
        said = [" ".join(words(text)) for text in example.candidates]
        things = [self._name(text) for text in said]
        taken = {t for t, text in zip(things, said, strict=True) if t and text.startswith(_TAKES)}
        last = example.history[-1].image if example.history else None
        film = example.kind == "recognition" and last is not None
        now = self._cells(example.image)
        before = self._cells(last) if film and last is not None else None
        found: list[Mapping[str, float]] = []
        for text, thing in zip(said, things, strict=True):
            facts = self._facts(now, thing, taken)
            if before is not None:
                earlier = self._facts(before, thing, taken)
                facts = {**facts, **{f"{k} change": facts[k] - earlier[k] for k in facts}}
            verb = f"{'film ' if film else ''}{_verb(text)}"
            found.append(
                {verb: 1.0} | {f"{verb}|{k}": value for k, value in _crossed(facts).items()}
            )
        return found

    def reading(self, example: Example) -> list[Mapping[str, float]]:
        """Features, and how far what is held fits the part of the goal that a candidate is of."""
        parts = _parts(example.goal)
        cells = self._cells(example.image)
        found: list[Mapping[str, float]] = []
        for text, seen in zip(example.candidates, self(example), strict=True):
            said = " ".join(words(text))
            thing, verb = self._name(said), _verb(said)
            own = dict(seen)
            fits = 0.0
            for part in parts:
                things = [n for n in self._plain if f" {n} " in f" {part} "]
                odds = 4 * self._surest(cells, [f"{_HELD} {n}" for n in things])
                held = float(1 / (1 + np.exp(-odds)))
                fits += held * (thing in things)
                for word in sorted(set(words(part))):
                    for mark, share in (("held", held), ("free", 1 - held)):
                        key = f"{word}|{said}|{mark}"
                        own[key] = own.get(key, 0.0) + share
            for key, value in {"": 1.0, **seen}.items():
                own[f"{verb}|fits|{key}"] = fits * value
            found.append(own)
        return found

    def grid(self, example: Example) -> Grid:
        """Features of 5x5 cells of the image, for an `ImageNetwork`."""
        self._cells(example.image)
        return self._grids[example.image]

    def _facts(self, cells: Cells, thing: str, taken: set[str]) -> Facts:
        """What is held, and how the candidate's own thing looks."""
        held = [name for name in self._index if name.startswith(f"{_HELD} ")]
        found = {"held": self._surest(cells, [_HELD]), "some thing held": self._surest(cells, held)}
        if theirs := [f"{_HELD} {name}" for name in sorted(taken)]:
            found["taken is held"] = self._surest(cells, theirs)
        if not thing:
            return found
        own = cells[self._index[thing]]
        shares = 1 / (1 + np.exp(-own))
        found["seen"] = self._surest(cells, [thing])
        found["size"] = float(np.log(shares.sum() + 0.02) / 2)
        found["low"] = float(shares[-(len(shares) // 3) :].max())
        found["is held"] = self._surest(cells, [f"{_HELD} {thing}"])
        for state in _STATES:
            if (at := self._index.get(f"{state}{thing}")) is not None:
                found[f"is {state}"] = _limited(float(cells[at].max()))
                found[f"more {state}"] = _limited(float(cells[at].max() - own.max()))
        return found

    def _surest(self, cells: Cells, names: Sequence[str]) -> float:
        """The highest log-odds of these classes anywhere; as low as can be if none is known."""
        known = [self._index[name] for name in names if name in self._index]
        return _limited(float(cells[known].max())) if known else _limited(-_MOST)

    def _name(self, said: str) -> str:
        """The class that words speak of, the longest first; also the end of a compound."""
        names = [n for n in self._plain if f" {n} " in f" {said} "]
        if not names:
            last = said.split(" ")[-1]
            names = [n for n in self._plain if last.endswith(n.replace(" ", ""))]
        return min(names, key=lambda n: (-len(n), n), default="")

    def _cells(self, image: str) -> Cells:
        if image not in self._seen:
            file = self._folder / "images" / Path(image).name
            if (found := read_picture(file, self._folder, ("PNG",))) is None:
                raise SetError(f"{file} is no image. Restore it, or make the set anew.")
            rgb = np.asarray(found.convert("RGB"))
            shown, odds = (cells.numpy() for cells in self._detector.cells(rgb))
            self._seen[image] = odds
            known = np.clip(odds, -_MOST, _MOST / 2) / 4
            self._grids[image] = _pooled(np.concatenate([shown, known]))
        return self._seen[image]


def _parts(goal: str) -> list[str]:
    """The parts of a goal that speak of different things, in words."""
    found: list[str] = []
    for clause in re.split(r"\b(?:and|then|also|plus)\b|[,;.:]", goal.lower()):
        said = words(clause)
        if found and not {"it", "them"}.isdisjoint(said):
            found[-1] += f" {' '.join(said)}"
        elif said:
            found.append(" ".join(said))
    return found


def _pooled(cells: Cells) -> Grid:
    """Maximum and mean of each 3x3 cells, (cells, features)."""
    features, rows, columns = cells.shape
    parts = cells[:, : rows // 3 * 3, : columns // 3 * 3].reshape(
        features, rows // 3, 3, columns // 3, 3
    )
    joined = np.concatenate([parts.max(axis=(2, 4)), parts.mean(axis=(2, 4))])
    return joined.reshape(2 * features, -1).T.astype(np.float16)


def _limited(odds: float) -> float:
    return min(max(odds, -_MOST), _MOST) / 4


def _crossed(facts: Facts) -> Facts:
    """Each number, and the product of each two."""
    pairs = combinations_with_replacement(sorted(facts), 2)
    return {**facts, **{f"{a}*{b}": facts[a] * facts[b] for a, b in pairs}}


def _verb(said: str) -> str:
    first, _, rest = said.partition(" ")
    return f"{first} {rest.partition(' ')[0]}" if first in _TWO_WORDS else first
