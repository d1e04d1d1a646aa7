"""What a run folder, a set and an export come to, field by field."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.golden.digests import NEAR, Each, Near, columns, fields, lines_of, pixels

Named = Iterator[tuple[str, Any]]


def of_run(folder: Path, *, settings: bool = False) -> Named:
    """The header field by field, the tasks, and every field of the lines: a digest an episode.

    Settings only where they are asked for: a new one is to show on one line, not in every run.
    """
    header = json.loads((folder / "run.json").read_text())
    if not settings:
        del header["settings"]
    yield from fields(header, "run")
    yield "tasks", Each(lines_of(folder / "tasks.jsonl"))
    records = [lines_of(file) for file in sorted(folder.glob("episodes/*/episode.jsonl"))]
    yield "order of lines", Each([[line["kind"] for line in record] for record in records])
    per_episode = [columns([{line["kind"]: line} for line in record if line]) for record in records]
    for path in dict.fromkeys(path for episode in per_episode for path in episode):
        if path == "see.digest" and header["determinism"] != "frames":
            continue  # This simulator promises the same states, not the same pixels.
        found = [episode.get(path, []) for episode in per_episode]
        yield (
            path,
            _near(found)
            if path.rpartition(".")[2] in NEAR
            else Each([_values(one) for one in found]),
        )
    frames = sorted(str(f.relative_to(folder)) for f in folder.glob("episodes/*/*/*.jpg"))
    yield "image files", frames
    # The index stands in the order in which episodes ended.
    index = sorted(lines_of(folder / "index.jsonl"), key=lambda line: line["number"])
    yield "index.frame", [line["frame"] for line in index]
    yield "index.reasons", [line["reasons"] for line in index]
    for name in ("forks", "judgements/0001"):
        for path, values in columns(lines_of(folder / f"{name}.jsonl")).items():
            yield f"{name}.{path}", values


def _near(found: list[list[Any]]) -> Near:
    numbers = [[float(value) for _, value in episode] for episode in found]
    return Near([sum(some) / max(1, len(some)) for some in numbers])


def _values(found: list[Any]) -> Any:
    """One value as it is; many with the numbers of their lines."""
    return found[0][1] if len(found) == 1 else found or None


def of_set(folder: Path) -> Named:
    """The header, and every field of attempts and examples; the images pixel by pixel."""
    yield from fields(json.loads((folder / "set.json").read_text()), "set")
    for name in ("attempts", "examples"):
        rows = lines_of(folder / f"{name}.jsonl")
        yield f"{name}.count", len(rows)
        for path, values in columns(rows).items():
            yield f"{name}.{path}", values
    yield from of_files(folder / "images", "images")


def of_files(folder: Path, name: str) -> Named:
    """Every file of a folder: text by its lines, tables by their rows, pictures by their pixels.

    The bytes of JPEG and MP4 files are the work of libraries that come in many versions: of these
    files, the names count.
    """
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    yield f"{name} files", sorted(str(file.relative_to(folder)) for file in files)
    pictures = []
    for file in files:
        path = file.relative_to(folder)
        if file.suffix == ".png":
            pictures.append([str(path), pixels(np.asarray(Image.open(file)))])
        elif file.suffix == ".parquet":
            for column, values in columns(_rows(file)).items():
                yield f"{name} {path} {column}", values
        elif file.suffix == ".jsonl":
            for column, values in columns(lines_of(file)).items():
                yield f"{name} {path} {column}", values
        elif file.suffix == ".json":
            made = json.loads(file.read_text())
            rows = made if isinstance(made, list) else [made]
            for column, values in columns(rows).items():
                yield f"{name} {path} {column}", values
        elif file.suffix in (".md", ".txt", ".csv"):
            yield f"{name} {path}", file.read_text()
    if pictures:
        yield f"{name} pixels", pictures


def _rows(file: Path) -> list[Any]:
    parquet = __import__("pyarrow.parquet").parquet
    return [_without_bytes(row) for row in parquet.read_table(file).to_pylist()]


def _without_bytes(value: Any) -> Any:
    """A picture in a table by its pixels, if it is a PNG; by nothing, if it is a JPEG."""
    if isinstance(value, bytes):
        lossless = value.startswith(b"\x89PNG")
        return pixels(np.asarray(Image.open(io.BytesIO(value)))) if lossless else "<jpeg>"
    if isinstance(value, dict):
        return {key: _without_bytes(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_bytes(one) for one in value]
    return value
