"""`inhabit fork`: continues a recorded episode differently from a step on, and keeps both."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from inhabit.episodes.commands.options import BaseUrl, RunFolder
from inhabit.episodes.commands.output import Json, Set, Trust, answers, print_json
from inhabit.episodes.playing.fork import Continuation, PreferencePair, fork_episode
from inhabit.episodes.playing.from_record import plan_like
from inhabit.episodes.recording.folder import held
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Fork
from inhabit.episodes.reports.wording import ENDINGS


def fork(
    run: RunFolder,
    episode: Annotated[
        str, typer.Option(metavar="ID", help="Task id or number of the episode to fork.")
    ],
    step: Annotated[
        int, typer.Option(min=0, help="Step to branch off at; 0 is the first decision.")
    ],
    action: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Action to take in that step instead."),
    ] = None,
    hint: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Text to add to the observation in that step."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="KIND:NAME", help="Model to ask from that step on."),
    ] = None,
    base_url: BaseUrl = None,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Branch off a recorded episode at a step.

    Re-executes the steps before it, then changes one thing: the action, the observation text, the
    model, or a setting. The branch is recorded as a run in RUN/forks, and original and branch are
    added to RUN/forks.jsonl as a preference pair.
    """
    found = Run.open(run)
    # The recorded model may have to be repeated with its address, which changes nothing.
    other = None if model == found.header.model else model
    if sum(given is not None for given in (action, hint, other)) > 1:
        raise typer.BadParameter("--action, --hint and another --model exclude each other.")
    if action is other is None and not hint and not assignments and base_url is None:
        raise typer.BadParameter(
            "Nothing would change: give --action, --hint, another --model or --set KEY=VALUE."
        )
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
    console.print(f"original:  {_sentence(pair.original)}", soft_wrap=True)
    console.print(f"fork:      {_sentence(pair.forked)}", soft_wrap=True)
    preferred = {"original": "the original", "forked": "the fork", None: "neither"}[pair.better]
    console.print(f"preferred: {preferred}")
    console.print(f"recorded:  {run / pair.fork}", soft_wrap=True)


def _sentence(branch: Continuation) -> str:
    ending = ENDINGS[branch.ending] if branch.ending else "Interrupted"
    return (
        f"{branch.action or 'no action'}. {ending}; {branch.met} of {branch.total} goal "
        f"conditions, {branch.steps} steps."
    )
