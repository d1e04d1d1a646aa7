"""The embedded simulator, in place of Unity: `python -m inhabit.envs.simulators.household.wire`.

AI2-THOR's client starts it (through `launcher.py`) with Unity's own flags, and sets
environment variables that select the protocol.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import http.client
import json
import os
import struct
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.wire.packing import Json, MessagePack
from inhabit.envs.simulators.household.wire.session import ClientSession, PackedState

RELEASE = "INHABIT_THOR_CLIENT"
"""Environment variable for the client's release, set by `inhabit thor`."""
_LOOK = 0.5
"""Seconds between two checks that the client is alive."""


def main() -> None:
    """Serve the client until it disconnects or ends."""
    arguments = _arguments()
    threading.Thread(target=_end_with, args=(arguments.client,), daemon=True).start()
    # Release 2.1.0 of the client sets no server type: it supports HTTP only.
    wire = os.environ.get("AI2THOR_SERVER_TYPE")
    release = "2.1.0" if wire is None else os.environ.get(RELEASE, "")
    over_http = wire in (None, "WSGI")

    def begin() -> ClientSession:
        # Called late: errors raised here are reported to the client.
        simulator = Simulator(
            width=arguments.screen_width,
            height=arguments.screen_height,
            catalog=Catalog.of(
                arguments.rooms,
                recorded=arguments.recorded_cells,
                as_thor=not arguments.for_tasks,
            ),
            release="" if arguments.for_tasks else release or "5.0.0",
        )
        pictures = os.environ.get("AI2THOR_SERVER_SIDE_SCREENSHOT", "True") == "True"
        form = Json() if over_http else MessagePack()
        return ClientSession(simulator, form, pictures=pictures, release=release)

    if over_http:
        token = _variable("AI2THOR_CLIENT_TOKEN")
        _serve_http(begin, _variable("AI2THOR_HOST"), int(_variable("AI2THOR_PORT")), token)
    else:
        writing = Path(_variable("AI2THOR_FIFO_SERVER_PIPE_PATH"))
        _serve_pipes(begin, writing, Path(_variable("AI2THOR_FIFO_CLIENT_PIPE_PATH")))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m inhabit.envs.simulators.household.wire", description=__doc__
    )
    parser.add_argument("-client", type=int, default=os.getppid(), help="its process id")
    parser.add_argument("-screen-width", type=int, default=300, help="of the images, pixels")
    parser.add_argument("-screen-height", type=int, default=300, help="of the images, pixels")
    parser.add_argument("-rooms", default="", help="a folder with the user's rooms")
    parser.add_argument(
        "-recorded-cells", action="store_true", help="use THOR's recorded reachable positions"
    )
    parser.add_argument(
        "-for-tasks", action="store_true", help="use the rooms and rules of inhabit's own tasks"
    )
    known, _ = parser.parse_known_args()  # the rest are Unity's
    return known


def _variable(name: str) -> str:
    if name not in os.environ:
        sys.exit(
            f"{name} is not set. This program is started by AI2-THOR's client: "
            "Controller(local_executable_path=...), see envs/simulators/household/launcher.py."
        )
    return os.environ[name]


def _end_with(client: int) -> None:
    """End this process when its parent is no longer `client`.

    A closed pipe or connection also shows that the client has ended, but not while this process
    waits for the client to open it.
    """
    while os.getppid() == client:
        time.sleep(_LOOK)
    os._exit(0)


# Named pipes, the client's default and the faster way. A message is a sequence of fields
# (`struct "!BI"`: type, length; then the body), closed by type 255. The simulator sends the first
# message. Source: `ai2thor/fifo_server.py` of ai2thor 5.0.0.

_HEADER = struct.Struct("!BI")
_METADATA, _END = 1, 255
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


def _serve_pipes(begin: Callable[[], ClientSession], writing: Path, reading: Path) -> None:
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


# HTTP: an answer is a form that is posted, its reply the next request. Source:
# `ai2thor/wsgi_server.py` of ai2thor 5.0.0. The form begins with an empty line, which release 2.1.0
# insists on.

_BOUNDARY = "inhabit-4e1f0c2ab9d75c6388f2-end-of-part"
_HEADERS = {"Content-Type": f'multipart/form-data; boundary="{_BOUNDARY}"'}


def _serve_http(begin: Callable[[], ClientSession], host: str, port: int, token: str) -> None:
    """Answer every request until the client disconnects.

    Args:
        begin: makes the simulator.
        host: where the client listens.
        port: where the client listens.
        token: proves to the client that this is the simulator it has started.

    Raises:
        ConnectionError: the client refuses what it is sent.
    """
    line = http.client.HTTPConnection(host, port)
    session = begin()
    message = session.first()
    while (request := _exchange(line, _form(message, token))) is not None:
        message = session.answer(request)


def _exchange(line: http.client.HTTPConnection, form: bytes) -> Mapping[str, Any] | None:
    """Post a message; the reply is the next request, or None if there are no more."""
    try:
        line.request("POST", "/train", body=form, headers=_HEADERS)
        reply = line.getresponse()
        body = reply.read()
    except (ConnectionResetError, BrokenPipeError, http.client.BadStatusLine):
        return None
    if reply.status != http.client.OK:
        raise ConnectionError(f"The client answered {reply.status}: {body[:500]!r}")
    request: Mapping[str, Any] = json.loads(body)
    return request if "action" in request else None


def _form(message: PackedState, token: str) -> bytes:
    parts = [b""]
    for name, text in (("metadata", message.metadata), ("token", token.encode())):
        parts.append(_part(f'name="{name}"', 'text/plain; charset="utf-8"', text))
    for name, pixels in message.images:
        place = f'name="{name}"; filename="{name}"'
        parts.append(_part(place, "application/octet-stream", pixels))
    return b"\r\n".join([*parts, f"--{_BOUNDARY}--\r\n".encode()])


def _part(place: str, kind: str, body: bytes) -> bytes:
    head = (
        f"--{_BOUNDARY}\r\nContent-Type: {kind}\r\nContent-disposition: form-data; {place}\r\n\r\n"
    )
    return head.encode() + body


if __name__ == "__main__":
    main()
