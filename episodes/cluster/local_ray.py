"""A Ray cluster on this machine, for one command: nobody else can reach it, and nothing is left."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inhabit.envs.core import UnavailableError
from inhabit.envs.process_group import ProcessGroup

_LOOPBACK = "127.0.0.1"
_ROOM = 40
"""Characters: Ray puts sockets into its folder, and the path of a socket has 107 at most."""


def belongs_to_one() -> bool:
    """Whether this machine is a node of a cluster that somebody has started (`ray start`)."""
    home = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    return "RAY_ADDRESS" in os.environ or Path(home, "ray", "ray_current_cluster").exists()


@contextmanager
def started() -> Iterator[None]:
    """Start Ray, and end it with the block, or with this process.

    Its servers listen on the loopback interface alone, and answer those alone who know a token that
    is made for this process. Ray's own processes end with the process that has started Ray; its
    folder of logs and sockets is removed.

    Raises:
        UnavailableError: Ray was imported before, and would listen to the network.
    """
    # Ray listens to the network wherever it takes itself for part of a cluster of machines. This
    # variable, for the systems where it does not by default, has it keep to the loopback address.
    # It is read when Ray is imported.
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    import ray

    address: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    if address != _LOOPBACK:
        raise UnavailableError(
            f"Ray was imported before, and would listen at {address}. Set "
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0, or name a cluster with ray_address."
        )
    group = ProcessGroup("inhabit-ray-", within=_short())
    files = group.folder / "files"
    files.mkdir()
    # Ray has SIGTERM end this process in the middle of whatever it does.
    handler = signal.getsignal(signal.SIGTERM)
    before = os.environ.get("TMPDIR")
    try:
        # Ray's workers are killed at the end: what they have written lies here.
        os.environ["TMPDIR"] = str(files)
        ray.init(
            address="local",
            include_dashboard=False,
            logging_level=logging.ERROR,
            log_to_driver=False,
            _temp_dir=str(group.folder),
        )
        signal.signal(signal.SIGTERM, handler)
        yield
    finally:
        _set("TMPDIR", before)
        ray.shutdown()
        group.close()


def _set(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def _short() -> str:
    """A folder for temporary files whose name leaves room for Ray's."""
    return next(f for f in (tempfile.gettempdir(), "/tmp") if len(f) <= _ROOM - 20 or f == "/tmp")
