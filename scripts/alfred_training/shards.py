"""Frames labelled by an environment, on disk in shards that are written atomically.

Any environment with instance masks (`Observation.instances`) and object states
(`inhabit.envs.core.Factual`) can be the source.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Observation, SceneObject

CELLS = 10
"""Default number of cells along each side of an image."""
LEAST = 8 / 16**2
"""Minimum share of a cell's pixels that an object covers."""
_STATES = ("open", "on")
"""States that are a class of their own: an open fridge is a fridge and an "open fridge"."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFrame:
    """An image, and the classes in each of its cells."""

    rgb: NDArray[np.uint8]
    """(H, W, 3)."""
    shown: Mapping[str, frozenset[int]]
    """Class -> the cells that show it, row by row from the top left."""
    cells: int = CELLS
    """Number of cells along each side."""


def label_frame(
    seen: Observation, things: Sequence[SceneObject], *, cells: int = CELLS, held: bool = False
) -> LabelledFrame:
    """Label an image by its instance mask.

    A held mug is labelled as "held" and "held mug" if `held`; else it is left out.

    Raises:
        ValueError: there is no image, or no mask.
    """
    if seen.rgb is None or seen.instances is None:
        raise ValueError("A frame needs an image and instance masks: set instances=true.")
    known = {thing.name: thing for thing in things if held or not thing.held}
    rows, columns = seen.instances.shape
    cell = (np.arange(rows) * cells // rows)[:, None] * cells + np.arange(
        columns
    ) * cells // columns
    least = LEAST * rows * columns / cells**2
    count = len(seen.names)
    places = cell * (count + 1) + seen.instances + 1
    pixels = np.bincount(places.ravel(), minlength=cells**2 * (count + 1))
    pixels = pixels.reshape(cells**2, count + 1)[:, 1:]
    shown: dict[str, set[int]] = {}
    for where, number in np.argwhere(pixels >= least):
        thing = known.get(seen.names[number])
        if thing is not None:
            for name in classes_of(thing):
                shown.setdefault(name, set()).add(int(where))
    kept = {name: frozenset(shown[name]) for name in sorted(shown)}
    return LabelledFrame(seen.rgb, kept, cells)


def classes_of(thing: SceneObject) -> Sequence[str]:
    """The classes of an object: its kind, and its kind with each visible state.

    A held object has the classes "held" and "held mug".
    """
    if thing.held:
        return ["held", f"held {thing.kind}"]
    states = [f"{state} {thing.kind}" for state in _STATES if thing.states.get(state)]
    return [thing.kind, *states]


@dataclass(frozen=True, slots=True, eq=False)
class FrameShard:
    """Many frames with a table of labels."""

    rgb: NDArray[np.uint8]
    """(frames, H, W, 3)."""
    shown: NDArray[np.bool_]
    """(frames, classes, cells, cells)."""
    classes: tuple[str, ...]


def save(file: Path, frames: Sequence[LabelledFrame]) -> None:
    """Write a shard of images of one size, with the same number of cells."""
    classes = sorted({name for frame in frames for name in frame.shown})
    number = {name: i for i, name in enumerate(classes)}
    triples = [
        (i, number[name], cell)
        for i, frame in enumerate(frames)
        for name, cells in frame.shown.items()
        for cell in sorted(cells)
    ]
    half = file.with_name(f"{file.name}.half")
    with half.open("wb") as stream:
        np.savez_compressed(
            stream,
            rgb=np.stack([frame.rgb for frame in frames]),
            shown=np.array(triples, np.int32).reshape(-1, 3),
            classes=np.array(json.dumps(classes)),
            cells=np.array(frames[0].cells),
        )
    half.replace(file)


def classes_in(files: Iterable[Path], *, least: int) -> tuple[str, ...]:
    """The classes that at least `least` frames of the shards show, sorted."""
    counts: dict[str, int] = {}
    for file in files:
        with np.load(file) as shard:
            names = json.loads(str(shard["classes"]))
            pairs = np.unique(shard["shown"][:, :2], axis=0)
        for number in pairs[:, 1]:
            counts[names[number]] = counts.get(names[number], 0) + 1
    return tuple(sorted(name for name, count in counts.items() if count >= least))


def load(files: Sequence[Path], classes: Sequence[str]) -> FrameShard:
    """Load all frames of the shards, with labels of `classes` only."""
    number = {name: i for i, name in enumerate(classes)}
    pictures, tables = [], []
    for file in files:
        with np.load(file) as shard:
            rgb, triples = shard["rgb"], shard["shown"]
            names, side = json.loads(str(shard["classes"])), int(shard.get("cells", CELLS))
        renumbered = np.array([number.get(name, -1) for name in names] or [-1])
        table = np.zeros((len(rgb), len(classes), side * side), np.bool_)
        kept = triples[renumbered[triples[:, 1]] >= 0]
        table[kept[:, 0], renumbered[kept[:, 1]], kept[:, 2]] = True
        pictures.append(rgb)
        tables.append(table.reshape(len(rgb), len(classes), side, side))
    return FrameShard(np.concatenate(pictures), np.concatenate(tables), tuple(classes))
