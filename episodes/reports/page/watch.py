"""A run's pages while it goes on: made when they are asked for, and served to this machine alone.

Browsers are told when the run has changed. Nothing is ever written.
"""

from __future__ import annotations

import io
import json
import re
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from inhabit.envs.files import is_regular, read_whole, size_of
from inhabit.envs.host import server_gate
from inhabit.episodes.credit.credit import credits_of
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError, Run
from inhabit.episodes.reports.page.episode_data import NO_SCORES
from inhabit.episodes.reports.page.pages import episode_page, run_page
from inhabit.episodes.reports.page.summary import LiveEpisode, judgement_of, playing, row
from inhabit.episodes.scoring.scores import score

_EPISODE = re.compile(r"/episodes/(\d{5,9})/index\.html")
_FILE = re.compile(
    r"/(episodes/\d{5,9}/(?:(?:frames|images)/[0-9a-f-]{1,64}\.jpg|episode\.(?:mp4|gif)))"
)
_TYPES: Mapping[str, str] = MappingProxyType(
    {".jpg": "image/jpeg", ".mp4": "video/mp4", ".gif": "image/gif"}
)


@dataclass(frozen=True, slots=True)
class Response:
    """What is sent for an address."""

    content: bytes
    type: str


class Site:
    """A run as it is now. Several threads may ask at once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._index = Index(run)
        self._lock = threading.Lock()

    def answer(self, path: str) -> Response | None:
        """What stands at `path`; None where nothing does.

        Raises:
            RecordError: a record is broken.
        """
        if path in ("/", "/index.html"):
            return _html(self._run_page())
        if (found := _EPISODE.fullmatch(path)) is not None:
            number = int(found[1])
            return self._episode(number) if number < len(self._run.tasks) else None
        if (found := _FILE.fullmatch(path)) is not None:
            return _file(self._run.folder, Path(found[1]))
        return None

    def _run_page(self) -> str:
        with self._lock:
            rows = [
                row(episode, self._index.entry(episode), small=False, always=True)
                for episode in self._run.episodes()
            ]
            scores = score(self._run, self._index)
        return run_page(
            self._run, scores, rows, now=self._playing(), judgement=judgement_of(self._run)
        )

    def _playing(self) -> list[LiveEpisode]:
        with self._lock:
            going_on = Changes(self._run, self._index).playing()
        found = (_now(episode) for episode in going_on)
        return [one for one in found if one is not None]

    def _episode(self, number: int) -> Response | None:
        episode = self._run.episode(number)
        attempt = episode.last()
        if attempt is None:
            return None
        judgement = judgement_of(self._run)
        scores, mistakes = (judgement.scores, judgement.mistakes) if judgement else ({}, {})
        credit = credits_of(self._run).get(number)
        page = episode_page(
            self._run,
            episode,
            attempt,
            scores.get(number, NO_SCORES),
            mistake=mistakes.get(number),
            credit=credit,
            live=True,
        )
        return _html(page)


def _now(episode: EpisodeRecord) -> LiveEpisode | None:
    attempt = episode.last()
    return None if attempt is None else playing(episode, attempt)


def _html(page: str) -> Response:
    return Response(page.encode("utf-8", "replace"), "text/html; charset=utf-8")


def _file(folder: Path, path: Path) -> Response | None:
    """A file of the run; never what a symbolic link leads to."""
    try:
        return Response(read_whole(folder / path, folder), _TYPES[path.suffix])
    except OSError:
        return None


_AHEAD = 64
"""Episodes that were not begun, one after the other, after which no later one is looked for."""


class Changes:
    """Looks at the sizes of the records that may still grow."""

    def __init__(self, run: Run, index: Index | None = None) -> None:
        """Begin with the run as it is now, by what `index` knows of it already."""
        index = Index(run) if index is None else index
        self._going_on = [e for e in run.episodes() if index.end(e) is None]
        self._sizes: dict[int, int] = {}
        self.poll()

    def poll(self) -> Sequence[int]:
        """Numbers of the episodes that have grown since the last call.

        Raises:
            RecordError: a record is broken.
        """
        grown = [e for e in self._begun() if self._has_grown(e)]
        ended = {e.number for e in grown if e.end() is not None}
        self._going_on = [e for e in self._going_on if e.number not in ended]
        return [e.number for e in grown]

    def playing(self) -> Sequence[EpisodeRecord]:
        """The episodes that have begun and not ended, as of the last call of `poll`."""
        return [e for e in self._going_on if self._sizes.get(e.number)]

    def _begun(self) -> Sequence[EpisodeRecord]:
        found: list[EpisodeRecord] = []
        ahead = 0
        for episode in self._going_on:
            if is_regular(episode.file, episode.run):
                found.append(episode)
                ahead = 0
            elif (ahead := ahead + 1) > _AHEAD:
                break
        return found

    def _has_grown(self, episode: EpisodeRecord) -> bool:
        size = size_of(episode.file, episode.run) or 0
        grown = self._sizes.get(episode.number) != size
        self._sizes[episode.number] = size
        return grown


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
        """Answer, unless the browser goes away, or the feed comes to a broken record."""
        with suppress(ConnectionError, TimeoutError, RecordError):
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
