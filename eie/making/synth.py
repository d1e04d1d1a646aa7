"""Makes a set on this machine: several attempts at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from inhabit.eie.making.attempt import Made, Maker
from inhabit.eie.making.author import Author
from inhabit.eie.making.ordered_writer import OrderedWriter
from inhabit.eie.making.pipeline import Pipeline
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.core import Env

_AHEAD = 4
"""Attempts for each worker that may wait for one before them to be written."""


class Synthesis:
    """Makes one set with one author."""

    def __init__(
        self,
        into: SetFolder,
        author: Author,
        pipeline: Pipeline,
        make: Callable[[], Env],
        *,
        most: int,
        workers: int = 1,
        watch: Callable[[int], None] = lambda kept: None,
    ) -> None:
        """Prepare.

        Args:
            into: where it goes; what is there is kept.
            author: writes the tasks.
            pipeline: checks them and cuts examples.
            make: an environment; called once for each worker, and after a simulator has died.
            most: attempts after which it ends, whatever was kept.
            workers: attempts at once.
            watch: is told after every attempt how many examples there are.
        """
        self._into = into
        self._maker = partial(Maker, author, pipeline, make, into.header.seed)
        self._most = most
        self._workers = workers
        self._watch = watch
        self._next = 0
        self._turn = asyncio.Condition()

    async def run(self) -> None:
        """Go on until there are enough examples, or attempts.

        Raises:
            SetError: the disk refuses.
            SimulatorError: no simulator can be started.
            UnavailableError: the environment lacks something on this machine.
        """
        keeping = OrderedWriter(self._into, most=self._most, watch=self._watch)
        self._next = keeping.written
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._workers):
                    group.create_task(self._work(keeping))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            keeping.close()

    async def _work(self, keeping: OrderedWriter) -> None:
        """Make one attempt after the other."""
        maker = self._maker()
        try:
            while (number := await self._take(keeping)) is not None:
                await self._keep(keeping, await maker.attempt(number))
        finally:
            await maker.close()

    async def _take(self, keeping: OrderedWriter) -> int | None:
        """The next number that is worth an attempt; None if there is none."""
        async with self._turn:
            await self._turn.wait_for(
                lambda: keeping.over or self._next < keeping.written + _AHEAD * self._workers
            )
            if keeping.over or self._next >= self._most:
                return None
            self._next += 1
            return self._next - 1

    async def _keep(self, keeping: OrderedWriter, made: Made) -> None:
        async with self._turn:
            await asyncio.to_thread(keeping.add, made)
            self._turn.notify_all()
