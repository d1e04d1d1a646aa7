"""Runs many episodes in parallel, each in an environment of its own."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from inhabit.agents.core import Agent
from inhabit.envs.core import Env, SimulatorError
from inhabit.envs.entries import same_folder
from inhabit.episodes.recording.disk import Pictures
from inhabit.episodes.recording.index import Index, append
from inhabit.episodes.recording.reader import Episode, Run
from inhabit.episodes.recording.schema import Ending, EndLine
from inhabit.episodes.recording.writer import EpisodeWriter
from inhabit.episodes.replaying.diff import weaker
from inhabit.episodes.replaying.resume import DivergedError, Prefix, prefix_of
from inhabit.episodes.running.env_thread import EnvThread
from inhabit.episodes.running.play import Rules, play
from inhabit.episodes.running.settings import Resume
from inhabit.episodes.running.spending import seconds_of

_BUILDS = 3
"""How often an environment is started, in the middle of a run, before the run gives up."""
_LONGEST_PAUSE = 30.0
"""Seconds to wait, at most, before what failed is tried again."""

Watch = Callable[[Episode, EndLine], None]
"""Called with every episode that ends."""


def episode_seed(seed: int, number: int) -> int:
    """The seed of episode `number` in a run with `seed`: 32 bits, alike everywhere."""
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def unfinished(run: Run) -> Iterator[Episode]:
    """The episodes that have not ended yet, in order. The last fault allowed is an end."""
    index = Index(run)
    return (episode for episode in run.episodes() if index.end(episode) is None)


async def run_episodes(
    run: Run,
    make: Callable[[], Env],
    agent: Agent,
    rules: Rules,
    *,
    workers: int = 1,
    env_thread: EnvThread | None = None,
    watch: Watch = lambda episode, end: None,
) -> None:
    """Play every episode of `run` that has not ended yet, `workers` of them at once.

    Cancelled, it lets go of everything and leaves episodes half; called again, it goes on with
    those or begins them anew, as `rules` say.

    Args:
        run: where everything is written down.
        make: makes an environment; it is made anew after each fault of a simulator.
        agent: decides for all of them.
        rules: of every episode.
        workers: how many play at once.
        env_thread: one that is built already. It is closed in the end, as all are.
        watch: is told of every episode that ends.

    Raises:
        SimulatorError: no environment can be started any more.
        UnavailableError: an environment lacks something on this machine.
        DiskError: the record can't be written.
        RecordError: what is recorded already can't be read.
    """
    # An environment or an agent in this process may change the current folder.
    run = replace(run, folder=run.folder.absolute())
    env_threads = [env_thread] + [None] * (workers - 1)
    waiting = unfinished(run)
    with same_folder(), Pictures() as pictures:
        pool = EpisodePool(run, make, agent, rules, pictures, watch)
        try:
            async with asyncio.TaskGroup() as group:
                for one in env_threads:
                    group.create_task(pool.play(waiting, one))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None


class EpisodePool:
    """Workers that take the next unfinished episode from a common queue."""

    def __init__(
        self,
        run: Run,
        make: Callable[[], Env],
        agent: Agent,
        rules: Rules,
        pictures: Pictures,
        watch: Watch = lambda episode, end: None,
    ) -> None:
        self._run = run
        self._make = make
        self._agent = agent
        self._rules = rules
        self._pictures = pictures
        self._watch = watch

    async def play(self, waiting: Iterator[Episode], env_thread: EnvThread | None) -> None:
        """Play one episode after the other, with a new environment after each fault."""
        try:
            for episode in waiting:
                env_thread = await self.play_one(episode, env_thread)
        finally:
            if env_thread is not None:
                await env_thread.close()

    async def play_one(self, episode: Episode, env_thread: EnvThread | None) -> EnvThread | None:
        """Play one episode to its end, with as many attempts as it is given.

        Returns:
            Where the next one can be played; None where the simulator has failed.
        """
        rules = self._rules
        try:
            for pause in _pauses(rules.retries - _faults(episode), rules.pause):
                env_thread = env_thread or await _rebuild(self._make, rules.pause)
                end = await self._attempt(episode, env_thread, again=pause is not None)
                if end.ending is Ending.SIMULATOR_FAULT:
                    broken, env_thread = env_thread, None
                    await broken.close()
                if not end.again:
                    self._watch(episode, end)
                    return env_thread
                await asyncio.sleep(pause or 0)
        except BaseException:
            if env_thread is not None:
                await env_thread.close()
            raise
        raise AssertionError("The last attempt is not followed by another.")

    async def _attempt(self, episode: Episode, env_thread: EnvThread, *, again: bool) -> EndLine:
        """Go on with what is recorded; where that comes out differently now, begin anew."""
        prefix = None
        if self._rules.resume is Resume.CONTINUE:
            level = weaker(self._run.header.determinism, env_thread.env.determinism)
            prefix = prefix_of(episode.attempts(), level)
        try:
            return await self._play(episode, env_thread, prefix, again=again)
        except DivergedError:
            return await self._play(episode, env_thread, None, again=again)

    async def _play(
        self, episode: Episode, env_thread: EnvThread, prefix: Prefix | None, *, again: bool
    ) -> EndLine:
        spent = 0.0 if self._rules.max_seconds is None else seconds_of(episode.attempts())
        writer = EpisodeWriter(episode, self._pictures if self._rules.frames else None)
        seed = episode_seed(self._run.header.seed, episode.number)
        try:
            end = await play(
                env_thread,
                self._agent,
                episode.task,
                writer,
                self._rules,
                seed=seed,
                prefix=prefix,
                again=again,
                spent=spent,
            )
            if not end.again:
                append(self._run, [writer.entry(episode.number, end)])
            return end
        finally:
            writer.close()


def _faults(episode: Episode) -> int:
    """How often the simulator has failed the episode already."""
    return sum(attempt.end is not None and attempt.end.again for attempt in episode.attempts())


def _pauses(retries: int, first: float) -> Iterator[float | None]:
    """Seconds to wait after each attempt that fails; None after the last."""
    pause = first
    for _ in range(retries):
        yield min(_LONGEST_PAUSE, pause)
        pause *= 2
    yield None


async def _rebuild(make: Callable[[], Env], first: float) -> EnvThread:
    """A env_thread with a new environment; a simulator that does not start is tried again."""
    for pause in _pauses(_BUILDS - 1, first):
        try:
            return await EnvThread.build(make)
        except SimulatorError:
            if pause is None:
                raise
            await asyncio.sleep(pause)
    raise AssertionError("The last build either stands or raises.")
