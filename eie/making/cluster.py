"""Makes a set on a Ray cluster: the same bytes as on one machine.

Attempts are dispatched in rounds of as many as are probably needed. What is kept of an attempt
depends on all earlier ones, and is decided on the head node.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import cast

from pydantic import JsonValue

from inhabit.eie.making.ordered_writer import OrderedWriter
from inhabit.eie.making.runner import AttemptResult, AttemptRunner, load_components
from inhabit.eie.sets.folder import SetFolder, SetHeader
from inhabit.episodes.cluster.jobs import NodeResources, dispatch

_EACH = 8
"""Examples expected per attempt, before any is known."""
_SPARE = 1.1
"""Factor on the attempts that a round probably needs."""


class AttemptWorker:
    """Makes attempts on a node: an `inhabit.episodes.cluster.jobs.JobWorker`."""

    def __init__(self, settings: JsonValue) -> None:
        """Load the components of the set with the header `settings`."""
        header = SetHeader.model_validate(settings)
        self._components = load_components(header)
        self._runner = AttemptRunner(self._components, header.seed)
        self._asyncio = asyncio.Runner()

    def do(self, job: JsonValue) -> AttemptResult:
        """Make the attempt of this number."""
        return self._asyncio.run(self._runner.attempt(cast("int", job)))

    def close(self) -> None:
        """Close the environment and the models."""
        self._asyncio.run(self._runner.close())
        self._asyncio.run(self._components.close())
        self._asyncio.close()


async def synthesize_on_cluster(
    target: SetFolder,
    asked: SetHeader,
    *,
    max_attempts: int,
    workers: int,
    resources: NodeResources,
    on_progress: Callable[[int], None] = lambda kept: None,
) -> None:
    """Make the set. Call it while `connected`.

    Args:
        target: the set; its earlier attempts are kept.
        asked: the header with the current settings, from which nodes start.
        max_attempts: maximum number of attempts.
        workers: number of concurrent attempts.
        resources: reserved by each worker on its node.
        on_progress: called after every attempt with the number of examples.

    Raises:
        LostError: an attempt was lost with its node too often.
        SetError: the set can't be written.
        UnavailableError, SimulatorError, ModelError: nodes can't start what is needed.
    """
    writer = OrderedWriter(target, max_attempts=max_attempts, on_progress=on_progress)
    try:
        while not writer.over:
            count = max(workers, _needed(writer, target.header.n))
            numbers = range(writer.written, min(writer.written + count, max_attempts))
            await dispatch(
                "inhabit.eie.making.cluster:AttemptWorker",
                asked.model_dump(mode="json"),
                numbers,
                lambda _, made: writer.add(made),
                workers=min(workers, len(numbers)),
                resources=resources,
            )
    finally:
        writer.close()


def _needed(writer: OrderedWriter, wanted: int) -> int:
    """The attempts needed, if they give as many examples as the earlier ones."""
    each = writer.kept / writer.written if writer.kept else _EACH
    return math.ceil((wanted - writer.kept) / each * _SPARE)
