"""Messages between the runner and a worker: a length, then that many bytes of JSON.

Nothing on this wire can be executed: no pickle, no code, only plain values.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

_LENGTH = struct.Struct("!I")
_LONGEST = 1 << 28
"""Bytes. A longer message is a broken peer rather than a state worth sending."""


BEAT = _LENGTH.pack(0)
"""A message without content: a sign of life."""


class ClosedError(ConnectionError):
    """The other side is gone."""


class SilentError(TimeoutError):
    """The other side gives no sign of life any more."""


def pack(message: Any) -> bytes:
    """One message of plain values, as it goes over the wire.

    Raises:
        TypeError: it holds something that is not plain.
        ValueError: it is too long.
    """
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > _LONGEST:
        raise ValueError(f"A message of {len(body)} bytes; at most {_LONGEST} can be sent.")
    return _LENGTH.pack(len(body)) + body


class Wire:
    """One end of a stream socket, carrying one message at a time."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, packed: bytes, *, seconds: float | None = None) -> None:
        """Send what `pack` made.

        Raises:
            ClosedError: the other side is gone.
            TimeoutError: it did not take the message within `seconds`.
        """
        self._end.settimeout(seconds)
        try:
            self._end.sendall(packed)
        except TimeoutError:
            raise
        except OSError as error:
            raise ClosedError(str(error)) from error

    def receive(self, *, seconds: float | None = None, silence: float | None = None) -> Any:
        """The next message that is more than a sign of life.

        Args:
            seconds: until it has to be whole; None for any time.
            silence: seconds that may pass without even a sign of life.

        Raises:
            ClosedError: the other side is gone.
            SilentError: `silence` has passed.
            TimeoutError: the message is not whole after `seconds`.
            ValueError: it is not one of ours.
        """
        until = None if seconds is None else time.monotonic() + seconds
        while not (length := self._length(until, silence)):
            continue
        if length > _LONGEST:
            raise ValueError(f"A message that claims {length} bytes; at most {_LONGEST} are taken.")
        return json.loads(self._read(length, until))

    def _length(self, until: float | None, silence: float | None) -> int:
        quiet = None if silence is None else time.monotonic() + silence
        sooner = min((end for end in (until, quiet) if end is not None), default=None)
        try:
            (length,) = _LENGTH.unpack(self._read(_LENGTH.size, sooner))
        except TimeoutError:
            if sooner is not None and sooner == quiet:
                raise SilentError from None
            raise
        return int(length)

    def close(self) -> None:
        """Hang up."""
        self._end.close()

    def _read(self, size: int, until: float | None) -> bytes:
        body = bytearray(size)
        rest = memoryview(body)
        while rest:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            self._end.settimeout(left)
            try:
                count = self._end.recv_into(rest)
            except TimeoutError:
                raise
            except OSError as error:
                raise ClosedError(str(error)) from error
            if count == 0:
                raise ClosedError("the other side hung up")
            rest = rest[count:]
        return bytes(body)
