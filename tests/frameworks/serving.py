"""ASGI applications that run while a test asks them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def served(app: Any) -> Iterator[int]:
    """The port of this machine at which an application answers."""
    import uvicorn

    running = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="warning"))
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        (port,) = (one.getsockname()[1] for s in running.servers for one in s.sockets)
        yield port
    finally:
        running.should_exit = True
        thread.join()
