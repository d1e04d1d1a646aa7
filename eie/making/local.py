"""Makes a set on this machine, with several concurrent attempts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from inhabit.eie.making.components import Components
from inhabit.eie.making.ordered_writer import OrderedWriter
from inhabit.eie.making.runner import AttemptResult, AttemptRunner
from inhabit.eie.sets.folder import SetFolder

_AHEAD = 4
"""Finished attempts per worker that may wait for an earlier one to be written."""


class LocalSynthesis:
    """Makes one set with one author."""

    def __init__(
        self,
        target: SetFolder,
        components: Components,
        *,
        max_attempts: int,
        workers: int = 1,
        on_progress: Callable[[int], None] = lambda kept: None,
    ) -> None:
        """Prepare.

        Args:
            target: the set; its earlier attempts are kept.
            components: author, pipeline and environment; `make` is called once per worker.
            max_attempts: maximum number of attempts.
            workers: number of concurrent attempts.
            on_progress: called after every attempt with the number of examples.
        """
        self._target = target
        self._runner = partial(AttemptRunner, components, target.header.seed)
        self._max_attempts = max_attempts
        self._workers = workers
        self._on_progress = on_progress
        self._next = 0
        self._turn = asyncio.Condition()

    async def run(self) -> None:
        """Run until there are enough examples, or attempts.

        Raises:
            SetError: the set can't be written.
            SimulatorError: no simulator can be started.
            UnavailableError: the environment lacks something on this machine.
        """
        writer = OrderedWriter(
            self._target, max_attempts=self._max_attempts, on_progress=self._on_progress
        )
        self._next = writer.written
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._workers):
                    group.create_task(self._work(writer))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            writer.close()

    async def _work(self, writer: OrderedWriter) -> None:
        runner = self._runner()
        try:
            while (number := await self._take(writer)) is not None:
                await self._keep(writer, await runner.attempt(number))
        finally:
            await runner.close()

    async def _take(self, writer: OrderedWriter) -> int | None:
        """The number of the next attempt; None if none is left."""
        async with self._turn:
            await self._turn.wait_for(
                lambda: writer.over or self._next < writer.written + _AHEAD * self._workers
            )
            if writer.over or self._next >= self._max_attempts:
                return None
            self._next += 1
            return self._next - 1

    async def _keep(self, writer: OrderedWriter, made: AttemptResult) -> None:
        async with self._turn:
            await asyncio.to_thread(writer.add, made)
            self._turn.notify_all()
