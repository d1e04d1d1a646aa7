"""The protocol over HTTP, for this machine alone: one request after the other."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from pydantic import ValidationError

from inhabit.envs.core import SimulatorError
from inhabit.envs.entries import first_problem
from inhabit.envs.virtualhome.server.actions import answer
from inhabit.envs.virtualhome.server.flat import Flat
from inhabit.envs.virtualhome.unity.protocol import ProtocolRequest

LOOPBACK = "127.0.0.1"
_MOST = 64 * 1024 * 1024
"""Bytes of a request."""


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
            raise SimulatorError(
                f"Port {port} can't be had ({error.strerror or error}): something else listens "
                "there. Choose another with --port."
            ) from error


class _Answering(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer one request."""
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _MOST:
            self.close_connection = True
            self._send(413, {"message": f"A request has a length, of at most {_MOST} bytes."})
            return
        try:
            request = ProtocolRequest.model_validate_json(self.rfile.read(int(length)))
        except ValidationError as error:
            self._send(400, {"message": first_problem(error)})
            return
        with self.server.turn:
            reply = answer(self.server.flat, request)
        self._send(200, reply.model_dump(mode="json"))

    def _send(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of requests."""
