"""Parquet files that are written row by row in little memory, as `datasets` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike
from pydantic import JsonValue

from inhabit.eie.export.files import half_written


class Stats:
    """Running statistics of vectors of one length, in the memory of a few of them."""

    def __init__(self) -> None:
        self._count = 0
        self._sums = self._squares = np.zeros(1)
        self._least, self._greatest = np.full(1, np.inf), np.full(1, -np.inf)

    def add(self, values: ArrayLike) -> None:
        """Take in `values`, (N, D) or (N,): N vectors of D numbers."""
        rows = np.asarray(values, np.float64)
        rows = rows.reshape(len(rows), -1)
        self._count += len(rows)
        self._sums = self._sums + rows.sum(0)
        self._squares = self._squares + (rows**2).sum(0)
        self._least = np.minimum(self._least, rows.min(0))
        self._greatest = np.maximum(self._greatest, rows.max(0))

    def result(self, shape: tuple[int, ...] = (-1,)) -> Mapping[str, JsonValue]:
        """What came in, each figure in `shape`.

        Raises:
            ValueError: nothing came in.
        """
        if not self._count:
            raise ValueError("There is nothing to summarize: no value was added.")
        mean = self._sums / self._count
        spread = np.sqrt(np.maximum(self._squares / self._count - mean**2, 0))
        figures = {"min": self._least, "max": self._greatest, "mean": mean, "std": spread}
        told: dict[str, JsonValue] = {k: v.reshape(shape).tolist() for k, v in figures.items()}
        return told | {"count": [self._count]}


PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""An image inside a table: its file's content and name. `datasets` decodes it."""


class ParquetTable:
    """A parquet file in the making. Rows wait until a group of them is full."""

    def __init__(self, writer: pq.ParquetWriter, schema: pa.Schema, together: int) -> None:
        self._writer = writer
        self._schema = schema
        self._together = together
        self._waiting: list[Mapping[str, Any]] = []
        self.rows = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Add one row, which has a value for every column."""
        self._waiting.append(row)
        self.rows += 1
        if len(self._waiting) >= self._together:
            self.flush()

    def flush(self) -> None:
        """Write what waits as a group of its own."""
        if self._waiting:
            self._writer.write_table(pa.Table.from_pylist(self._waiting, self._schema))
            self._waiting = []


@contextmanager
def table(file: Path, schema: pa.Schema, *, together: int = 64) -> Iterator[ParquetTable]:
    """Write the parquet file `file`; it is there when all of it is.

    Args:
        file: which.
        schema: names and types of its columns.
        together: rows that are held in memory and written as one group.

    Raises:
        DiskError: it can't be written.
    """
    described = schema.with_metadata({"huggingface": json.dumps(_features(schema))})
    with half_written(file) as half, pq.ParquetWriter(half, described) as writer:
        made = ParquetTable(writer, described, together)
        yield made
        made.flush()


def _features(schema: pa.Schema) -> Mapping[str, Any]:
    """What `datasets` wants to know of the columns: which of them are images, above all."""
    return {"info": {"features": {one.name: _feature(one.type) for one in schema}}}


def _feature(kind: pa.DataType) -> Any:
    if kind == PICTURE:
        return {"_type": "Image"}
    if pa.types.is_fixed_size_list(kind):
        return {
            "feature": _feature(kind.value_type), "length": kind.list_size, "_type": "List"
        }  # fmt: skip
    if pa.types.is_list(kind):
        return [_feature(kind.value_type)]
    if pa.types.is_struct(kind):
        return {one.name: _feature(one.type) for one in kind}
    # Arrow and `datasets` have the same names for all others that are used here, but for these.
    name = {"float": "float32", "double": "float64"}.get(str(kind), str(kind))
    return {"dtype": name, "_type": "Value"}
