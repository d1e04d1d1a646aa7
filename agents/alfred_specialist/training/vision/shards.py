"""Labelled frames on disk, in shards that are written atomically."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.alfred_specialist.training.vision.frames import CELLS, LabelledFrame


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
