"""Serves a run to browsers on this machine, and tells them when it has changed."""

from __future__ import annotations

import io
import json
import socket
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from inhabit.envs.host import server_gate
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.watch.site import Changes, Response, Site

_LOOPBACK = "127.0.0.1"
_EVERY = 0.5
"""Seconds between two looks at the run."""
_SIGN_OF_LIFE = 15.0
"""Seconds of silence after which a browser is told that nothing happens, to see if it is there."""


class PageServer(ThreadingHTTPServer):
    """Listens on the loopback alone. Nothing that is asked of it changes anything."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, run: Run, *, port: int = 0) -> None:
        """Listen on `port`; on any that is free for 0.

        Raises:
            OSError: the port is taken.
        """
        super().__init__((_LOOPBACK, port), _Visit)
        server_gate.limit_unread(self.socket)
        self.run = run
        self.site = Site(run)
        self.gate = server_gate.Gate(_LOOPBACK)
        self.closing = threading.Event()
        self._free = threading.Semaphore(server_gate.CONNECTIONS)

    @property
    def address(self) -> str:
        """What to type into a browser."""
        return f"http://{_LOOPBACK}:{self.server_port}/{self.gate.token}/"

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether there is room for one connection more."""
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room for the next."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def shutdown(self) -> None:
        """Stop serving, feeds included."""
        self.closing.set()
        super().shutdown()


class _Visit(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: PageServer
    server_version = "inhabit"
    sys_version = ""

    def setup(self) -> None:
        """Wait for the request, though not for ever."""
        super().setup()
        self.rfile = io.BufferedReader(io.BytesIO(_head(self.connection)))

    def handle(self) -> None:
        """Answer, unless the browser goes away."""
        with suppress(ConnectionError, TimeoutError):
            super().handle()

    def do_GET(self) -> None:
        """Answer with a page, a file, or the feed of changes."""
        try:
            begin = self.server.gate.enter(self.path, self.headers.items())
        except server_gate.RefusedError as error:
            self._say(str(error), error.status)
            return
        path = urlsplit(self.path[len(begin) :]).path
        if path == "/events":
            self._feed()
            return
        try:
            answer = self.server.site.answer(path)
        except RecordError as error:
            self._say(str(error), HTTPStatus.INTERNAL_SERVER_ERROR)
            return
        if answer is None:
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self._send(answer, HTTPStatus.OK)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: what browsers ask for is of no interest."""

    def _say(self, text: str, status: int) -> None:
        self._send(Response(text.encode(), "text/plain; charset=utf-8"), status)

    def _send(self, answer: Response, status: int) -> None:
        self._begin(status, answer.type)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def _begin(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")

    def _feed(self) -> None:
        """Server-sent events: numbers of the episodes that have changed, as they do."""
        self._begin(HTTPStatus.OK, "text/event-stream")
        self.end_headers()
        changes, silent = Changes(self.server.run), 0.0
        self.wfile.write(b"retry: 1000\n\n")
        while not self.server.closing.wait(_EVERY):
            silent += _EVERY
            if changed := changes.poll():
                self.wfile.write(f"event: change\ndata: {json.dumps(changed)}\n\n".encode())
                silent = 0.0
            elif silent >= _SIGN_OF_LIFE:
                self.wfile.write(b":\n\n")
                silent = 0.0


def _head(connection: socket.socket) -> bytes:
    """A request's line and headers; nothing if they are too long, or too long in coming."""
    head, part, until = b"", b"-", time.monotonic() + server_gate.PATIENCE
    with suppress(ConnectionError, TimeoutError):
        while part and b"\r\n\r\n" not in head and len(head) <= server_gate.LARGEST_HEAD:
            connection.settimeout(max(until - time.monotonic(), 0.001))
            head += (part := connection.recv(4096))
    connection.settimeout(None)
    return head if b"\r\n\r\n" in head else b""
