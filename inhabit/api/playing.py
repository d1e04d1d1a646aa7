"""Records episodes of an agent, from plain Python or inside a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from inhabit.agents import custom
from inhabit.agents.core import Agent, Grant
from inhabit.api.reading import RunResults
from inhabit.envs.core import Task
from inhabit.envs.entries import member
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.playing.run import Watch, Watching, record_run, unwatched
from inhabit.episodes.playing.settings import mapping
from inhabit.episodes.playing.tasks import gather, whole
from inhabit.episodes.recording.folder import held
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Choice, Sight

T = TypeVar("T")


def run(
    env: str,
    agent: str | custom.Source,
    out: Path | str,
    *,
    n: int | None = None,
    tasks: Iterable[Task] | Path | str | None = None,
    kinds: Collection[str] = (),
    rooms: Collection[str] = (),
    seed: int = 0,
    model: str | None = None,
    base_url: str | None = None,
    backend: str | None = None,
    settings: Mapping[str, object] = MappingProxyType({}),
    candidates: Choice | str | None = None,
    sight: Sight | str = Sight.SHOWN,
    grants: Iterable[Grant | str] = (),
    max_steps: int | None = None,
    workers: int = 1,
    on_episode: Watch | None = None,
) -> RunResults:
    """Play episodes into a run folder, as `inhabit run` does, and read the result.

    The same call resumes a run that was interrupted, and a larger `n` adds tasks to it. It works
    where an event loop is running already, as in a notebook: it then plays on a thread of its own,
    and waits for it.

    Args:
        env: a registered environment.
        agent: the name of a registered agent, or one of your own: FILE.py:NAME, which is executed,
            or the object that such a name stands for, which is a function of a `View` that
            returns the text of an action (None to stop), a coroutine function, an object with such
            a method `decide`, or a class or a function without parameters that makes one. See
            `inhabit.agents.custom`.
        out: the run's folder.
        n: how many tasks.
        tasks: the tasks themselves, or where to read them (`--tasks`); None samples `n`.
        kinds: of tasks to take; any by default.
        rooms: to take tasks of, in the same way.
        seed: of tasks, environments and agents.
        model: KIND:NAME of the model that a registered agent asks.
        base_url: of the model's endpoint.
        backend: which simulator; None for the embedded default.
        settings: what `--set` may say, such as {"max_invalid": 5, "agent.width": 3}. Environments
            run in worker processes, so that a run survives its simulator, unless this says
            {"in_process": True}.
        candidates: which actions the agent chooses from: "seen", "vocabulary" or "oracle"; None for
            the agent's default, "vocabulary".
        sight: the images that the agent is given: "shown" (its own), "blank" (black ones), "none",
            or "other" (those of another room).
        grants: what the agent may use beyond seeing and acting: "expert", "lookahead", "tools".
        max_steps: instead of each task's own limit.
        workers: episodes at once. An agent that is no coroutine decides for one at a time.
        on_episode: is told of every episode that ends.

    Raises:
        ValueError: neither `n` nor `tasks` is given, or a count is less than 1.
        UnknownNameError, SettingError, ModelError: a name, a choice or a setting is wrong.
        TaskError: the tasks can't be read, or are of another environment.
        RecordError: the folder is another run's, or can't be read or written.
        LackingError: the environment can't give what is asked of it.
        UnavailableError, SimulatorError: the environment can't start.
    """
    if n is None and tasks is None:
        raise ValueError("Say how many tasks to sample (n=...), or which (tasks=...).")
    for what, count in (("max_steps", max_steps), ("workers", workers)):
        if count is not None and whole(what, count) < 1:
            raise ValueError(f"{what} is {count}, and must be at least 1.")
    chosen = plan(
        env,
        agent if isinstance(agent, str) else custom.register(agent),
        backend=backend,
        model=model,
        base_url=base_url,
        assignments=mapping(settings),
        candidates=None
        if candidates is None
        else member(Choice, "choice of candidates", candidates),
        sight=member(Sight, "sight", sight),
        grants=[
            member(Grant, "grant", grant)
            for grant in ((grants,) if isinstance(grants, str) else grants)
        ],
        max_steps=max_steps,
        seed=seed,
    )
    found = gather(
        chosen.env, chosen.settings["env"], n=n, seed=seed, source=tasks, kinds=kinds, rooms=rooms
    )
    folder = Path(out)
    watching = unwatched if on_episode is None else _telling(on_episode)
    with held(folder):
        played = _wait_for(
            record_run(
                chosen, found, folder, command=["inhabit.run"], workers=workers, watching=watching
            )
        )
    return RunResults(played)


def _telling(on_episode: Watch) -> Watching:
    def watching(run: Run, agent: Agent) -> AbstractContextManager[Watch]:
        return nullcontext(on_episode)

    return watching


def _wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, on another thread if an event loop is running on this one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def whole() -> T:
        task = asyncio.current_task()
        assert task is not None
        started.set_result((asyncio.get_running_loop(), task))
        return await coroutine

    with ThreadPoolExecutor(1, thread_name_prefix="inhabit.run") as pool:
        playing = pool.submit(asyncio.run, whole())
        try:
            return playing.result()
        except KeyboardInterrupt:  # in a notebook, "interrupt"
            loop, task = started.result()
            loop.call_soon_threadsafe(task.cancel)
            raise
