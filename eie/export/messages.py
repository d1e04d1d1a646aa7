"""Hugging Face `messages` as parquet, images inside: `load_dataset(folder)` reads it.

Each message's content is a list of {"type": "image"} and {"type": "text", "text": ...}, as the
chat templates of `transformers` take it; the images stand in `images`, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

from inhabit.eie.export.conversations import Conversation, kept
from inhabit.eie.export.export import RunSource, SetSource
from inhabit.eie.export.exporter import Exporter
from inhabit.eie.export.files import ExportImage
from inhabit.eie.export.tables import PICTURE, ParquetTable, table

_CONTENT = pa.list_(pa.struct([("type", pa.string()), ("text", pa.string())]))
MESSAGES = pa.list_(pa.struct([("role", pa.string()), ("content", _CONTENT)]))
_COLUMNS = pa.schema(
    [
        ("id", pa.string()),
        ("messages", MESSAGES),
        ("images", pa.list_(PICTURE)),
        ("env", pa.string()),
        ("kind", pa.string()),
        ("candidates", pa.list_(pa.string())),
        ("answer", pa.int32()),
        ("reason", pa.string()),
        ("key_concepts", pa.list_(pa.string())),
        ("difficulty", pa.int32()),
    ]
)


def write(source: RunSource | SetSource, out: Path) -> int:
    """Write `data/train.parquet` and its like, and return how many rows there are in all.

    Splits without a row have no file. Columns from `env` on are null for demonstrations.

    Raises:
        RecordError: an image is gone.
        DiskError: something can't be written.
    """
    tables: dict[str, ParquetTable] = {}
    with ExitStack() as stack:
        for one in kept(source, source.options.pictures):
            if one.split not in tables:
                file = out / "data" / f"{one.split}.parquet"
                tables[one.split] = stack.enter_context(table(file, _COLUMNS, together=16))
            tables[one.split].add(_row(one))
    return sum(made.rows for made in tables.values())


def _row(one: Conversation) -> Mapping[str, Any]:
    made = one.example
    return {
        "id": one.id,
        "messages": [
            message("system", (one.system,)),
            message("user", one.question),
            message("assistant", (one.answer,)),
        ],
        "images": [image_cell(shown) for shown in one.pictures],
        "env": made and made.env,
        "kind": made and made.kind,
        "candidates": made and list(made.candidates),
        "answer": made and made.answer,
        "reason": made and made.reason,
        "key_concepts": made and list(made.key_concepts),
        "difficulty": made and made.difficulty,
    }


def message(role: str, parts: Iterable[str | ExportImage]) -> Mapping[str, Any]:
    """A message as the tables hold it."""
    return {"role": role, "content": [_part(part) for part in parts]}


def _part(part: str | ExportImage) -> Mapping[str, str | None]:
    if isinstance(part, ExportImage):
        return {"type": "image", "text": None}
    # Half a surrogate pair, which models may say, has no place in UTF-8.
    return {"type": "text", "text": part.encode("utf-8", "replace").decode()}


def image_cell(shown: ExportImage) -> Mapping[str, Any]:
    """An image as the tables hold it."""
    return {"bytes": shown.read(), "path": shown.name}


EXPORTER = Exporter(
    name="messages",
    summary="Hugging Face chat messages with images, in parquet",
    write_run=write,
    write_set=lambda source, folder, out: write(source, out),
    pictures=True,
)
