"""AI2-THOR's protocol over named pipes, the client's default and the faster one.

A message is a sequence of fields (`struct "!BI"`: type, length; then the body), closed by type 255.
The simulator sends the first message. Source: `ai2thor/fifo_server.py` of ai2thor 5.0.0.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import struct
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from inhabit.envs.simulators.household.wire.session import PackedState

if TYPE_CHECKING:
    from inhabit.envs.simulators.household.wire.session import ClientSession

_HEADER = struct.Struct("!BI")
_METADATA, _ACTION, _END = 1, 2, 255
_IMAGES: Mapping[str, int] = {
    "image": 4,
    "image_depth": 5,
    "image_normals": 6,
    "image_classes": 8,
    "image_ids": 9,
    "image-thirdParty-camera": 10,
    "image_thirdParty_depth": 12,
    "image_thirdParty_normals": 13,
    "image_thirdParty_image_ids": 14,
    "image_thirdParty_classes": 15,
}
_PIPE_BYTES = 1 << 20
"""Large enough for a whole message, so that a write need not wait for the client's reads."""
_PATIENCE = 60.0
"""Seconds for the client to open the pipe; it does so at once unless it has ended."""


def serve(begin: Callable[[], ClientSession], writing: Path, reading: Path) -> None:
    """Answer every request until the client disconnects.

    Args:
        begin: creates the session.
        writing: the pipe that the client reads ("server pipe").
        reading: the pipe that it writes ("client pipe"). It opens this one only after reading
            the first message.

    Raises:
        TimeoutError: there is no client.
        SystemExit: the simulator failed; its traceback is on stderr.
    """
    with _opened(writing) as out, contextlib.suppress(BrokenPipeError):
        _widen(out)
        try:
            session = begin()
            _send(out, session.first())
            with reading.open("rb") as requests:
                while (request := _receive(requests)) is not None:
                    _send(out, session.answer(request))
        except BrokenPipeError:
            raise
        except Exception as error:
            # Print before the client is notified: it kills a failed simulator. Without this empty
            # message the client waits for its timeout, or for ever.
            traceback.print_exc()
            out.write(_HEADER.pack(_END, 0))
            raise SystemExit(1) from error


def _opened(pipe: Path) -> IO[bytes]:
    """Open a pipe for writing as soon as it has a reader."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise TimeoutError(
                    f"The client did not open {pipe} within {_PATIENCE:g} s."
                ) from error
            time.sleep(0.002)
        else:
            os.set_blocking(descriptor, True)
            return os.fdopen(descriptor, "wb", buffering=0)


def _widen(pipe: IO[bytes]) -> None:
    # Linux only, and may be refused to a user with many pipes; the default size is only slower.
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _send(out: IO[bytes], message: PackedState) -> None:
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
