"""Whom our servers let in, and how much they take: `inhabit serve` and `inhabit watch` ask this."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import from_json

LARGEST_HEAD = 16 * 1024
"""Bytes of a request's line and headers."""
LARGEST_BODY = 256 * 1024
"""Bytes of a request's body, or of a message on a WebSocket."""
LARGEST_NUMBER = 2.0**63
PATIENCE = 10.0
"""Seconds in which the head, and then the body, of a request must arrive."""
CONNECTIONS = 64
"""At once, besides those of sessions."""
_UNREAD = 30_000
"""Milliseconds that a client may leave what was sent to it unread."""


class RefusedError(Exception):
    """A request or message is not let in; the text says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Gate:
    """What a request must bring: the token, and the name of this server as its Host."""

    host: str
    """The address that the server listens on."""
    token: str = field(default_factory=partial(secrets.token_urlsafe, 16), repr=False)
    """At the beginning of the path, or as `Authorization: Bearer TOKEN`."""
    origins: tuple[str, ...] = ()
    """Web pages that may connect besides those of this machine, such as "https://example.org"."""

    def enter(self, path: str, headers: Iterable[tuple[str, str]]) -> str:
        """How `path` begins before what is asked for: with "/TOKEN", or "" if a header has it.

        Raises:
            RefusedError: the request is not let in.
        """
        given = [(name.lower(), value) for name, value in headers]
        hosts = [value for name, value in given if name == "host"]
        if len(hosts) != 1 or not self._is_called(_name(f"//{hosts[0]}")):
            raise RefusedError(403, f"This server is not called {', '.join(hosts)!r:.200}.")
        for name, value in given:
            if name == "origin" and value not in self.origins and not _is_loopback(_name(value)):
                raise RefusedError(403, f"This server does not answer web pages of {value!r:.200}.")
        begin, bearer = f"/{self.token}", f"Bearer {self.token}"
        if _same(path[: len(begin)], begin) and path[len(begin) : len(begin) + 1] in ("", "/"):
            return begin
        if any(name == "authorization" and _same(value, bearer) for name, value in given):
            return ""
        raise RefusedError(
            401,
            "A wrong token, or none: use the whole address that the command printed, or send the "
            "header Authorization: Bearer TOKEN.",
        )

    def _is_called(self, name: str) -> bool:
        """Whether a Host may have this name; a page that rebinds its own name has another."""
        if _is_loopback(name) or name in {_name(origin) for origin in self.origins}:
            return True
        if _is_loopback(self.host):
            return False
        return name in (self.host.lower(), socket.gethostname().lower()) or _is_address(name)


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


class GatedApp:
    """An ASGI application behind a gate. It gets bodies whole, and JSON objects alone."""

    def __init__(self, app: Any, gate: Gate) -> None:
        self._app, self._gate = app, gate

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it."""
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if kind == "http":
            send = partial(_send_last, send)
        headers = [(one.decode("latin-1"), two.decode("latin-1")) for one, two in scope["headers"]]
        try:
            begin = self._gate.enter(scope["path"], headers)
            if kind == "http":
                receive = await _whole(receive)
            else:
                receive = partial(_receive_checked, receive, send)
        except RefusedError as error:
            await _refuse(kind, error, receive, send)
            return
        await self._app({**scope, "root_path": scope.get("root_path", "") + begin}, receive, send)


async def _whole(receive: Any) -> Any:
    """What hands out the body in one piece. The rest of one too large is read and dropped, so that
    its sender hears why.
    """
    body, size, more = bytearray(), 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RefusedError(400, "The body is not whole.")
                part = message.get("body", b"")
                size += len(part)
                body += part if size <= LARGEST_BODY else b""
                more = message.get("more_body", False)
    if size > LARGEST_BODY:
        raise RefusedError(413, f"A body may have {LARGEST_BODY} bytes.")
    if more:
        raise RefusedError(408, f"The body did not arrive within {PATIENCE:.0f} seconds.")
    if body:
        check_json(bytes(body))
    messages = iter([{"type": "http.request", "body": bytes(body), "more_body": False}])

    async def again() -> Any:
        return next(messages, None) or await receive()

    return again


async def _receive_checked(receive: Any, send: Any) -> Any:
    message = await receive()
    if message["type"] == "websocket.receive":
        try:
            check_json(message.get("text") or "")
        except RefusedError as error:
            await send({"type": "websocket.close", "code": 1008, "reason": str(error)})
            return {"type": "websocket.disconnect", "code": 1008, "reason": str(error)}
    return message


async def _send_last(send: Any, message: Any) -> None:
    """One request for each connection, so that none waits for a second that never comes."""
    if message["type"] == "http.response.start":
        message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
    await send(message)


async def _refuse(kind: str, error: RefusedError, receive: Any, send: Any) -> None:
    if kind == "websocket":
        await receive()
    prefix = "websocket.http.response" if kind == "websocket" else "http.response"
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": f"{prefix}.start", "status": error.status, "headers": headers})
    await send({"type": f"{prefix}.body", "body": str(error).encode()})


def _check_number(text: str) -> None:
    if abs(float(text)) > LARGEST_NUMBER:
        raise ValueError(f"the number {text:.20} is too large")


def _same(one: str, other: str) -> bool:
    """In a time that does not tell how much of them is equal."""
    return hmac.compare_digest(one.encode(), other.encode())


def _name(address: str) -> str:
    with suppress(ValueError):
        parts = urlsplit(address)
        if parts.username is None and parts.port != 0:  # A port that is no number raises.
            return parts.hostname or ""
    return ""


def _is_loopback(name: str) -> bool:
    return name == "localhost" or (_is_address(name) and ip_address(name).is_loopback)


def _is_address(name: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(name))
    return False
