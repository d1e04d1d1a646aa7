"""What of a value the golden record holds: all of it, but for what is named here.

Exact is the rule: texts, orders, draws, numbers, and every pixel. What is left out, masked or
compared within a tolerance stands in one of the three tables below, with the reason, and nowhere
else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LEFT_OUT = {
    "time": "when a line was written",
    "created": "when a run began",
    "seconds": "how long something took",
    "overhead_ms": "how long something took",
    "overhead_ms_p50": "how long something took",
    "images_per_second": "how long something took",
    "memory_gb": "of this machine",
    "memory_mb": "of this machine",
    "machine": "of this machine",
    "software": "versions of this machine's packages",
    "versions": "versions of this machine's packages",
    "inhabit_version": "changes with every release",
    "python": "a version, or a place of this machine",
    "hash": "of files that transformers wrote, which name its version",
    "command": "names folders of this machine",
    "base_url": "the port of a server of this test",
    "printed": "what a process printed: it names places and processes",
    "ready": "whether this machine has what a simulator needs",
    "needs_here": "what this machine lacks",
    "size": "bytes of a file whose lines hold times",
}
"""Field -> why it is left out, wherever it stands."""

MASKED = (
    # The folder that a test is given, and the processes and ports of the moment.
    (re.compile(r"(/[\w.+-]+)*/golden-record(/[\w.+-]+)*"), "<folder>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
    (re.compile(r"\b(process|pid) \d+"), r"\1 <id>"),
    # What a simulator that failed had printed: addresses of threads, files and lines of the code.
    (re.compile(r"(?s)(The last lines it printed:).*"), r"\1 <lines>"),
    # A traceback names files and lines of the code, which may move. What it says stays.
    (re.compile(r'(?m)^ *File ".*(\n.*)*?(?=\n\S|\Z)'), "<traceback>"),
)
"""What is put in the place of texts that differ from call to call."""

NEAR = {
    "logprob": "sums of exponentials, of torch or numpy: the last digits depend on the processor",
    "blind": "as logprob",
    "normaliser": "as logprob",
    "confidence": "as logprob",
    "loss": "a sum of torch, whose order of adding depends on the processor",
}
"""Field -> why its numbers are compared within `TOLERANCE`. Of many numbers, each episode has its
mean here; what they rank is compared exactly."""

TOLERANCE = 1e-4
"""Nats."""


@dataclass(frozen=True)
class Near:
    """Numbers that are compared within `TOLERANCE`."""

    numbers: Sequence[float]


@dataclass(frozen=True)
class Each:
    """A digest of each value, to see which of them differs."""

    values: Sequence[Any]


def entry(value: object) -> str | list[float]:
    """What the golden record holds of a value: short ones as they are, others as a digest."""
    if isinstance(value, Near):
        return [round(number, 6) for number in value.numbers]
    if isinstance(value, Each):
        shorts = [_short(one) for one in value.values]
        alike = len(set(shorts)) == 1 and len(shorts) > 1
        return f"{len(shorts)} x {shorts[0]}" if alike else " ".join(shorts)
    return _short(value)


def _short(value: object) -> str:
    """The order of everything counts, of fields too."""
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    if len(text) <= 16 and " " not in text:
        return text
    return "#" + hashlib.sha256(text.encode()).hexdigest()[:8]


def masked(value: Any) -> Any:
    """Without folders, ports and the like, in every text."""
    if isinstance(value, str):
        for pattern, instead in MASKED:
            value = pattern.sub(instead, value)
        return value
    if isinstance(value, Mapping):
        return {key: masked(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [masked(one) for one in value]
    return value


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return pixels(value)
    if isinstance(value, set | frozenset):
        return sorted(str(one) for one in value)
    return str(value)


def pixels(array: np.ndarray) -> str:
    """A digest of every value of an array, and of its shape and type."""
    head = f"{array.dtype} {array.shape} ".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


OPAQUE = {"scene", "messages", "things", "state", "properties", "arguments"}
"""Fields with fields of an environment's, or of a prompt's: one digest for the whole."""


def fields(value: Mapping[str, Any], name: str = "") -> Iterator[tuple[str, Any]]:
    """Every field in a JSON object, by its path, such as ("decide.calls.reply", "Go.").

    A list of objects gives each of its objects' fields. What is empty is not there: a record may
    leave it out or write null.
    """
    for key, one in value.items():
        path = f"{name}.{key}" if name else key
        if key in LEFT_OUT or one is None or one == [] or one == {}:
            continue
        if isinstance(one, Mapping) and key not in OPAQUE:
            yield from fields(one, path)
        elif isinstance(one, list) and all(isinstance(part, Mapping) for part in one):
            if key in OPAQUE:
                yield path, masked(one)
                continue
            yield f"{path}.len", len(one)
            for part in one:
                yield from fields(part, path)
        else:
            yield path, masked(one)


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The same for many objects: path -> its values in the order of the rows."""
    found: dict[str, list[Any]] = {}
    for number, row in enumerate(rows):
        for path, value in fields(row if isinstance(row, Mapping) else {"item": row}):
            found.setdefault(path, []).append([number, value])
    return found


def lines_of(file: Path) -> list[Any]:
    """The objects in a file of JSON lines."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
