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
"""Attempts for each worker that may wait for one before them to be written."""


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
            target: where it goes; what is there is kept.
            components: author, pipeline and environment; `make` is called once for each worker.
            max_attempts: attempts after which it ends, whatever was kept.
            workers: attempts at once.
            on_progress: is told after every attempt how many examples there are.
        """
        self._into = target
        self._runner = partial(AttemptRunner, components, target.header.seed)
        self._most = max_attempts
        self._workers = workers
        self._watch = on_progress
        self._next = 0
        self._turn = asyncio.Condition()

    async def run(self) -> None:
        """Go on until there are enough examples, or attempts.

        Raises:
            SetError: the disk refuses.
            SimulatorError: no simulator can be started.
            UnavailableError: the environment lacks something on this machine.
        """
        writer = OrderedWriter(self._into, max_attempts=self._most, on_progress=self._watch)
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
        """Make one attempt after the other."""
        runner = self._runner()
        try:
            while (number := await self._take(writer)) is not None:
                await self._keep(writer, await runner.attempt(number))
        finally:
            await runner.close()

    async def _take(self, writer: OrderedWriter) -> int | None:
        """The next number that is worth an attempt; None if there is none."""
        async with self._turn:
            await self._turn.wait_for(
                lambda: writer.over or self._next < writer.written + _AHEAD * self._workers
            )
            if writer.over or self._next >= self._most:
                return None
            self._next += 1
            return self._next - 1

    async def _keep(self, writer: OrderedWriter, made: AttemptResult) -> None:
        async with self._turn:
            await asyncio.to_thread(writer.add, made)
            self._turn.notify_all()
