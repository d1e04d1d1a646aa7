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

from inhabit.eie.export.conversations import Conversation
from inhabit.eie.export.files import ExportImage
from inhabit.eie.export.tables import PICTURE, Table, table

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


def write(conversations: Iterable[Conversation], out: Path) -> int:
    """Write `data/train.parquet` and its like, and return how many rows there are in all.

    Splits without a row have no file. Columns from `env` on are null for demonstrations.

    Raises:
        RecordError: an image is gone.
        DiskError: something can't be written.
    """
    tables: dict[str, Table] = {}
    with ExitStack() as stack:
        for one in conversations:
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
            {"role": "user", "content": [_part(part) for part in one.question]},
            {"role": "assistant", "content": [_part(one.answer)]},
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


def _part(part: str | ExportImage) -> Mapping[str, str | None]:
    if isinstance(part, ExportImage):
        return {"type": "image", "text": None}
    return text_part(part)


def text_part(text: str) -> Mapping[str, str | None]:
    """A text as part of a message's content."""
    # Half a surrogate pair, which models may say, has no place in UTF-8.
    return {"type": "text", "text": text.encode("utf-8", "replace").decode()}


def image_cell(shown: ExportImage) -> Mapping[str, Any]:
    """An image as the tables hold it."""
    return {"bytes": shown.read(), "path": shown.name}
