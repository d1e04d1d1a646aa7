"""`inhabit fork`: go on from the middle of an episode otherwise, and keep both ways."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from inhabit.episodes.commands.output import Json, Set, Trust, answers, print_json
from inhabit.episodes.recording.folder import held
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Fork
from inhabit.episodes.replaying.fork import fork_episode
from inhabit.episodes.replaying.preference import Continuation, PreferencePair
from inhabit.episodes.reports.video.slides import ENDINGS
from inhabit.episodes.running.from_record import plan_like


def fork(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    episode: Annotated[str, typer.Option(metavar="ID", help="A task id or a number.")],
    step: Annotated[int, typer.Option(min=0, help="The first step that is done otherwise.")],
    action: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What to do in that step.")
    ] = None,
    hint: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What to tell the agent in that step.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="KIND:NAME", help="What to ask from that step on.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Where that model's endpoint is.")
    ] = None,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Go on from a step of a recorded episode in another way.

    The other way is a run of its own in the folder `forks` of the run, and the two together are a
    line of `forks.jsonl` there: preference data.
    """
    found = Run.open(run)
    # The recorded model may have to be said again, and then it is no change.
    other = None if model == found.header.model else model
    if sum(given is not None for given in (action, hint, other)) > 1:
        raise typer.BadParameter("--action, --hint and another --model exclude one another.")
    chosen = found.find(episode)
    change = Fork(
        run=run.resolve().name,
        episode=chosen.number,
        step=step,
        action=action,
        hint=hint,
        model=other,
    )
    plan = plan_like(
        found.header,
        where=run,
        tasks=[chosen.task],
        model=model,
        base_url=base_url,
        assignments=assignments or (),
        trusted=trusted,
    )
    command = ["inhabit", *sys.argv[1:]]
    with held(run / "forks", inside=run):
        pair = asyncio.run(fork_episode(found, chosen, change, plan, command))
    _print(pair, run, answers())
    if as_json:
        print_json(pair)


def _print(pair: PreferencePair, run: Path, console: Console) -> None:
    console.print(f"original: {_sentence(pair.original)}", soft_wrap=True)
    console.print(f"forked:   {_sentence(pair.forked)}", soft_wrap=True)
    console.print(f"better:   {pair.better or 'neither'}")
    console.print(f"record:   {run / pair.fork}", soft_wrap=True)


def _sentence(way: Continuation) -> str:
    ending = ENDINGS[way.ending] if way.ending else "Cut off"
    return (
        f"{way.action or 'no action'}. {ending}: {way.met} of {way.total} conditions, "
        f"{way.steps} steps."
    )
