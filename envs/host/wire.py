"""Messages between the runner and a worker: a length, then that many bytes of JSON.

Nothing on this wire can be executed: no pickle, no code, only plain values.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

from inhabit.envs.host.countdown import Countdown

_LENGTH = struct.Struct("!I")
_LONGEST = 1 << 28
"""Maximum length in bytes. A longer message means a broken peer."""


class ClosedError(ConnectionError):
    """The peer has closed the connection."""


def pack(message: Any) -> bytes:
    """Encode a message of plain values.

    Raises:
        TypeError: it holds something that is not plain.
        ValueError: it is too long.
    """
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > _LONGEST:
        raise ValueError(f"The message has {len(body)} bytes; the limit is {_LONGEST}.")
    return _LENGTH.pack(len(body)) + body


class Wire:
    """One end of a stream socket, carrying one message at a time."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def send(self, packed: bytes, *, seconds: float | None = None) -> None:
        """Send a packed message.

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

    def receive(self, *, seconds: float | None = None) -> Any:
        """The next message.

        Args:
            seconds: until it has to be whole; None for any time. Time in which this process was
                stopped does not count.

        Raises:
            ClosedError: the other side is gone.
            TimeoutError: the message is not whole after `seconds`.
            ValueError: it is not one of ours.
        """
        countdown = Countdown(seconds)
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, countdown))
        if length > _LONGEST:
            raise ValueError(f"The message claims {length} bytes; the limit is {_LONGEST}.")
        return json.loads(self._read(length, countdown))

    def close(self) -> None:
        """Close the connection."""
        self._end.close()

    def _read(self, size: int, countdown: Countdown) -> bytes:
        body = bytearray(size)
        rest = memoryview(body)
        while rest:
            seconds = countdown.next_wait()
            self._end.settimeout(seconds)
            try:
                count = self._end.recv_into(rest)
            except (TimeoutError, BlockingIOError):
                if seconds == 0:
                    raise TimeoutError from None
                continue
            except OSError as error:
                raise ClosedError(str(error)) from error
            if count == 0:
                raise ClosedError("the peer closed the connection")
            rest = rest[count:]
        return bytes(body)
