"""The protocol over HTTP, for this user's programs alone: one request after the other.

Its clients know no token, so the kernel is asked whose program is at the other end.

A page in a browser of this machine could send requests too. They bear the page's `Origin`, or the
name by which the page's own server was looked up as `Host`, and are refused.
"""

from __future__ import annotations

import json
import re
import sys
from errno import EADDRINUSE
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

from pydantic import ValidationError

from inhabit.envs.core import SimulatorError
from inhabit.envs.entries import first_problem
from inhabit.envs.host.server_gate import is_ours
from inhabit.envs.virtualhome.server.actions import answer
from inhabit.envs.virtualhome.server.flat import Flat
from inhabit.envs.virtualhome.unity.protocol import ProtocolRequest

LOOPBACK = "127.0.0.1"
_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?", re.IGNORECASE)
"""What a client of this machine calls the server."""
_SILENCE = 60.0
"""Seconds that a request may take to arrive, and a line may stay open without one."""
_MOST = 64 * 1024 * 1024
"""Bytes of a request, at most."""


class Server(ThreadingHTTPServer):
    """Answers for one flat. `serve_forever` runs until `shutdown`."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, flat: Flat, port: int) -> None:
        self.flat = flat
        self.turn = Lock()
        try:
            super().__init__((LOOPBACK, port), _Answering)
        except OSError as error:
            why = "something else listens there" if error.errno == EADDRINUSE else error.strerror
            raise SimulatorError(
                f"Can't listen on port {port}: {why}. Choose another with --port, or 0 for any "
                "free port."
            ) from error

    def verify_request(self, request: object, client_address: tuple[str, int]) -> bool:
        """Whether a program of this user asks. Another's gets no answer."""
        return is_ours(client_address[1], self.server_port)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what went wrong here. A client that hangs up before its answer did no wrong."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Answering(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "inhabit", ""
    timeout = _SILENCE

    def do_POST(self) -> None:
        """Answer one request."""
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,12}", length) or int(length) > _MOST:
            self.close_connection = True
            self._send(413, {"message": f"A request has a length, of at most {_MOST} bytes."})
            return
        body = self.rfile.read(int(length))
        if not self._is_from_here():
            self._send(403, {"message": "This server answers programs of this machine alone."})
            return
        try:
            request = ProtocolRequest.model_validate_json(body)
        except ValidationError as error:
            self._send(400, {"message": first_problem(error)})
            return
        with self.server.turn:
            reply = answer(self.server.flat, request)
        self._send(200, reply.model_dump(mode="json"))

    def _is_from_here(self) -> bool:
        """Whether a program of this machine asks, and no page in a browser."""
        hosts = self.headers.get_all("Host", [])
        ours = len(hosts) <= 1 and all(_HOST.fullmatch(host) for host in hosts)
        return ours and "Origin" not in self.headers

    def _send(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""
