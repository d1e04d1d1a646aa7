"""Features of candidates from the images, by the eyes of the built-in planner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from inhabit.eie.examples.example import Example
from inhabit.eie.sets.text_features import words

Cells = NDArray[np.float32]
"""Confidence of one class in each cell, (rows, columns), 0 to 1."""

_LOW = 0.7
"""From this share of the height on, the middle or the right of the image shows held things."""
_FIXED = frozenset(
    """armchair, bathtub, bed, blinds, cabinet, chair, coffee machine, coffee table, countertop,
    curtains, desk, dining table, drawer, dresser, faucet, floor, fridge, microwave, mirror,
    painting, poster, shelf, side table, sink, sofa, stool, stove burner, television, toilet,
    tv stand, window""".replace("\n    ", " ").split(", ")
)
"""Classes that nobody holds."""
_STATES = ("open ", "on ")
_TAKES = ("pick up", "grab")
_TWO_WORDS = ("turn", "switch", "pick", "go")
"""First words of verbs of two words."""
_HELD = (0.01, 0.03, 0.08, 0.2, 0.4)
_FLOOR = (0.1, 0.3, 0.6)
_SIZE = (0.002, 0.006, 0.015, 0.03, 0.06, 0.12)
_SURE = (0.15, 0.3, 0.5, 0.7, 0.9)
_STATE = (-0.6, -0.4, -0.2, -0.05, 0.1)
_CHANGE = (-0.15, -0.03, 0.03, 0.15)
_PAIR = 0.5
"""Value of two facts together, where one fact has 1."""


class EyeFeatures:
    """What the eyes detect of the things that candidates speak of.

    A feature is a fact about the image, or two facts together, beside the verb of a candidate:
    something is low in the middle, its thing is small, it looks open.
    """

    def __init__(self, folder: Path) -> None:
        """Look at the images of the set in `folder`.

        Raises:
            ImportError: torch or transformers is missing.
        """
        from inhabit.agents.models.ranker.cells import CellDetector

        self._folder = folder
        self._detector = CellDetector()
        self._index = {name: i for i, name in enumerate(self._detector.names)}
        self._plain = [n for n in self._index if not n.startswith(_STATES)]
        self._portable = [self._index[n] for n in self._plain if n not in _FIXED]
        self._seen: dict[str, NDArray[np.float32]] = {}

    def __call__(self, example: Example) -> list[Mapping[str, float]]:
        """Features of each candidate."""
        now = self._cells(example.image)
        last = example.history[-1].image if example.history else None
        film = example.kind == "recognition"
        before = self._cells(last) if film and last is not None else None
        said = [" ".join(words(text)) for text in example.candidates]
        takes = (self._name(text) for text in said if text.startswith(_TAKES))
        taken = next((name for name in takes if name), "")
        common = [*self._hands(now, taken), *self._hands_changed(now, before)]
        found: list[Mapping[str, float]] = []
        for text in said:
            facts = [*common, *self._thing(self._name(text), taken, now, before)]
            found.append(_crossed(f"{'film ' if film else ''}{_verb(text)}", facts))
        return found

    def _hands(self, now: NDArray[np.float32], taken: str) -> Iterator[str]:
        """What is low in the middle and low on the right: anything, the floor, the thing."""
        _, middle, right = self._lowest(now)
        yield f"any {_level(middle, _HELD)}"
        yield f"any right {_level(right, _HELD)}"
        _, middle, right = _thirds(now[self._index["floor"]])
        yield f"floor {_level(middle, _FLOOR)}"
        yield f"floor right {_level(right, _FLOOR)}"
        if taken:
            _, middle, right = _thirds(now[self._index[taken]])
            yield f"taken {_level(middle, _HELD)}"
            yield f"taken right {_level(right, _HELD)}"
            yield f"taken size {_level(float(now[self._index[taken]].mean()), _SIZE)}"

    def _hands_changed(
        self, now: NDArray[np.float32], before: NDArray[np.float32] | None
    ) -> Iterator[str]:
        if before is not None:
            change = self._lowest(now)[1] - self._lowest(before)[1]
            yield f"any changed {_level(change, _CHANGE)}"

    def _thing(
        self,
        name: str,
        taken: str,
        now: NDArray[np.float32],
        before: NDArray[np.float32] | None,
    ) -> Iterator[str]:
        """How large the thing of a candidate looks, in what state, and what has changed."""
        if not name:
            return
        cells = now[self._index[name]]
        above = cells[: round(_LOW * cells.shape[0])]
        yield f"size {_level(float(cells.mean()), _SIZE)}"
        yield f"above {_level(float(above.max()), _SURE)}"
        yield f"low {_level(_thirds(cells)[1], _HELD)}"
        yield "is taken" if name == taken else "is not taken"
        for state in _STATES:
            if (at := self._index.get(f"{state}{name}")) is not None:
                holds = float(now[at].max() - cells.max())
                yield f"{state}{_level(holds, _STATE)}"
                if before is not None:
                    did = float(before[at].max() - before[self._index[name]].max())
                    yield f"{state}changed {_level(holds - did, _CHANGE)}"
        if before is not None:
            low = _thirds(cells)[1] - _thirds(before[self._index[name]])[1]
            yield f"low changed {_level(low, _CHANGE)}"

    def _lowest(self, cells: NDArray[np.float32]) -> Sequence[float]:
        """The surest portable class at the bottom: on the left, in the middle, on the right."""
        found = [_thirds(cells[i]) for i in self._portable]
        return [max(one[place] for one in found) for place in range(3)]

    def _name(self, said: str) -> str:
        """The class that words speak of, the longest first; also the end of a compound."""
        names = [n for n in self._plain if f" {n} " in f" {said} "]
        if not names:
            last = said.split(" ")[-1]
            names = [n for n in self._plain if last.endswith(n.replace(" ", ""))]
        return min(names, key=lambda n: (-len(n), n), default="")

    def _cells(self, image: str) -> NDArray[np.float32]:
        """Confidence of each class in each cell, (classes, rows, columns)."""
        if image not in self._seen:
            with Picture.open(self._folder / image, formats=("PNG",)) as opened:
                self._seen[image] = self._detector.cells(np.asarray(opened.convert("RGB")))
        return self._seen[image]


def _verb(said: str) -> str:
    first, _, rest = said.partition(" ")
    return f"{first} {rest.partition(' ')[0]}" if first in _TWO_WORDS else first


def _thirds(cells: Cells) -> Sequence[float]:
    """The mean confidence at the bottom: on the left, in the middle, on the right."""
    low, columns = cells[round(_LOW * cells.shape[0]) :], cells.shape[1]
    edges = [round(part * columns / 3) for part in range(4)]
    return [float(low[:, a:b].mean()) for a, b in pairwise(edges)]


def _level(value: float, limits: Sequence[float]) -> int:
    return sum(value > limit for limit in limits)


def _crossed(verb: str, facts: Sequence[str]) -> Mapping[str, float]:
    """Each fact and each two facts, beside the verb."""
    found = {verb: 1.0} | {f"{verb}|{fact}": 1.0 for fact in facts}
    return found | {f"{verb}|{a}|{b}": _PAIR for a, b in combinations(facts, 2)}
