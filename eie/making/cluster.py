"""Makes a set on a Ray cluster: the same bytes as on one machine.

Attempts are dispatched in rounds of as many as are probably needed. What is kept of an attempt
depends on all earlier ones, and is decided on the head node.
"""

from __future__ import annotations

import asyncio
import io
import json
import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from pydantic import JsonValue

from inhabit.eie.examples.draft import Draft, Piece
from inhabit.eie.examples.example import Example, Refused, Rejection
from inhabit.eie.making.ordered_writer import OrderedWriter
from inhabit.eie.making.runner import AttemptResult, AttemptRunner, load_components
from inhabit.eie.sets.folder import SetFolder, SetHeader
from inhabit.episodes.cluster.jobs import NodeResources, dispatch

_EACH = 8
"""Examples expected per attempt, before any is known."""
_SPARE = 1.1
"""Factor on the attempts that a round probably needs."""
_PIECES = "pieces"
"""Name of the array with everything but images."""


class AttemptWorker:
    """Makes attempts on a node: an `inhabit.episodes.cluster.jobs.JobWorker`."""

    def __init__(self, settings: JsonValue) -> None:
        """Load the components of the set with the header `settings`."""
        header = SetHeader.model_validate(settings)
        components = load_components(header)
        self._author = components.author
        self._runner = AttemptRunner(components, header.seed)
        self._asyncio = asyncio.Runner()

    def do(self, job: JsonValue) -> bytes:
        """Make the attempt of this number."""
        return packed(self._asyncio.run(self._runner.attempt(cast("int", job))))

    def close(self) -> None:
        """Close the environment and the model."""
        self._asyncio.run(self._runner.close())
        self._asyncio.run(self._author.close())
        self._asyncio.close()


async def synthesize_on_cluster(
    target: SetFolder,
    asked: SetHeader,
    *,
    max_attempts: int,
    workers: int,
    resources: NodeResources,
    on_progress: Callable[[int], None] = lambda kept: None,
) -> None:
    """Make the set. Call it while `connected`.

    Args:
        target: the set; its earlier attempts are kept.
        asked: the header with the current settings, from which nodes start.
        max_attempts: maximum number of attempts.
        workers: number of concurrent attempts.
        resources: reserved by each worker on its node.
        on_progress: called after every attempt with the number of examples.

    Raises:
        LostError: an attempt was lost with its node too often.
        SetError: the set can't be written.
        UnavailableError, SimulatorError, ModelError: nodes can't start what is needed.
    """
    writer = OrderedWriter(target, max_attempts=max_attempts, on_progress=on_progress)
    try:
        while not writer.over:
            count = max(workers, _needed(writer, target.header.n))
            numbers = range(writer.written, min(writer.written + count, max_attempts))
            await dispatch(
                "inhabit.eie.making.cluster:AttemptWorker",
                asked.model_dump(mode="json"),
                numbers,
                lambda job, made: writer.add(unpacked(made)),
                workers=min(workers, len(numbers)),
                resources=resources,
            )
    finally:
        writer.close()


def _needed(writer: OrderedWriter, wanted: int) -> int:
    """The attempts needed, if they give as many examples as the earlier ones."""
    each = writer.kept / writer.written if writer.kept else _EACH
    return math.ceil((wanted - writer.kept) / each * _SPARE)


def packed(made: AttemptResult) -> bytes:
    """Pack an attempt as an archive of arrays: its images, and the rest as JSON."""
    pictures = {
        digest: rgb
        for piece in made.pieces
        if isinstance(piece, Draft)
        for digest, rgb in piece.pictures.items()
    }
    rest = {
        "number": made.number,
        "task": made.task,
        "change": made.change,
        "tokens": made.tokens,
        "seconds": made.seconds,
        _PIECES: [_plain(piece) for piece in made.pieces],
    }
    content = np.frombuffer(json.dumps(rest).encode(), np.uint8)
    archive = io.BytesIO()
    arrays: dict[str, Any] = {**pictures, _PIECES: content}
    np.savez_compressed(archive, **arrays)
    return archive.getvalue()


def unpacked(archive: bytes) -> AttemptResult:
    """Unpack an attempt that `packed` made.

    Raises:
        ValueError: the archive is malformed.
    """
    with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
        rest = json.loads(arrays[_PIECES].tobytes())
        pictures = {name: arrays[name] for name in arrays.files if name != _PIECES}
    pieces: list[Piece] = [
        Refused(Rejection(plain["rejection"]), plain["sentence"])
        if "rejection" in plain
        else Draft(
            Example.model_validate(plain["example"]),
            {digest: pictures[digest] for digest in plain["pictures"]},
            int(plain["fingerprint"], 16),
        )
        for plain in rest.pop(_PIECES)
    ]
    return AttemptResult(pieces=pieces, **rest)


def _plain(piece: Piece) -> dict[str, JsonValue]:
    if isinstance(piece, Refused):
        return {"rejection": piece.rejection.value, "sentence": piece.sentence}
    return {
        "example": piece.example.model_dump(mode="json"),
        "pictures": list(piece.pictures),
        "fingerprint": f"{piece.fingerprint:x}",
    }
