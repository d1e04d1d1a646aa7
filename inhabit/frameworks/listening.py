"""Serves an ASGI application with uvicorn; connections, and the time of each, are bounded."""

from __future__ import annotations

import logging
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from inhabit.envs.errors import UserError
from inhabit.envs.host import server_gate


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one.

    Raises:
        UserError: the address or the port can't be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(f"Cannot listen on {host}, port {port}: {why}.") from error
    server_gate.limit_unread(bound)
    return bound


def run_server(app: Any, bound: socket.socket, *, sessions: int) -> None:
    """Serve the application until Ctrl-C or SIGTERM, and then for 2 seconds at most.

    A client that vanishes without a word is noticed within 40 seconds, and its session closed.

    `sessions` connections may be open besides the gate's `CONNECTIONS`.
    """
    config = uvicorn.Config(
        app,
        http=_Visit,
        log_level=logging.ERROR,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=sessions + server_gate.CONNECTIONS,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=server_gate.LARGEST_HEAD,
        ws_max_size=server_gate.LARGEST_BODY,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
    )
    uvicorn.Server(config).run(sockets=[bound])


class _Visit(H11Protocol):
    """A connection. uvicorn counts those that ask for nothing, but neither times nor ends them."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.limit_concurrency:
            transport.abort()
        else:
            self.loop.call_later(server_gate.PATIENCE, self._end_if_silent)

    def _end_if_silent(self) -> None:
        if self.cycle is None and self.transport.get_protocol() is self:
            self.transport.abort()
