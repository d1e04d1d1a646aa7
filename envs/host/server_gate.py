"""Whom our servers let in, and how much they take: `inhabit serve` and `inhabit watch` ask this."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import re
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic_core import from_json

_LISTENS = "0A"
_OURS = (os.getuid(), 0)


def is_ours(local: int, remote: int) -> bool:
    """Whether the socket from port `local` to port `remote` is one of a program of ours or root's.

    Where the kernel does not say, as on macOS, everybody is taken to be us.
    """
    rows = _rows()
    return not rows or any(
        _ports(row) == (local, remote) and int(row[7]) in _OURS and row[9] != "0" for row in rows
    )


def is_our_server(port: int) -> bool:
    """Whether all that listens at a port belongs to us or to root."""
    return all(
        int(row[7]) in _OURS for row in _rows() if row[3] == _LISTENS and _ports(row)[0] == port
    )


def _rows() -> list[list[str]]:
    tables = [Path("/proc/net", name) for name in ("tcp", "tcp6")]
    lines = [line for t in tables if t.exists() for line in t.read_text().splitlines()[1:]]
    return [line.split() for line in lines]


def _ports(row: list[str]) -> tuple[int, int]:
    return int(row[1][-4:], 16), int(row[2][-4:], 16)


LARGEST_HEAD = 16 * 1024
"""Bytes of a request's line and headers."""
LARGEST_BODY = 256 * 1024
"""Bytes of a request's body, or of a message on a WebSocket."""
PATIENCE = 10.0
"""Seconds in which the head, and then the body, of a request must arrive."""
CONNECTIONS = 64
"""Connections at once, besides those of sessions."""
_UNREAD = 30_000
"""Milliseconds that a client may leave what was sent to it unread."""
_PORT = "(:[0-9]+)?"
_LOOPBACK = rf"(127(\.[0-9]+){{3}}|localhost|\[::1\]){_PORT}"
_ADDRESS = rf"([0-9.]+|\[[0-9a-f:.]+\]){_PORT}"


class RefusedError(Exception):
    """A request or message is not let in; the text says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Gate:
    """What a request must bring: the token, and a name of this server as its Host."""

    host: str
    """The address that the server listens on."""
    token: str = field(default_factory=partial(secrets.token_urlsafe, 16), repr=False)
    """The secret, at the beginning of the path or as `Authorization: Bearer TOKEN`."""
    origins: tuple[str, ...] = ()
    """Web pages that may connect besides those of this machine, such as "https://example.org"."""

    def enter(self, path: str, headers: Iterable[tuple[str, str]]) -> str:
        """How `path` begins before what is asked for: with "/TOKEN", or "" if a header has it.

        Raises:
            RefusedError: the request is not let in.
        """
        given = [(name.lower(), value) for name, value in headers]
        hosts = [value for name, value in given if name == "host"]
        if len(hosts) != 1 or not re.fullmatch(self._names, hosts[0], re.IGNORECASE):
            raise RefusedError(403, f"This server is not called {', '.join(hosts)!r:.200}.")
        for name, value in given:
            known = value in self.origins or re.fullmatch(f"https?://{_LOOPBACK}", value)
            if name == "origin" and not known:
                raise RefusedError(403, f"This server does not answer web pages of {value!r:.200}.")
        begin, bearer = f"/{self.token}", f"Bearer {self.token}"
        if _same(path[: len(begin)], begin) and path[len(begin) :][:1] in ("", "/"):
            return begin
        if any(name == "authorization" and _same(value, bearer) for name, value in given):
            return ""
        raise RefusedError(
            401,
            "A wrong token, or none: use the whole address that the command printed, or send the "
            "header Authorization: Bearer TOKEN.",
        )

    @property
    def _names(self) -> str:
        """What the server is called; a page that has its own name lead here asks for another."""
        names = [_LOOPBACK, *(re.escape(one.partition("://")[2]) for one in self.origins)]
        if self.host not in ("127.0.0.1", "localhost", "::1"):
            names.append(_ADDRESS)
            names += [re.escape(one) + _PORT for one in (self.host, socket.gethostname())]
        return "|".join(names)


def check_json(content: bytes | str) -> None:
    """Let JSON objects through, at most 200 levels deep, with numbers of at most 64 bits.

    Raises:
        RefusedError: it is something else.
    """
    try:
        if not isinstance(from_json(content, allow_inf_nan=False), dict):
            raise ValueError("it is no object")
        json.loads(content, parse_int=_check_number, parse_float=_check_number)
    except ValueError as error:
        raise RefusedError(400, f"A JSON object was expected: {error}."[:120]) from error


def limit_unread(listening: socket.socket) -> None:
    """End connections whose client reads nothing of what is sent to it, where the system can."""
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNREAD)


def gated(app: Any, gate: Gate) -> Any:
    """An ASGI application behind a gate. It gets bodies whole, and JSON objects alone."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await app(scope, receive, send)
            return
        headers = [(one.decode("latin-1"), two.decode("latin-1")) for one, two in scope["headers"]]
        send = partial(_send_last, send)
        try:
            begin = gate.enter(scope["path"], headers)
            is_http = scope["type"] == "http"
            taken = await _whole(receive) if is_http else partial(_message, receive, send)
        except RefusedError as error:
            prefix = "" if scope["type"] == "http" else "websocket."
            kind = [(b"content-type", b"text/plain; charset=utf-8")]
            start = {"type": f"{prefix}http.response.start", "status": error.status}
            await send({**start, "headers": kind})
            await send({"type": f"{prefix}http.response.body", "body": str(error).encode()})
        else:
            await app({**scope, "root_path": scope.get("root_path", "") + begin}, taken, send)

    return answer


async def _whole(receive: Any) -> Any:
    """Hands out the body in one piece. What is too much is dropped; its sender is to hear why."""
    body, size, more = b"", 0, True
    try:
        async with asyncio.timeout(PATIENCE):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RefusedError(400, "The body is not whole.")
                part, more = message.get("body", b""), message.get("more_body", False)
                size += len(part)
                body += part if size <= LARGEST_BODY else b""
    except TimeoutError as error:
        late = f"The body did not arrive within {PATIENCE:.0f} seconds."
        raise RefusedError(408, late) from error
    if size > LARGEST_BODY:
        raise RefusedError(413, f"A body may have {LARGEST_BODY} bytes.")
    if body:
        check_json(body)
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def again() -> Any:
        return next(messages, None) or await receive()

    return again


async def _message(receive: Any, send: Any) -> Any:
    message = await receive()
    if message["type"] == "websocket.receive":
        try:
            check_json(message.get("text") or "")
        except RefusedError as error:
            await send({"type": "websocket.close", "code": 1008, "reason": str(error)})
            return {"type": "websocket.disconnect", "code": 1008}
    return message


async def _send_last(send: Any, message: Any) -> None:
    """One request for each connection, so that none waits for a second that never comes."""
    if message["type"] == "http.response.start":
        message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
    await send(message)


def _check_number(text: str) -> None:
    if abs(float(text)) > 2.0**63:
        raise ValueError(f"the number {text:.20} is too large")


def _same(one: str, other: str) -> bool:
    """In a time that does not tell how much of them is equal."""
    return hmac.compare_digest(one.encode(), other.encode())
