"""Runs one attempt: proposal, scene, extraction, and one revision if the proposal fails."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from inhabit.eie.examples.draft import Piece
from inhabit.eie.examples.example import Refused, Rejection
from inhabit.eie.making.author import AuthorReply, AuthorRequest, SilentAuthorError
from inhabit.eie.making.components import Components, faults_of_template
from inhabit.envs.core import Env, SimulatorError

T = TypeVar("T")

_BUILDS = 3
"""Number of simulators that are started for one attempt before it is rejected."""


@dataclass(slots=True)
class AttemptResult:
    """The result of an attempt, before duplicates are removed."""

    number: int
    pieces: list[Piece] = field(default_factory=list)
    task: str = ""
    """Id of the author's task; empty where it did not answer."""
    tokens: dict[str, int] = field(default_factory=dict)
    """Tokens of the author's model: "in" and "out"."""
    seconds: float = 0.0
    change: str = ""
    """The change that evolved the task."""

    def pay(self, tokens: Mapping[str, int]) -> None:
        """Add the tokens of an answer."""
        for name, count in tokens.items():
            self.tokens[name] = self.tokens.get(name, 0) + count


class AttemptRunner:
    """Makes attempts one after the other in its own environment."""

    def __init__(self, components: Components, seed: int) -> None:
        """Prepare. Nothing starts before the first attempt, and the author is not closed."""
        self._author = components.author
        self._pipeline = components.pipeline
        self._make = components.make
        self._seed = seed
        self._env: Env | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="synth")

    async def attempt(self, number: int) -> AttemptResult:
        """Make the attempt with this number. The result depends only on the number and the seed.

        Raises:
            SimulatorError: no simulator can be started.
            UnavailableError: the environment lacks something on this machine.
            PluginError: its template raised.
        """
        begun = time.perf_counter()
        made = AttemptResult(number)
        with faults_of_template(self._pipeline.env):
            await self._try(made)
        made.seconds = time.perf_counter() - begun
        return made

    async def _try(self, made: AttemptResult) -> None:
        request = AuthorRequest(made.number, self._seed)
        for again in (True, False):
            try:
                answer = await self._author.propose(request)
            except SilentAuthorError as error:
                made.pay(error.tokens)
                made.pieces.append(Refused(Rejection.NO_ANSWER, str(error)))
                break
            made.pay(answer.tokens)
            made.task, made.change = answer.name, answer.change
            pieces = await self._cut(answer, made.number)
            made.pieces += pieces
            refused = pieces[0] if len(pieces) == 1 else None
            if not (again and self._author.takes_feedback and isinstance(refused, Refused)):
                break
            said = (
                answer.raw
                if isinstance(answer.raw, str)
                else json.dumps(answer.raw, ensure_ascii=False)
            )
            request = AuthorRequest(made.number, request.seed, refused.sentence, said)

    async def close(self) -> None:
        """End the environment. Safe to call twice."""
        env, self._env = self._env, None
        if env is not None:
            await self._on_thread(env.close)
        self._thread.shutdown()

    async def _cut(self, answer: AuthorReply, number: int) -> list[Piece]:
        """The pieces of an answer. After a simulator fault it is tried again, then rejected.

        The result must not depend on which worker's simulator failed.
        """
        for build in range(_BUILDS):
            if self._env is None:
                self._env = await self._on_thread(self._make)
            env = self._env
            try:
                return await self._on_thread(partial(self._pieces, env, answer, number))
            except SimulatorError as error:
                self._env = None
                await self._on_thread(env.close)
                if build == _BUILDS - 1:
                    why = str(error).splitlines()[0]
                    return [Refused(Rejection.REFUSED, f"The simulator fails: {why}")]
        raise AssertionError("unreachable: the last build returns")

    def _pieces(self, env: Env, answer: AuthorReply, number: int) -> list[Piece]:
        return list(self._pipeline.pieces(env, answer, self._author.name, number))

    async def _on_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
