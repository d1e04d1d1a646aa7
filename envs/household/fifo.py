"""AI2-THOR's wire over named pipes: the one its client uses by default, and the quicker one.

A message is a run of fields (`struct "!BI"`: type, length; then the body), closed by type 255.
The simulator speaks first. Source: `ai2thor/fifo_server.py` of ai2thor 5.0.0.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from envs.household.message import Message

_HEADER = struct.Struct("!BI")
_METADATA, _ACTION, _END = 1, 2, 255
_IMAGES: Mapping[str, int] = {"image": 4, "image_depth": 5, "image_classes": 8, "image_ids": 9}
_PIPE_BYTES = 1 << 20
"""A whole message fits, so that writing one does not wait for the client to read it in parts."""


def serve(
    first: Message, answer: Callable[[Mapping[str, Any]], Message], writing: Path, reading: Path
) -> None:
    """Send `first`, then answer every request until the client hangs up.

    Args:
        first: what there is before any request.
        answer: the message that a request is answered with.
        writing: the pipe that the client reads ("server pipe").
        reading: the pipe that it writes ("client pipe"). It opens this one only when it has read
            `first`.
    """
    with contextlib.suppress(BrokenPipeError), writing.open("wb", buffering=0) as out:
        _widen(out)
        _send(out, first)
        with reading.open("rb") as requests:
            while (request := _receive(requests)) is not None:
                _send(out, answer(request))


def _widen(pipe: IO[bytes]) -> None:
    # Linux alone can do it, and may forbid it to a user with many pipes; then it is only slower.
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _send(out: IO[bytes], message: Message) -> None:
    parts = [_HEADER.pack(_METADATA, len(message.metadata)), message.metadata]
    for name, pixels in message.images:
        parts += _HEADER.pack(_IMAGES[name], len(pixels)), pixels
    rest = memoryview(b"".join([*parts, _HEADER.pack(_END, 0)]))
    while rest:
        rest = rest[out.write(rest) :]


def _receive(requests: IO[bytes]) -> Mapping[str, Any] | None:
    """The next request, or None if there are no more."""
    body = b""
    while len(header := requests.read(_HEADER.size)) == _HEADER.size:
        kind, length = _HEADER.unpack(header)
        if kind == _END:
            request: Mapping[str, Any] = json.loads(body)
            return request if "action" in request else None
        body = requests.read(length)
    return None
