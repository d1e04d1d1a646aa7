"""Many episodes at once, each on a stage of its own; what is finished stays finished."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator

from agents.core import Agent
from envs.core import Env, SimulatorError
from episodes.disk import Pictures
from episodes.journal import Journal
from episodes.lines import End, Ending
from episodes.play import Rules, play
from episodes.record import Episode, Run
from episodes.stage import Stage

_BUILDS = 3
"""How often an environment is started, in the middle of a run, before the run gives up."""

Watch = Callable[[Episode, End], None]
"""Is told of every episode that ends."""


def episode_seed(seed: int, number: int) -> int:
    """The seed of episode `number` in a run with `seed`: 32 bits, alike everywhere."""
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def unfinished(run: Run) -> Iterator[Episode]:
    """The episodes that have not ended yet, in order. A fault is an end."""
    return (episode for episode in run.episodes() if episode.end() is None)


async def run_episodes(
    run: Run,
    make: Callable[[], Env],
    agent: Agent,
    rules: Rules,
    *,
    workers: int = 1,
    stage: Stage | None = None,
    watch: Watch = lambda episode, end: None,
) -> None:
    """Play every episode of `run` that has not ended yet, `workers` of them at once.

    Cancelled, it lets go of everything and leaves episodes half; called again, it begins those
    anew.

    Args:
        run: where everything is written down.
        make: makes an environment; it is made anew after each fault of a simulator.
        agent: decides for all of them.
        rules: of every episode.
        workers: how many play at once.
        stage: one that is built already. It is closed in the end, as all are.
        watch: is told of every episode that ends.

    Raises:
        SimulatorError: no environment can be started any more.
        UnavailableError: an environment lacks something on this machine.
        DiskError: the record can't be written.
        RecordError: what is recorded already can't be read.
    """
    stages = [stage] + [None] * (workers - 1)
    waiting = unfinished(run)
    with Pictures() as pictures:
        troupe = _Troupe(run, make, agent, rules, pictures, watch)
        try:
            async with asyncio.TaskGroup() as group:
                for one in stages:
                    group.create_task(troupe.play(waiting, one))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None


class _Troupe:
    """Whoever plays next takes the next episode."""

    def __init__(
        self,
        run: Run,
        make: Callable[[], Env],
        agent: Agent,
        rules: Rules,
        pictures: Pictures,
        watch: Watch,
    ) -> None:
        self._run = run
        self._make = make
        self._agent = agent
        self._rules = rules
        self._pictures = pictures
        self._watch = watch

    async def play(self, waiting: Iterator[Episode], stage: Stage | None) -> None:
        """Play one episode after the other; a stage whose simulator failed is not used again."""
        try:
            for episode in waiting:
                stage = stage or await _rebuild(self._make)
                end = await self._episode(episode, stage)
                self._watch(episode, end)
                if end.ending is Ending.SIMULATOR_FAULT:
                    broken, stage = stage, None
                    await broken.close()
        finally:
            if stage is not None:
                await stage.close()

    async def _episode(self, episode: Episode, stage: Stage) -> End:
        journal = Journal(episode.folder, self._pictures)
        seed = episode_seed(self._run.header.seed, episode.number)
        try:
            return await play(stage, self._agent, episode.task, journal, self._rules, seed=seed)
        finally:
            journal.close()


async def _rebuild(make: Callable[[], Env]) -> Stage:
    """A stage with a new environment; a simulator that does not start is tried again."""
    for _ in range(_BUILDS - 1):
        try:
            return await Stage.build(make)
        except SimulatorError:
            continue
    return await Stage.build(make)
