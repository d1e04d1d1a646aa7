"""`inhabit run`: play episodes, and say what they came to."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from inhabit.agents.core import Agent, Grant
from inhabit.agents.registry import names
from inhabit.envs.core import Task
from inhabit.envs.registry import find
from inhabit.episodes.commands.output import Json, Set, answers, print_json, remarks
from inhabit.episodes.commands.progress import Bar, print_scores
from inhabit.episodes.recording.folder import begin, check_model, held
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Choice, Sight
from inhabit.episodes.running.plan import RunPlan, plan
from inhabit.episodes.running.record import record_run, resumed
from inhabit.episodes.running.run import Watch, unfinished
from inhabit.episodes.running.tasks import gather
from inhabit.episodes.scoring.metrics import score


def run(
    env: Annotated[str, typer.Argument(help="An environment that `inhabit envs` names.")],
    out: Annotated[Path, typer.Option(help="The run's folder. A folder begun before goes on.")],
    agent: Annotated[
        str | None,
        typer.Option(
            help=f"The agent that acts: {', '.join(names())}. Default in alfred: planner."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="KIND:NAME", help="The model that the agent asks.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Where the model's endpoint is.")
    ] = None,
    backend: Annotated[str | None, typer.Option(help="The simulator behind it.")] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, help="How many tasks.")] = None,
    seed: Annotated[int, typer.Option(help="Of tasks and agents.")] = 0,
    tasks: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="A .jsonl, or what the environment can read."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Episodes at once.")] = 1,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="In place of each task's own limit.")
    ] = None,
    candidates: Annotated[
        Choice, typer.Option(help="Which actions the agent chooses from.")
    ] = Choice.SEEN,
    no_image: Annotated[
        bool, typer.Option("--no-image", help="The agent gets no picture.")
    ] = False,
    blank_image: Annotated[
        bool, typer.Option("--blank-image", help="The agent gets black pictures.")
    ] = False,
    grant: Annotated[
        list[Grant] | None, typer.Option(help="Beyond seeing and acting. Repeat for more.")
    ] = None,
    ray: Annotated[
        bool, typer.Option("--ray", help="On a Ray cluster; --set ray_address=... says which.")
    ] = False,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Play episodes and record them. The same command goes on where it stopped."""
    if no_image and blank_image:
        raise typer.BadParameter("--no-image and --blank-image exclude one another.")
    if n is None and tasks is None:
        raise typer.BadParameter("Say how many tasks (--n), or where they are (--tasks).")
    decides = agent or find(env).agent
    if decides is None:
        raise typer.BadParameter(f"Say who decides in {env} (--agent): no planner here knows it.")
    chosen = plan(
        env,
        decides,
        backend=backend,
        model=model,
        base_url=base_url,
        assignments=assignments or (),
        candidates=candidates,
        sight=Sight.NONE if no_image else Sight.BLANK if blank_image else Sight.SHOWN,
        grants=grant or (),
        max_steps=max_steps,
        seed=seed,
    )
    gathered = gather(chosen.env, chosen.settings["env"], n=n, seed=seed, source=tasks)
    with held(out):
        found = asyncio.run(_interruptible(chosen, gathered, out, workers, ray))
        scores = score(found)
    print_scores(scores, remarks() if as_json else answers())
    if as_json:
        print_json(scores)


async def _interruptible(
    chosen: RunPlan, tasks: Sequence[Task], out: Path, workers: int, ray: bool
) -> Run:
    """Play; Ctrl-C or SIGTERM end it cleanly, and a second one at once."""
    play = _play_on_cluster if ray else _play
    playing = asyncio.ensure_future(play(chosen, tasks, out, workers))
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if playing.cancelling():
            _leave()
        remarks().print("Stopping; once more to stop at once.")
        playing.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        return await playing
    except asyncio.CancelledError:
        remarks().print(f"Interrupted. The same command goes on with {out}.")
        _leave()


async def _play(chosen: RunPlan, tasks: Sequence[Task], out: Path, workers: int) -> Run:
    return await record_run(
        chosen, tasks, out, command=_command(), workers=workers, watching=_with_bar
    )


@contextmanager
def _with_bar(run: Run, agent: Agent) -> Iterator[Watch]:
    with Bar(run, silent=agent.interactive) as bar:
        yield bar.ended


async def _play_on_cluster(chosen: RunPlan, tasks: Sequence[Task], out: Path, workers: int) -> Run:
    # Ray takes seconds to import, and few have it.
    from inhabit.episodes.cluster.jobs import connected
    from inhabit.episodes.cluster.run import check_can_spread, probe, run_on_cluster

    check_can_spread(chosen)
    found = resumed(chosen, tasks, out, _command())
    if found is not None and next(unfinished(found), None) is None:
        return found
    async with connected(chosen.run_settings.ray_address):
        header = await probe(chosen, tasks, _command())
        if found is None:
            found = begin(out, header, tasks)
        elif header.model_details:
            check_model(found, header.model_details)
        with Bar(found) as bar:
            await run_on_cluster(found, chosen, workers=workers, watch=bar.ended)
    return found


def _command() -> Sequence[str]:
    return ["inhabit", *sys.argv[1:]]


def _leave() -> NoReturn:
    """End now: neither a person who is asked nor a dead simulator keeps a thread of ours alive."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(130)
