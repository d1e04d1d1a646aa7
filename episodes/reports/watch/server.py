"""Serves a run to browsers on this machine, and tells them when it has changed."""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.watch.changes import Changes
from inhabit.episodes.reports.watch.site import Response, Site

_LOOPBACK = "127.0.0.1"
_EVERY = 0.5
"""Seconds between two looks at the run."""
_SIGN_OF_LIFE = 15.0
"""Seconds of silence after which a browser is told that nothing happens, to see if it is there."""


class Server(ThreadingHTTPServer):
    """Listens on the loopback alone. Nothing that is asked of it changes anything."""

    daemon_threads = True

    def __init__(self, run: Run, *, port: int = 0) -> None:
        """Listen on `port`; on any that is free for 0.

        Raises:
            OSError: the port is taken.
        """
        super().__init__((_LOOPBACK, port), _Visit)
        self.run = run
        self.site = Site(run)
        self.closing = threading.Event()

    @property
    def address(self) -> str:
        """What to type into a browser."""
        return f"http://{_LOOPBACK}:{self.server_port}/"

    def shutdown(self) -> None:
        """Stop serving, feeds included."""
        self.closing.set()
        super().shutdown()


class _Visit(BaseHTTPRequestHandler):
    """One connection of a browser."""

    server: Server
    server_version = "inhabit"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer with a page, a file, or the feed of changes."""
        # A page from elsewhere may have a name of its own lead here: it must not read along.
        port = self.server.server_port
        if self.headers.get("Host") not in (f"{_LOOPBACK}:{port}", f"localhost:{port}"):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        path = urlsplit(self.path).path
        if path == "/events":
            self._feed()
            return
        try:
            answer = self.server.site.answer(path)
        except RecordError as error:
            answer = Response(str(error).encode(), "text/plain; charset=utf-8")
            self._send(answer, HTTPStatus.INTERNAL_SERVER_ERROR)
            return
        if answer is None:
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self._send(answer, HTTPStatus.OK)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: what browsers ask for is of no interest."""

    def _send(self, answer: Response, status: HTTPStatus) -> None:
        self._begin(status, answer.type)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self._write(answer.content)

    def _begin(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")

    def _feed(self) -> None:
        """Server-sent events: numbers of the episodes that have changed, as they do."""
        self._begin(HTTPStatus.OK, "text/event-stream")
        self.end_headers()
        changes, silent = Changes(self.server.run), 0.0
        there = self._write(b"retry: 1000\n\n")
        while there and not self.server.closing.wait(_EVERY):
            silent += _EVERY
            if changed := changes.poll():
                there = self._write(f"event: change\ndata: {json.dumps(changed)}\n\n".encode())
                silent = 0.0
            elif silent >= _SIGN_OF_LIFE:
                there = self._write(b":\n\n")
                silent = 0.0

    def _write(self, content: bytes) -> bool:
        try:
            self.wfile.write(content)
            self.wfile.flush()
        except OSError:
            return False
        return True
