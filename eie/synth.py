"""Makes a set: attempts in parallel, written in the order of their numbers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eie.author import Answer, Author, NoAnswerError, Request
from eie.draft import Draft, Piece, Refused
from eie.example import Example, Rejection
from eie.folder import Attempt, Journal, Refusal, SetFolder
from eie.novelty import Novelty
from eie.pipeline import Pipeline
from envs.core import Env, SimulatorError

_AHEAD = 4
"""Attempts for each worker that may wait for one before them to be written."""
_BUILDS = 3
"""Simulators that may die over one attempt."""


@dataclass(slots=True)
class _Made:
    """What an attempt came to, before it is known what of it is new."""

    number: int
    pieces: list[Piece] = field(default_factory=list)
    task: str = ""
    tokens: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def pay(self, tokens: Mapping[str, int]) -> None:
        for name, count in tokens.items():
            self.tokens[name] = self.tokens.get(name, 0) + count


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
        self._author = author
        self._pipeline = pipeline
        self._make = make
        self._most = most
        self._workers = workers
        self._watch = watch
        self._made: dict[int, _Made] = {}
        self._next = 0
        self._wanted = asyncio.Condition()
        self._over = False

    async def run(self) -> None:
        """Go on until there are enough examples, or attempts.

        Raises:
            SetError: the disk refuses.
            SimulatorError: no simulator can be started.
            UnavailableError: the environment lacks something on this machine.
        """
        journal = Journal(self._into)
        try:
            self._novelty = Novelty(self._into.examples(), journal.past)
            self._next = self._written = len(journal.past)
            self._over = self._enough()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._write(journal))
                for _ in range(self._workers):
                    group.create_task(self._work())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            journal.close()

    def _enough(self) -> bool:
        return self._novelty.kept >= self._into.header.n or self._written >= self._most

    async def _work(self) -> None:
        """Make one attempt after the other on a thread of its own."""
        loop = asyncio.get_running_loop()
        env: Env | None = None
        with ThreadPoolExecutor(1, thread_name_prefix="synth") as thread:
            try:
                while (number := await self._take()) is not None:
                    if env is None:
                        env = await loop.run_in_executor(thread, self._make)
                    env = await self._attempt(number, env, thread)
            finally:
                if env is not None:
                    await loop.run_in_executor(thread, env.close)

    async def _take(self) -> int | None:
        """The next number that is worth an attempt; None if there is none."""
        async with self._wanted:
            await self._wanted.wait_for(
                lambda: self._over or self._next < self._written + _AHEAD * self._workers
            )
            if self._over or self._next >= self._most:
                return None
            self._next += 1
            return self._next - 1

    async def _attempt(self, number: int, env: Env, thread: ThreadPoolExecutor) -> Env | None:
        """Make one, and say whether the environment can be used again."""
        begun = time.perf_counter()
        made = _Made(number)
        alive: Env | None = env
        request = Request(number, self._into.header.seed)
        for again in (True, False):
            try:
                answer = await self._author.propose(request)
            except NoAnswerError as error:
                made.pay(error.tokens)
                made.pieces.append(Refused(Rejection.NO_ANSWER, str(error)))
                break
            made.pay(answer.tokens)
            made.task = answer.name
            pieces, alive = await self._cut(answer, number, alive, thread)
            made.pieces += pieces
            refused = pieces[0] if len(pieces) == 1 else None
            if not (again and self._author.takes_feedback and isinstance(refused, Refused)):
                break
            request = Request(number, request.seed, refused.sentence, str(answer.raw))
        made.seconds = time.perf_counter() - begun
        async with self._wanted:
            self._made[number] = made
            self._wanted.notify_all()
        return alive

    async def _cut(
        self, answer: Answer, number: int, env: Env | None, thread: ThreadPoolExecutor
    ) -> tuple[list[Piece], Env | None]:
        """All that comes of an answer. A simulator that dies over it is tried again, then refuses.

        What an answer came to must not depend on which worker's simulator died.
        """
        loop = asyncio.get_running_loop()

        def cut(env: Env) -> list[Piece]:
            return list(self._pipeline.pieces(env, answer, self._author.name, number))

        for build in range(_BUILDS):
            if env is None:
                env = await loop.run_in_executor(thread, self._make)
            try:
                return await loop.run_in_executor(thread, cut, env), env
            except SimulatorError as error:
                await loop.run_in_executor(thread, env.close)
                env = None
                if build == _BUILDS - 1:
                    why = str(error).splitlines()[0]
                    return [Refused(Rejection.REFUSED, f"The simulator fails: {why}")], None
        raise AssertionError("unreachable: the last build returns")

    async def _write(self, journal: Journal) -> None:
        """Write attempts as their turn comes."""
        while not self._over:
            async with self._wanted:
                await self._wanted.wait_for(lambda: self._written in self._made)
                made = self._made.pop(self._written)
            await asyncio.to_thread(self._add, journal, made)
            async with self._wanted:
                self._written += 1
                self._over = self._enough()
                self._wanted.notify_all()
            self._watch(self._novelty.kept)

    def _add(self, journal: Journal, made: _Made) -> None:
        examples: list[Example] = []
        prints: list[str] = []
        refused: list[Refusal] = []
        pictures: dict[str, NDArray[np.uint8]] = {}
        for piece in made.pieces:
            if isinstance(piece, Draft) and self._novelty.kept >= self._into.header.n:
                break
            found = self._novelty.judge(piece) if isinstance(piece, Draft) else piece
            if isinstance(found, Refused):
                refused.append(Refusal(rejection=found.rejection, sentence=found.sentence))
            else:
                examples.append(found.example)
                prints.append(f"{found.fingerprint:064x}")
                pictures |= found.pictures
        attempt = Attempt(
            number=made.number,
            task=made.task,
            kept=tuple(example.id for example in examples),
            prints=tuple(prints),
            rejected=tuple(refused),
            tokens=made.tokens,
        )
        journal.add(attempt, examples, pictures, made.seconds)
