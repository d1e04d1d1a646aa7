"""A Ray cluster on this machine, for one command: nobody else can reach it, and nothing is left."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from inhabit.envs.core import UnavailableError
from inhabit.envs.host.process_group import ProcessGroup

_LOOPBACK = "127.0.0.1"
_HEAD = """
import sys, time, ray
ray.init(address="local", include_dashboard=False, log_to_driver=False, _temp_dir=sys.argv[1])
print(ray.get_runtime_context().gcs_address, flush=True)
while any(node["Alive"] for node in ray.nodes()):
    time.sleep(1)
"""
_WORKERS_END = 3.0
"""Seconds."""
_LOOK = 0.5
"""Seconds between two looks at whether it still runs."""
_ROOM = 38
"""Characters: Ray puts sockets into its folder, and the path of a socket has 107 at most."""


def belongs_to_one() -> bool:
    """Whether this machine is a node of a cluster that somebody has started (`ray start`)."""
    home = os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()
    return "RAY_ADDRESS" in os.environ or Path(home, "ray", "ray_current_cluster").exists()


@asynccontextmanager
async def started() -> AsyncIterator[None]:
    """Start Ray, join it, and end it with the block, or with this process.

    Its servers listen on the loopback interface alone, and answer those alone who know a token that
    is made for this process. They and Ray's folder of logs and sockets are a `ProcessGroup`.

    Raises:
        UnavailableError: Ray does not start or ends, or it was imported before and would listen to
            the network.
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
    group = ProcessGroup("inhabit-ray-")
    # Ray's workers are in no group of ours and end by themselves, a moment after the rest: only
    # then can what they write be removed.
    files = ProcessGroup("inhabit-ray-", within=_short(), keep=_WORKERS_END)
    # Ray has SIGTERM end this process in the middle of whatever it does.
    handler = signal.getsignal(signal.SIGTERM)
    try:
        head, address = _head(group, files.folder)
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        signal.signal(signal.SIGTERM, handler)
        async with _watched(head):
            yield
    finally:
        ray.shutdown()
        group.close()
        files.close()


@asynccontextmanager
async def _watched(head: subprocess.Popen[bytes]) -> AsyncIterator[None]:
    """End the block when the only node has ended: else all would wait for ever for another one."""
    inside = asyncio.current_task()
    assert inside is not None

    async def watch() -> None:
        while head.poll() is None:
            await asyncio.sleep(_LOOK)
        inside.cancel()

    watching = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if not watching.done():
            raise
        inside.uncancel()
        raise UnavailableError(
            "Ray ended while it was needed. Run the same command again to continue."
        ) from None
    finally:
        watching.cancel()


def _head(group: ProcessGroup, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start a cluster's only node, with its files in `folder`; gives its process and address."""
    # Ray lets all users of the machine write into its folder: it lies in one that is ours alone.
    files, rays = folder / "files", folder / "r"
    for made in (files, rays):
        made.mkdir()
    said = group.folder / "said"
    with said.open("wb") as errors:
        head = group.start(
            [sys.executable, "-c", _HEAD, str(rays)],
            stdout=subprocess.PIPE,
            stderr=errors,
            # With keys: what is asked of endpoints is asked by Ray's workers.
            env={**os.environ, "TMPDIR": str(files)},
        )
    assert head.stdout is not None
    with head.stdout:
        address: str = head.stdout.readline().decode().strip()
    if not address:
        head.wait()
        why = said.read_text(errors="replace").strip().splitlines()[-1:]
        raise UnavailableError(f"Ray did not start: {' '.join(why) or 'it does not say why'}")
    return head, address


def _short() -> str:
    """A folder for temporary files whose name leaves room for Ray's."""
    return next(f for f in (tempfile.gettempdir(), "/tmp") if len(f) <= _ROOM - 20 or f == "/tmp")
