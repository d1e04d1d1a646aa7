"""Dispatches jobs to workers on a Ray cluster; a job that is lost with its node is repeated.

Where there is no cluster, one is started on this machine for one command: nobody else can reach it,
and nothing is left.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

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
"""Seconds that Ray's files outlive this process, so that its workers have ended."""
_LOOK = 0.5
"""Seconds between two looks at whether Ray still runs."""
_SLOW = "timed out during startup"
"""What Ray says when its programs took more than half a minute to start, as on a busy machine."""
_ROOM = 38
"""Characters of a folder's path, at most: Ray puts sockets there, whose paths have 107 at most."""


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
    why = ""
    for name in ("r", "s", "t"):
        # Ray lets all users of the machine write into its folder: it lies in one of ours.
        files, rays = folder / f"files-{name}", folder / name
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
        if address:
            return head, address
        head.wait()
        why = " ".join(said.read_text(errors="replace").strip().splitlines()[-1:])
        if _SLOW not in why:
            break
    raise UnavailableError(f"Ray did not start: {why or 'it does not say why'}")


def _short() -> str:
    """A folder for temporary files whose name leaves room for Ray's."""
    return next(f for f in (tempfile.gettempdir(), "/tmp") if len(f) <= _ROOM - 20 or f == "/tmp")


_LOSSES = 5
"""How often a job may be lost with its node before `dispatch` gives up."""

_CLOSING = 1.0
"""Seconds that a worker may take to close before it is killed."""


class JobWorker(Protocol):
    """Does jobs, one after the other, on one node. Constructed from plain settings."""

    def do(self, job: JsonValue) -> Any:
        """Do one job and return its result, which Ray pickles."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


class LostError(UnavailableError):
    """A job was lost with its node too often."""


@dataclass(frozen=True, slots=True)
class NodeResources:
    """The resources that one worker reserves on its node, in Ray's units."""

    cpus: float = 1.0
    gpus: float = 0.0
    resources: Mapping[str, float] = field(default_factory=dict)
    """Custom resources such as {"unity": 1}; see `ray start --resources`."""


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[None]:
    """Connect to the cluster at `address`; for "" that of this machine, or a new local one.

    Raises:
        UnavailableError: Ray is not installed, or there is no such cluster.
    """
    if find_spec("ray") is None:
        raise UnavailableError("Ray is not installed: pip install 'inhabit[ray]', on every node.")
    imported = sys.modules.get("ray")
    if imported is not None and imported.is_initialized():
        yield
        return
    if not address and not belongs_to_one():
        async with started():
            yield
        return
    import ray

    try:
        ray.init(address=address or "auto", logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, ValueError) as error:
        where = f"at {address!r}" if address else "that this machine belongs to"
        raise UnavailableError(f"There is no Ray cluster {where}: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def offered() -> Mapping[str, float]:
    """The total resources of the cluster, in Ray's units. Call it while `connected`."""
    import ray

    found: Mapping[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return found


async def dispatch(
    worker: str,
    settings: JsonValue,
    jobs: Iterable[JsonValue],
    done: Callable[[JsonValue, Any], None],
    *,
    workers: int,
    resources: NodeResources,
) -> None:
    """Do each of `jobs` once. Call it while `connected`.

    Args:
        worker: "module:Class" of a `JobWorker`, which each node imports.
        settings: argument of that class.
        jobs: started in this order.
        done: called exactly once for each job, with the job and its result.
        workers: maximum number of concurrent jobs; fewer run if the cluster has less room.
        resources: reserved by each worker on its node.

    Raises:
        LostError: a job was lost with its node too often.
        Exception: any exception that the worker raises.
    """
    import ray

    queue = _JobQueue(worker, settings, jobs, done, resources)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(queue.work()) for _ in range(workers)]
            group.create_task(_cancel_when_finished(queue, tasks))
    except ExceptionGroup as errors:
        error = errors.exceptions[0]
        if isinstance(error, ray.exceptions.RayTaskError):
            raise error.cause from None  # The exception that was raised on the node.
        raise error from None


async def _cancel_when_finished(queue: _JobQueue, tasks: list[asyncio.Task[None]]) -> None:
    """Cancel the workers that still wait for room on a node when all jobs are done."""
    await queue.finished.wait()
    for task in tasks:
        task.cancel()


class _JobQueue:
    """The remaining jobs, and the workers that do them."""

    def __init__(
        self,
        worker: str,
        settings: JsonValue,
        jobs: Iterable[JsonValue],
        done: Callable[[JsonValue, Any], None],
        resources: NodeResources,
    ) -> None:
        self._worker = (worker, settings)
        self._waiting = deque((job, 0) for job in jobs)
        self._left = len(self._waiting)
        self._done = done
        self._resources = resources
        self._requeued = asyncio.Event()
        self.finished = asyncio.Event()
        self._check_finished()

    async def work(self) -> None:
        """Do jobs until none is left; a worker that is lost with its node is replaced."""
        import ray

        lost = 0
        while not self.finished.is_set():
            worker = self._start_worker()
            try:
                await worker.start.remote()
                lost = 0
                await self._do_jobs(worker)
            except ray.exceptions.RayActorError as error:
                if (lost := lost + 1) > _LOSSES:
                    raise LostError(f"Workers die on their nodes at once: {error}") from error
            finally:
                # A worker that is busy does not close in time, and a dead one does not answer.
                with suppress(TimeoutError, ray.exceptions.RayError):
                    async with asyncio.timeout(_CLOSING):
                        await worker.close.remote()
                ray.kill(worker)

    async def _do_jobs(self, worker: Any) -> None:
        import ray

        while not self.finished.is_set():
            if not self._waiting:
                # A running job may still be lost and requeued.
                self._requeued.clear()
                await self._requeued.wait()
                continue
            job, losses = self._waiting.popleft()
            try:
                result = await worker.do.remote(job)
            except ray.exceptions.RayActorError:
                self._requeue(job, losses + 1)
                raise
            self._done(job, result)
            self._left -= 1
            self._check_finished()

    def _requeue(self, job: JsonValue, losses: int) -> None:
        if losses > _LOSSES:
            raise LostError(
                f"A job was lost with its node {losses} times. It may take more memory than a node "
                "has; what is done stays done."
            )
        self._waiting.append((job, losses))
        self._requeued.set()

    def _check_finished(self) -> None:
        if self._left == 0:
            self.finished.set()
            self._requeued.set()

    def _start_worker(self) -> Any:
        import ray

        need = self._resources
        actor = ray.remote(_WorkerActor).options(
            num_cpus=need.cpus, num_gpus=need.gpus, resources=dict(need.resources), max_restarts=0
        )
        return actor.remote(*self._worker)


class _WorkerActor:
    """The Ray actor that holds a `JobWorker` on its node."""

    def __init__(self, worker: str, settings: JsonValue) -> None:
        self._arguments = (worker, settings)

    def start(self) -> None:
        """Construct the worker; Ray reports an error here better than one in `__init__`."""
        worker, settings = self._arguments
        module, _, name = worker.partition(":")
        self._worker: JobWorker = getattr(importlib.import_module(module), name)(settings)

    def do(self, job: JsonValue) -> Any:
        """Do one job."""
        return self._worker.do(job)

    def close(self) -> None:
        """Close the worker."""
        self._worker.close()
