"""Executes a plan into a run folder: loads the model, starts the environment, plays, closes.

Episodes are played concurrently, with one environment per worker.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from inhabit.agents.core import Agent, UndoError
from inhabit.agents.deciding import close_agent
from inhabit.envs.core import Determinism, Env, SimulatorError, Task
from inhabit.envs.entries import same_folder
from inhabit.envs.errors import ExitCode, UserError
from inhabit.episodes.playing.env_thread import EnvThread
from inhabit.episodes.playing.from_record import comparable, with_todays_model
from inhabit.episodes.playing.plan import RunPlan
from inhabit.episodes.playing.play import EpisodePlay, Faults
from inhabit.episodes.playing.resume import Prefix, calls_of, prefix_of, seconds_of
from inhabit.episodes.playing.retrace import DivergedError
from inhabit.episodes.playing.settings import Resume, RunSettings
from inhabit.episodes.playing.tasks import elsewhere, next_room
from inhabit.episodes.recording.disk import Pictures
from inhabit.episodes.recording.folder import begin, check_model, check_same, continued, earlier
from inhabit.episodes.recording.index import Index, append
from inhabit.episodes.recording.reader import EpisodeRecord, Run
from inhabit.episodes.recording.schema import Ending, EndLine, Sight
from inhabit.episodes.recording.writer import EpisodeWriter
from inhabit.episodes.view import check

_BUILDS = 3
"""How often an environment is started in the middle of a run before the run fails."""
_LONGEST_PAUSE = 30.0
"""Maximum seconds before another attempt."""

Watch = Callable[[EpisodeRecord, EndLine], None]
"""Called with every episode that ends."""


class UnfinishedError(UserError, RuntimeError):
    """A run stopped before its last episode, and nothing said why."""

    exit_code = ExitCode.STOPPED


def episode_seed(seed: int, number: int) -> int:
    """The seed of episode `number` in a run with `seed`: 32 bits, the same on every machine."""
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def unfinished(run: Run, settings: RunSettings | None = None) -> Iterator[EpisodeRecord]:
    """The episodes without an end, in order, and those with one that are played again.

    A fault without further retries ends an episode. Without `settings` none is played again.
    """
    index = Index(run)
    for episode in run.episodes():
        end = index.end(episode)
        if end is None or (settings is not None and settings.plays_again(end)):
            yield episode


async def run_episodes(
    run: Run,
    make: Callable[[], Env],
    agent: Agent,
    plan: RunPlan,
    *,
    workers: int = 1,
    env_thread: EnvThread | None = None,
    watch: Watch = lambda episode, end: None,
) -> None:
    """Play every unfinished episode of `run`, `workers` of them concurrently.

    If cancelled, it closes all environments and leaves episodes unfinished; called again, it
    continues or restarts those, as `plan` says.

    `make` is called again after each simulator fault. `env_thread`, a first environment that is
    built already, is closed as well.

    Raises:
        SimulatorError: no environment can be started any more.
        UnavailableError: something that an environment needs is missing on this machine.
        DiskError: the record can't be written.
        RecordError: the existing record can't be read.
        FaultsError: the model failed in episode after episode.
        NoAnswerError: the model did not answer, and no decision was made before.
        UnfinishedError: a worker stopped without an error, and left episodes.
    """
    # An environment or an agent in this process may change the current folder.
    run = replace(run, folder=run.folder.absolute())
    env_threads = [env_thread] + [None] * (workers - 1)
    waiting = unfinished(run, plan.run_settings)
    with same_folder(), Pictures() as pictures:
        faults = Faults(plan.run_settings.max_faults)
        pool = EpisodePool(run, make, agent, plan, pictures, faults, watch)
        try:
            async with asyncio.TaskGroup() as group:
                for one in env_threads:
                    group.create_task(pool.play(waiting, one))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
    # A task group takes a task that ends with `CancelledError` for one that is done.
    if left := sum(1 for _ in unfinished(run)):
        raise UnfinishedError(
            f"{run.folder} stopped with {left} of {len(run.tasks)} episodes unfinished, and no "
            "error says why. Run the same command again to continue it."
        )


@dataclass(frozen=True, slots=True)
class EpisodePool:
    """Workers that take the next unfinished episode from a common queue."""

    run: Run
    make: Callable[[], Env]
    agent: Agent
    plan: RunPlan
    pictures: Pictures
    faults: Faults
    watch: Watch = lambda episode, end: None

    async def play(self, waiting: Iterator[EpisodeRecord], env_thread: EnvThread | None) -> None:
        """Play episodes one after the other, with a new environment after each fault."""
        try:
            for episode in waiting:
                env_thread = await self.play_one(episode, env_thread)
        finally:
            if env_thread is not None:
                await env_thread.close()

    async def play_one(
        self, episode: EpisodeRecord, env_thread: EnvThread | None
    ) -> EnvThread | None:
        """Play one episode to its end, with retries.

        Returns:
            The environment for the next episode; None if the simulator failed.
        """
        settings = self.plan.run_settings
        ends = [attempt.end for attempt in episode.attempts() if attempt.end is not None]
        faults = sum(end.again and end.ending is Ending.SIMULATOR_FAULT for end in ends)
        pauses = _pauses(settings.retries - faults, settings.pause)
        try:
            while True:
                pause = next(pauses, None)
                env_thread = env_thread or await _rebuild(self.make, settings.pause)
                end = await self._attempt(episode, env_thread, again=pause is not None)
                if end.ending is Ending.SIMULATOR_FAULT:
                    broken, env_thread = env_thread, None
                    await broken.close()
                if not end.again:
                    self.watch(episode, end)
                    self.faults.count(end)
                    return env_thread
                await asyncio.sleep(pause or 0)
        except BaseException:
            if env_thread is not None:
                await env_thread.close()
            raise

    async def _attempt(
        self, episode: EpisodeRecord, env_thread: EnvThread, *, again: bool
    ) -> EndLine:
        """Continue from the record; restart if a re-executed step differs.

        A step that a person takes back is left out: the steps before it are re-executed.
        """
        prefix = None
        level = comparable(self.run.header, env_thread.env.determinism)
        if self.plan.run_settings.resume is Resume.CONTINUE:
            prefix = prefix_of(episode.attempts(), level)
        while True:
            try:
                return await self._play(episode, env_thread, prefix, level, again=again)
            except DivergedError:
                prefix = None
            except UndoError:
                prefix = prefix_of(episode.attempts(), level)

    async def _play(
        self,
        episode: EpisodeRecord,
        env_thread: EnvThread,
        prefix: Prefix | None,
        level: Determinism,
        *,
        again: bool,
    ) -> EndLine:
        settings, number = self.plan.run_settings, episode.number
        writer = EpisodeWriter(episode, self.pictures if settings.frames else None)
        playing = EpisodePlay(
            env_thread,
            self.agent,
            self.plan.episode(
                env_thread.env,
                episode.task,
                episode_seed(self.run.header.seed, number),
                elsewhere(self.run, episode.task),
            ),
            writer,
            self.plan,
            self.faults,
            prefix,
            spent=0.0 if settings.max_seconds is None else seconds_of(episode.attempts()),
            can_undo=self.agent.interactive and level is not Determinism.NONE,
        )
        try:
            end = await playing.run(again=again)
            if not end.again:
                append(self.run, [writer.entry(number, end)])
            return end
        finally:
            writer.close()


def _pauses(retries: int, first: float) -> Iterator[float]:
    """Seconds to wait before each further attempt."""
    return (min(_LONGEST_PAUSE, first * 2**n) for n in range(retries))


async def _rebuild(make: Callable[[], Env], first: float) -> EnvThread:
    """Build an environment, with retries if its simulator does not start."""
    for pause in _pauses(_BUILDS - 1, first):
        with suppress(SimulatorError):
            return await EnvThread.build(make)
        await asyncio.sleep(pause)
    return await EnvThread.build(make)


Watching = Callable[[Run, Agent], AbstractContextManager[Watch]]
"""(run, agent) -> a context manager whose value is called with every episode that ends."""


def unwatched(run: Run, agent: Agent) -> AbstractContextManager[Watch]:
    """Ignore the ends of episodes."""
    return nullcontext(lambda episode, end: None)


def resumed(
    chosen: RunPlan, tasks: Sequence[Task], folder: Path, command: Sequence[str]
) -> Run | None:
    """The existing run in `folder`, with the new ones of `tasks` added; None if there is none.

    Raises:
        RecordError: it is broken, or was started with another configuration.
    """
    found = earlier(folder)
    if found is not None:
        header = chosen.header(found.header.determinism, tasks, command)
        was = replace(found, header=with_todays_model(found.header, chosen.agent))
        check_same(was, header, tasks, chosen.without_effect())
        more = len(tasks) > len(found.tasks)
        other = header.command != found.header.command
        if more or (other and next(unfinished(found, chosen.run_settings), None) is not None):
            return continued(found, tasks, header.command)
    return found


async def record_run(
    chosen: RunPlan,
    tasks: Sequence[Task],
    folder: Path,
    *,
    command: Sequence[str],
    workers: int = 1,
    watching: Watching = unwatched,
) -> Run:
    """Play `tasks` into `folder`, or continue the run there.

    Args:
        chosen: environment, agent and settings.
        tasks: in order, one per episode.
        folder: of the run; the caller must hold its lock.
        command: recorded in `run.json`.
        workers: number of concurrent episodes.
        watching: observes the ends of episodes.

    Raises:
        RecordError: the folder holds another run, or can't be read or written.
        TaskError: pictures of another room are wanted, and all tasks are of one.
        LackingError: the environment lacks a capability that the run needs.
        ModelError, UnavailableError, SimulatorError: model or environment can't be started.
        DiskError: the record can't be written.
    """
    if chosen.sight is Sight.OTHER:
        next_room(tasks, tasks[0])
    found = resumed(chosen, tasks, folder, command)
    if found is not None and next(unfinished(found, chosen.run_settings), None) is None:
        return found
    async with AsyncExitStack() as held:
        # On a thread, so that Ctrl-C does not have to wait until a model is loaded.
        before = {} if found is None else found.header.model_details
        model = await asyncio.to_thread(chosen.load_model, before)
        agent = chosen.make_agent(model)
        held.push_async_callback(close_agent, agent)
        if found is not None and model is not None:
            check_model(found, model.details, chosen.without_effect())
            model.count_earlier(calls_of(found))
        env_thread = await EnvThread.build(chosen.make_env)
        held.push_async_callback(env_thread.close)
        check(env_thread.env, chosen.candidates, chosen.granted)
        if found is None:
            header = chosen.header(env_thread.env.determinism, tasks, command, model)
            found = begin(folder, header, tasks)
        with watching(found, agent) as watch:
            await run_episodes(
                found,
                chosen.make_env,
                agent,
                chosen,
                workers=workers,
                env_thread=env_thread,
                watch=watch,
            )
    return found
