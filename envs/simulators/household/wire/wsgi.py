"""AI2-THOR's wire over HTTP: an answer is a form that is posted, its reply the next request.

Source: `ai2thor/wsgi_server.py` of ai2thor 5.0.0. The form begins with an empty line, which release
2.1.0 insists on.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from inhabit.envs.simulators.household.wire.session import PackedState

if TYPE_CHECKING:
    from inhabit.envs.simulators.household.wire.session import ClientSession

_BOUNDARY = "inhabit-4e1f0c2ab9d75c6388f2-end-of-part"
_HEADERS = {"Content-Type": f'multipart/form-data; boundary="{_BOUNDARY}"'}


def serve(begin: Callable[[], ClientSession], host: str, port: int, token: str) -> None:
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
