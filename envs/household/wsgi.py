"""AI2-THOR's wire over HTTP: an answer is a form that is posted, its reply the next request.

Source: `ai2thor/wsgi_server.py` of ai2thor 5.0.0. The form begins with an empty line, which release
2.1.0 insists on.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping
from typing import Any

from envs.household.message import Message

_BOUNDARY = "inhabit-4e1f0c2ab9d75c6388f2-end-of-part"
_HEADERS = {"Content-Type": f'multipart/form-data; boundary="{_BOUNDARY}"'}


def serve(
    first: Message,
    answer: Callable[[Mapping[str, Any]], Message],
    host: str,
    port: int,
    token: str,
) -> None:
    """Send `first`, then answer every request until the client hangs up.

    Args:
        first: what there is before any request.
        answer: the message that a request is answered with.
        host: where the client listens.
        port: where the client listens.
        token: proves to the client that this is the simulator it has started.

    Raises:
        ConnectionError: the client refuses what it is sent.
    """
    line = http.client.HTTPConnection(host, port)
    message = first
    while True:
        try:
            line.request("POST", "/train", body=_form(message, token), headers=_HEADERS)
            reply = line.getresponse()
            body = reply.read()
        except (ConnectionResetError, BrokenPipeError, http.client.BadStatusLine):
            return
        if reply.status != http.client.OK:
            raise ConnectionError(f"The client answered {reply.status}: {body[:500]!r}")
        request: Mapping[str, Any] = json.loads(body)
        if "action" not in request:
            return
        message = answer(request)


def _form(message: Message, token: str) -> bytes:
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
