"""What passes between the runner and a worker: values as JSON messages, arrays in shared memory.

Nothing on this wire can be executed: no pickle, no code, only plain values. A message is a length,
then that many bytes of JSON. The memory is a file without a name, so there is nothing to clean up
when either side is killed. On Linux it can't shrink: a process that maps a file which another one
shrinks is ended by SIGBUS.
"""

from __future__ import annotations

import fcntl
import json
import math
import mmap
import os
import socket
import struct
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Action, Clip, Observation, Outcome, Reason, SceneObject
from inhabit.envs.host.pipes import Countdown

_ALIGNED = 64
_SMALLEST = 1 << 20
_LARGEST = 1 << 30
"""Bytes of an array. A larger one means a broken worker."""


def nameless_file() -> int:
    """The descriptor of an anonymous file in memory."""
    if hasattr(os, "memfd_create"):
        made = os.memfd_create("inhabit-frames", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        fcntl.fcntl(made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        return made
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class SharedMemory:
    """Shared memory for the arrays of one message: one side writes them, the other copies them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._map: mmap.mmap | None = None
        self._used = 0

    def clear(self) -> None:
        """Start a new message, which may overwrite the arrays of the previous one."""
        self._used = 0

    def write(self, array: NDArray[Any]) -> list[Any]:
        """Write `array`; returns its location as plain values."""
        start = -(-self._used // _ALIGNED) * _ALIGNED
        self._used = start + array.nbytes
        target = self._view(start, array.dtype, array.shape, grow=True)
        target[...] = array
        return [start, array.dtype.str, list(array.shape)]

    def read(self, place: list[Any]) -> NDArray[Any]:
        """A copy of the array at `place`.

        Raises:
            ValueError: no array lies there.
        """
        start, dtype, shape = place
        return self._view(int(start), np.dtype(dtype), tuple(shape), grow=False).copy()

    def close(self) -> None:
        """Unmap it and close the file."""
        if self._map is not None:
            self._map.close()
            self._map = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _view(
        self, start: int, dtype: np.dtype[Any], shape: tuple[int, ...], *, grow: bool
    ) -> NDArray[Any]:
        if dtype.hasobject or _bytes(dtype, shape) > _LARGEST:
            raise ValueError(f"Only numeric arrays of at most {_LARGEST} bytes can be shared.")
        return np.ndarray(shape, dtype, self._mapped(start + _bytes(dtype, shape), grow), start)

    def _mapped(self, size: int, grow: bool) -> mmap.mmap:
        size = max(size, 1)  # an empty array lies somewhere too, and an empty file can't be mapped
        if self._map is None or len(self._map) < size:
            there = os.fstat(self._descriptor).st_size
            if there < size:
                if not grow:
                    raise ValueError(
                        f"The array ends at byte {size}, beyond the {there} bytes shared."
                    )
                there = max(size * 3 // 2, _SMALLEST)
                os.ftruncate(self._descriptor, there)
            if self._map is not None:
                self._map.close()
            self._map = mmap.mmap(self._descriptor, there)
        return self._map


def _bytes(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    return dtype.itemsize * math.prod(shape)


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


def from_action(action: Action) -> list[str]:
    """Its text, its verb, and its arguments."""
    return [action.text, action.verb, *action.arguments]


def to_action(plain: Sequence[str]) -> Action:
    """The opposite of `from_action`."""
    text, verb, *arguments = plain
    return Action(text, verb, tuple(arguments))


def from_actions(actions: Iterable[Action]) -> list[list[str]]:
    """A list of actions, in order."""
    return [from_action(a) for a in actions]


def to_actions(plain: Iterable[Sequence[str]]) -> list[Action]:
    """The opposite of `from_actions`."""
    return [to_action(p) for p in plain]


def from_outcome(outcome: Outcome) -> list[Any]:
    """Its fields in their order."""
    reason = None if outcome.reason is None else outcome.reason.value
    o = outcome
    return [reason, o.feedback, int(o.met), int(o.total), bool(o.over), int(o.cost)]


def to_outcome(plain: Sequence[Any]) -> Outcome:
    """The opposite of `from_outcome`."""
    reason, feedback, met, total, over, cost = plain
    return Outcome(None if reason is None else Reason(reason), feedback, met, total, over, cost)


def from_things(things: Iterable[SceneObject]) -> list[list[Any]]:
    """Their fields in their order."""
    return [
        [
            *(t.name, t.kind, dict(t.states), t.support, t.inside, t.held),
            *(int(t.pixels), int(t.count), t.room),
        ]
        for t in things
    ]


def to_things(plain: Iterable[Sequence[Any]]) -> list[SceneObject]:
    """The opposite of `from_things`."""
    return [SceneObject(*fields) for fields in plain]


def from_observation(seen: Observation, memory: SharedMemory) -> dict[str, Any]:
    """An observation as plain values; arrays go to `memory`, replaced by their locations."""
    memory.clear()
    arrays = {"rgb": seen.rgb, "depth": seen.depth, "instances": seen.instances}
    places = {k: memory.write(a) for k, a in arrays.items() if a is not None}
    clips = [[memory.write(c.frames), c.text] for c in seen.clips]
    return {"text": seen.text, "names": list(seen.names), "clips": clips, **places}


def to_observation(plain: dict[str, Any], memory: SharedMemory) -> Observation:
    """The opposite of `from_observation`; the arrays are copies that the caller owns.

    Raises:
        ValueError: an array's location is invalid.
    """
    arrays = {k: memory.read(plain[k]) for k in ("rgb", "depth", "instances") if k in plain}
    clips = tuple(Clip(memory.read(place), text) for place, text in plain["clips"])
    return Observation(plain["text"], clips=clips, names=tuple(plain["names"]), **arrays)
