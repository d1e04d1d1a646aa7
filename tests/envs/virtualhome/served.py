"""A server of ours in a thread, for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from inhabit.envs.virtualhome.server.flat import Flat
from inhabit.envs.virtualhome.server.listen import Server


@contextmanager
def served(flat: int = 0, seed: int = 0, port: int = 0) -> Iterator[Server]:
    server = Server(Flat(flat, seed), port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
