"""Signs of life from a worker that is at work: a long call is told from a dead one."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from envs.worker.wire import BEAT, ClosedError, Wire

EVERY = 2.0
"""Seconds between two signs."""


class Heart:
    """Beats over the wire while a question is being answered, and never between an answer's bytes.

    A process that is stopped does not beat, and neither does one whose interpreter is stuck in a
    call that lets no other thread run.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._lock = threading.Lock()
        self._busy = False
        threading.Thread(target=self._beat, name="heart", daemon=True).start()

    @contextlib.contextmanager
    def beating(self) -> Iterator[None]:
        """Beat until the block ends; after it, nothing more is sent."""
        with self._lock:
            self._busy = True
        try:
            yield
        finally:
            with self._lock:
                self._busy = False

    def _beat(self) -> None:
        while True:
            time.sleep(EVERY)
            with self._lock, contextlib.suppress(ClosedError):
                if self._busy:
                    self._wire.send(BEAT)
