"""Reads PCA-Bench's released files, in their three forms.

`meta_data.json` of PCA-EVAL 1.0 has an index, an image's name and cached results of functions;
`*-test_open-meta.json` has neither; the parquet form holds the images themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from inhabit.envs.core import TaskError, UnavailableError
from inhabit.envs.multiple_choice import json_list
from inhabit.envs.pca_bench.scene import Domain

_DOMAINS: Mapping[str, Domain] = {
    "autonomousdriving": Domain.DRIVING,
    "traffic": Domain.DRIVING,
    "driving": Domain.DRIVING,
    "domesticrobot": Domain.HOME,
    "alfred": Domain.HOME,
    "openworldgame": Domain.GAME,
    "minecraft": Domain.GAME,
    "game": Domain.GAME,
}


@dataclass(frozen=True, slots=True)
class PcaRecord:
    """One unchecked record of a file."""

    file: Path
    number: int
    """Its position in the file, from 0."""
    fields: Mapping[str, Any]


def files(source: Path) -> list[Path]:
    """The benchmark's files at `source`: the file itself, or all files of the folder, sorted.

    Raises:
        TaskError: there are none.
    """
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise TaskError(
            f"Found no {source}. For PCA-Bench, --tasks is one of its files or a folder of them."
        )
    found = [
        *source.rglob("meta_data.json"),
        *source.rglob("*-meta.json"),
        *source.rglob("*.parquet"),
    ]
    if not found:
        raise TaskError(
            f"{source} has no file of PCA-Bench (meta_data.json, *-meta.json or *.parquet)."
        )
    return sorted(found)


def entries(file: Path) -> Iterator[PcaRecord]:
    """The records of one file.

    Raises:
        TaskError: it cannot be read.
        UnavailableError: it is a parquet file, and what reads these is not installed.
    """
    rows = _parquet(file) if file.suffix == ".parquet" else json_list(file)
    for number, fields in enumerate(rows):
        if not isinstance(fields, dict):
            raise TaskError(f"{file}, record {number}: it is not a JSON object.")
        yield PcaRecord(file, number, fields)


def domain_of(entry: PcaRecord) -> Domain:
    """The domain of a record, from its own field or from its path.

    Raises:
        ValueError: by no domain that is known.
    """
    said = entry.fields.get("domain")
    if isinstance(said, str) and said.strip():
        if _letters(said) not in _DOMAINS:
            raise ValueError(f"unknown domain {said!r}")
        return _DOMAINS[_letters(said)]
    for part in reversed(entry.file.parts):
        for name, domain in _DOMAINS.items():
            if name in _letters(part):
                return domain
    raise ValueError("neither the record nor its file names a domain")


def parquet_rows(file: Path, columns: list[str] | None = None) -> Any:
    """Read a parquet file as a table.

    Raises:
        UnavailableError: what reads it is not installed.
        TaskError: it cannot be read.
    """
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise UnavailableError(f"Reading {file} needs pyarrow: pip install pyarrow.") from error
    try:
        return parquet.read_table(file, columns=columns)
    except (OSError, ValueError) as error:
        raise TaskError(f"Can't read {file} as Parquet: {error}.") from error


def _parquet(file: Path) -> list[Any]:
    rows: list[Any] = parquet_rows(file).to_pylist()
    return rows


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))
