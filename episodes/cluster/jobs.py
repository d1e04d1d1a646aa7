"""Jobs that hands on a Ray cluster do, each until it is done once, whatever becomes of its node.

EIE's jobs are spread in the same way: a class that is a `JobWorker`, by its name, and a job per
scene.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Protocol

from pydantic import JsonValue

from inhabit.envs.core import UnavailableError
from inhabit.episodes.cluster.local_ray import belongs_to_one, started

_LOSSES = 5
"""How often a job may be lost with its node before the whole is given up."""

_CLOSING = 1.0
"""Seconds that a hand may take to let go of what it has, before it is killed."""


class JobWorker(Protocol):
    """Does jobs, one after the other, on one node. Made of plain settings."""

    def do(self, job: JsonValue) -> bytes:
        """Do one job and return what it came to."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class LostError(UnavailableError):
    """Jobs were lost with their nodes again and again. Says how often, and what may be wrong."""


@dataclass(frozen=True, slots=True)
class NodeResources:
    """What one hand takes of a node, in Ray's units."""

    cpus: float = 1.0
    gpus: float = 0.0
    resources: Mapping[str, float] = field(default_factory=dict)
    """Of the node's own making, such as {"unity": 1}: `ray start --resources`."""


@asynccontextmanager
async def connected(address: str) -> AsyncIterator[None]:
    """Join the cluster at `address`; for "" the one that this machine belongs to, or a new one.

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
    """What the nodes of the cluster have in all, in Ray's units. Call it while `connected`."""
    import ray

    found: Mapping[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return found


async def dispatch(
    duty: str,
    settings: JsonValue,
    jobs: Iterable[JsonValue],
    done: Callable[[JsonValue, bytes], None],
    *,
    hands: int,
    need: NodeResources,
) -> None:
    """Have every one of `jobs` done once. Call it while `connected`.

    Args:
        duty: "module:Class" of a `JobWorker`, which each node imports.
        settings: what it is made of.
        jobs: in the order in which they are begun.
        done: is told of each job and what it came to, as it ends, exactly once.
        hands: how many jobs are done at the same time, as far as the cluster has room.
        need: what each hand takes of its node.

    Raises:
        LostError: a job was lost with its node too often.
        Exception: whatever a duty itself raises.
    """
    import ray

    crew = _Crew(duty, settings, jobs, done, need)
    try:
        async with asyncio.TaskGroup() as group:
            working = [group.create_task(crew.work()) for _ in range(hands)]
            group.create_task(_dismiss(crew, working))
    except ExceptionGroup as errors:
        error = errors.exceptions[0]
        if isinstance(error, ray.exceptions.RayTaskError):
            raise error.cause from None  # What failed on the node, as itself.
        raise error from None


async def _dismiss(crew: _Crew, working: list[asyncio.Task[None]]) -> None:
    """When all is done, hands that still wait for room on a node are no longer wanted."""
    await crew.finished.wait()
    for task in working:
        task.cancel()


class _Crew:
    """The jobs that are left, and those who do them."""

    def __init__(
        self,
        duty: str,
        settings: JsonValue,
        jobs: Iterable[JsonValue],
        done: Callable[[JsonValue, bytes], None],
        need: NodeResources,
    ) -> None:
        self._made_of = (duty, settings)
        self._waiting = deque((job, 0) for job in jobs)
        self._left = len(self._waiting)
        self._done = done
        self._need = need
        self._arrived = asyncio.Event()
        self.finished = asyncio.Event()
        self._look()

    async def work(self) -> None:
        """Do jobs until none is left; a hand that is lost with its node is replaced."""
        import ray

        lost = 0
        while not self.finished.is_set():
            hand = self._hire()
            try:
                await hand.ready.remote()
                lost = 0
                await self._employ(hand)
            except ray.exceptions.RayActorError as error:
                if (lost := lost + 1) > _LOSSES:
                    raise LostError(f"Workers die on their nodes at once: {error}") from error
            finally:
                # One that is in the midst of a job has no time for it, and one that died neither.
                with suppress(TimeoutError, ray.exceptions.RayError):
                    async with asyncio.timeout(_CLOSING):
                        await hand.close.remote()
                ray.kill(hand)

    async def _employ(self, hand: Any) -> None:
        import ray

        while not self.finished.is_set():
            if not self._waiting:
                # A job that is under way elsewhere may yet come back.
                self._arrived.clear()
                await self._arrived.wait()
                continue
            job, losses = self._waiting.popleft()
            try:
                result = await hand.do.remote(job)
            except ray.exceptions.RayActorError:
                self._give_back(job, losses + 1)
                raise
            self._done(job, result)
            self._left -= 1
            self._look()

    def _give_back(self, job: JsonValue, losses: int) -> None:
        if losses > _LOSSES:
            raise LostError(
                f"A job was lost with its node {losses} times. It may take more memory than a node "
                "has; what is done stays done."
            )
        self._waiting.append((job, losses))
        self._arrived.set()

    def _look(self) -> None:
        if self._left == 0:
            self.finished.set()
            self._arrived.set()

    def _hire(self) -> Any:
        import ray

        need = self._need
        actor = ray.remote(_Hand).options(
            num_cpus=need.cpus, num_gpus=need.gpus, resources=dict(need.resources), max_restarts=0
        )
        return actor.remote(*self._made_of)


class _Hand:
    """A duty on its node."""

    def __init__(self, duty: str, settings: JsonValue) -> None:
        self._made_of = (duty, settings)

    def ready(self) -> None:
        """Make the duty. Not before, because what fails here can be told of as itself."""
        duty, settings = self._made_of
        module, _, name = duty.partition(":")
        self._duty: JobWorker = getattr(importlib.import_module(module), name)(settings)

    def do(self, job: JsonValue) -> bytes:
        """Do one job."""
        return self._duty.do(job)

    def close(self) -> None:
        """Let go of everything."""
        self._duty.close()
