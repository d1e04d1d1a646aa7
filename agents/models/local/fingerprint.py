"""Digest of a model's files, for the record of a run."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from inhabit.envs.cache import cache_home

_PARTS = ("*.safetensors", "*.bin", "*.json", "*.model", "*.txt", "*.jinja")
"""Weights, configuration, tokenizer and chat template."""

_Known = dict[str, tuple[int, int, str]]
"""File name -> size in bytes, time of modification (ns), and digest."""
_KNOWN: TypeAdapter[_Known] = TypeAdapter(_Known)


def of_file(file: Path) -> str:
    """SHA-256 of a file's bytes, 64 hexadecimal digits.

    The digest is cached for as long as size and time of modification stay the same.
    """
    return _digests(file.parent, [file])[file.name]


def of_folder(folder: Path) -> str:
    """SHA-256 over the names and digests of the model's files in `folder`, as `sha256sum` lists
    them: separated by two spaces, sorted by name.
    """
    files = sorted({file for part in _PARTS for file in folder.glob(part) if file.is_file()})
    digests = _digests(folder, files)
    lines = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()


def _digests(folder: Path, files: list[Path]) -> Mapping[str, str]:
    place = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    note = cache_home() / "digests" / f"{place}.json"
    known = _read(note)
    found: _Known = {}
    for file in files:
        status = file.stat()
        size, changed, digest = known.get(file.name, (-1, -1, ""))
        if (size, changed) != (status.st_size, status.st_mtime_ns):
            with file.open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
        found[file.name] = (status.st_size, status.st_mtime_ns, digest)
    if not found.items() <= known.items():
        _write(note, known | found)
    return {name: digest for name, (_, _, digest) in found.items()}


def _read(note: Path) -> _Known:
    try:
        return _KNOWN.validate_json(note.read_bytes())
    except (OSError, ValidationError):
        return {}  # no cache: the files are read


def _write(note: Path, known: _Known) -> None:
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=note.parent, delete=False) as half:
            half.write(_KNOWN.dump_json(known))
        Path(half.name).replace(note)
    except OSError:
        return  # a cache that can't be written: the files are read again next time
