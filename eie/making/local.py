"""Makes a set on this machine, with several concurrent attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from inhabit.eie.making.ordered_writer import OrderedWriter
from inhabit.eie.making.runner import AttemptRunner, Components
from inhabit.eie.sets.folder import SetFolder

_AHEAD = 4
"""Finished attempts per worker that may wait for an earlier one to be written."""


async def synthesize(
    target: SetFolder,
    components: Components,
    *,
    max_attempts: int,
    workers: int = 1,
    on_progress: Callable[[int], None] = lambda kept: None,
) -> None:
    """Make the set, until there are enough examples, or attempts.

    Args:
        target: the set; its earlier attempts are kept.
        components: author, pipeline and environment; `make` is called once per worker.
        max_attempts: maximum number of attempts.
        workers: number of concurrent attempts.
        on_progress: called after every attempt with the number of examples.

    Raises:
        SetError: the set can't be written.
        SimulatorError: no simulator can be started.
        UnavailableError: the environment lacks something on this machine.
    """
    writer = OrderedWriter(target, max_attempts=max_attempts, on_progress=on_progress)
    following, turn = writer.written, asyncio.Condition()

    async def take() -> int | None:
        """The number of the next attempt; None if none is left."""
        nonlocal following
        async with turn:
            await turn.wait_for(
                lambda: writer.over or following < writer.written + _AHEAD * workers
            )
            if writer.over or following >= max_attempts:
                return None
            following += 1
            return following - 1

    async def work() -> None:
        runner = AttemptRunner(components, target.header.seed)
        try:
            while (number := await take()) is not None:
                made = await runner.attempt(number)
                async with turn:
                    await asyncio.to_thread(writer.add, made)
                    turn.notify_all()
        finally:
            await runner.close()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        writer.close()
