"""Executes a plan into a run folder: loads the model, starts the environment, plays, closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

from inhabit.agents.core import Agent
from inhabit.agents.deciding import close_agent
from inhabit.envs.core import Task
from inhabit.episodes.playing.env_thread import EnvThread
from inhabit.episodes.playing.from_record import with_todays_model
from inhabit.episodes.playing.plan import RunPlan
from inhabit.episodes.playing.resume import calls_of
from inhabit.episodes.playing.run import Watch, run_episodes, unfinished
from inhabit.episodes.playing.tasks import next_room
from inhabit.episodes.recording.folder import begin, check_model, check_same, continued, earlier
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Sight
from inhabit.episodes.view import check

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
