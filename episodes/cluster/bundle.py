"""The files of one episode as bytes, to travel from a node to the run folder."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path

_NAME = re.compile(r"episode\.jsonl|frames/[0-9]+(-[0-9]+)?\.jpg|images/[0-9a-f]{1,64}\.jpg")
_LENGTH = struct.Struct("!I")


def pack(folder: Path) -> bytes:
    """All files of an episode's folder: a list of names and sizes, then their contents."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".half")
    }
    listed = json.dumps([[name, len(content)] for name, content in files.items()]).encode()
    return b"".join([_LENGTH.pack(len(listed)), listed, *files.values()])


def unpack(bundle: bytes) -> Mapping[str, bytes]:
    """Unpack a bundle that `pack` made: contents by name.

    Raises:
        ValueError: the bundle is malformed, or names a file that no episode has.
    """
    (length,) = _LENGTH.unpack_from(bundle)
    at = _LENGTH.size + length
    files: dict[str, bytes] = {}
    for name, size in json.loads(bundle[_LENGTH.size : at]):
        if not _NAME.fullmatch(name):
            raise ValueError(f"A bundle holds {name!r}, which no episode does.")
        files[name] = bundle[at : at + size]
        at += size
    if at != len(bundle):
        raise ValueError(f"A bundle of {len(bundle)} bytes, of which {at} are listed.")
    return files
