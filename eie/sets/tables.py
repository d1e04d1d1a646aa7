"""The finished set as parquet: `data/train.parquet`, `data/val.parquet`, `data/test.parquet`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from inhabit.eie.checking.splits import SPLITS
from inhabit.eie.examples.example import Example
from inhabit.eie.sets.folder import SetError, SetFolder
from inhabit.envs.files import replacing

_ROWS = 512
"""Number of examples in memory."""
_PAST = pa.struct(
    [
        ("action", pa.string()),
        ("feedback", pa.string()),
        ("failed", pa.bool_()),
        ("image", pa.string()),
    ]
)
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "env", "kind", "split", "image", "image_digest")),
        *((name, pa.string()) for name in ("text", "question")),
        ("candidates", pa.list_(pa.string())),
        ("answer", pa.int32()),
        ("reason", pa.string()),
        ("key_concepts", pa.list_(pa.string())),
        ("goal", pa.string()),
        ("levels", pa.list_(pa.string())),
        ("history", pa.list_(_PAST)),
        ("difficulty", pa.int32()),
        ("room", pa.string()),
        ("verb", pa.string()),
        ("objects", pa.list_(pa.string())),
        ("twins", pa.string()),
        ("square", pa.string()),
        ("row", pa.int32()),
        ("column", pa.int32()),
        ("seen", pa.string()),
        ("lineage", pa.string()),
    ]
)
"""Columns are the fields of `Example`; the lineage is JSON, images are separate files."""


def write_tables(opened: SetFolder) -> None:
    """Write the examples, one file per split, in order.

    Raises:
        SetError: it can't be written.
    """
    folder = opened.folder / "data"
    try:
        for split in SPLITS:
            rows = (e for e in opened.examples() if e.split == split)
            _write(folder / f"{split}.parquet", opened.folder, rows)
    except OSError as error:
        raise SetError(
            f"{folder} can't be written: {error.strerror or error}. What was kept so far is "
            "complete; fix this and run the same command again."
        ) from error


def _write(file: Path, inside: Path, examples: Iterable[Example]) -> None:
    with (
        replacing(file, inside) as stream,
        pq.ParquetWriter(stream, SCHEMA, compression="zstd") as writer,
    ):
        ahead = map(_row, examples)
        while rows := list(islice(ahead, _ROWS)):
            writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))


def _row(example: Example) -> dict[str, object]:
    row: dict[str, object] = example.model_dump(mode="json")
    lineage = row["lineage"]
    row["lineage"] = None if lineage is None else json.dumps(lineage, sort_keys=True)
    return row
