"""The examples of a set as JSON Lines with every field in every line, and their images.

`examples.jsonl` in the set leaves out fields with their default value, so that readers that infer a
schema from the first lines fail. Here each line has all fields, and the lineage is a JSON text.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from inhabit.eie.examples.example import Example
from inhabit.eie.export.distinct import ComparedRow
from inhabit.eie.export.export import SetSource
from inhabit.eie.export.exporter import Exporter
from inhabit.eie.export.files import ImageFolder, half_written, json_text, picture


def write(source: SetSource, folder: Path, out: Path) -> int:
    """Write `train.jsonl`, `val.jsonl` and `test.jsonl`, and return the number of lines.

    Splits without an example have no file.

    Raises:
        RecordError: an image is gone.
        DiskError: something can't be written.
    """
    kept = source.left_out.kept(lambda: source, lambda one: describe(one, folder))
    images, count = ImageFolder(out / "images"), 0
    files: dict[str, TextIO] = {}
    with ExitStack() as stack:
        for example in kept:
            if example.split not in files:
                half = stack.enter_context(half_written(out / f"{example.split}.jsonl"))
                files[example.split] = stack.enter_context(half.open("w", encoding="utf-8"))
            for place in example.images:
                images.copy(picture(folder, place))
            files[example.split].write(_line(example) + "\n")
            count += 1
    return count


def describe(example: Example, folder: Path) -> ComparedRow:
    """What is compared of a line."""
    told = [f"{past.action}\n{past.feedback}" for past in example.history]
    images = tuple(picture(folder, place) for place in example.images)
    words = (example.question, example.text, *told, *example.candidates)
    return ComparedRow(
        example.split, words, images, example.right, video=example.kind == "recognition"
    )


def _line(example: Example) -> str:
    row = {**example.model_dump(mode="json"), "frames": list(example.frames)}
    lineage = row["lineage"]
    row["lineage"] = "" if lineage is None else json.dumps(lineage, sort_keys=True)
    for past in row["history"]:
        past["image"] = past["image"] or ""
    return json_text(row)


EXPORTER = Exporter(
    name="jsonl", summary="every field of every example, in JSON Lines", write_set=write
)
