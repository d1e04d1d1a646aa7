"""`inhabit replay` re-executes a run and names the first step that differs; `inhabit fork` goes on
differently from a step, and keeps both.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.console import Console

from inhabit.envs.core import Determinism
from inhabit.episodes.commands.options import BaseUrl, OneEpisode, PageFile, RunFolder
from inhabit.episodes.commands.output import Json, Set, Trust, answers, print_json
from inhabit.episodes.commands.progress import ProgressReport
from inhabit.episodes.commands.run import command_line
from inhabit.episodes.playing.fork import Continuation, PreferencePair, fork_episode
from inhabit.episodes.playing.from_record import env_of_run, other_renderer, plan_like
from inhabit.episodes.playing.retrace import Replay, replay_run
from inhabit.episodes.recording.folder import held
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.recording.schema import Fork
from inhabit.episodes.reports.wording import ENDINGS, apart, counted

_LONGEST = 300
"""Characters of a value that a message shows."""


def replay(
    run: RunFolder,
    episode: OneEpisode = None,
    page: PageFile = None,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Re-execute a recorded run and compare every step.

    Prints "identical", or the first difference of each episode. Images are compared only if the
    same version of the renderer drew them. Exit code 0 if the run is
    identical, 1 if anything differs.
    """
    found = Run.open(run)
    header = found.header
    make = env_of_run(found, assignments or (), trusted=trusted)
    chosen = list(found.episodes()) if episode is None else [found.find(episode)]
    replays = []
    with ProgressReport("episodes", len(chosen)) as progress:
        for one in replay_run(found, make, chosen):
            replays.append(one)
            progress.advance()
            if one.difference:
                answers().print(_sentence(one), soft_wrap=True)
    if not replays:
        raise RecordError(f"{run}: no episode is recorded yet, so there is nothing to replay.")
    identical = not any(one.difference for one in replays)
    steps = sum(one.steps for one in replays)
    renderers = other_renderer(header)
    if identical:
        answers().print(f"identical: {counted(len(replays), 'episode')}, {counted(steps, 'step')}")
    if renderers is not None:
        was, now = renderers
        answers().print(
            f"Images were not compared: version {was} of the renderer drew the recorded ones, and "
            f"this is version {now}.",
            soft_wrap=True,
        )
    if page is not None:
        from inhabit.episodes.reports.page.differences import replay_items, write_differences

        name = found.folder.resolve().name
        facts = {"Episodes": str(len(replays)), "Steps": str(steps)}
        items = replay_items(replays, page)
        write_differences(page, f"Replay of {name}", (name, "replayed"), facts, items)
        answers().print(str(page), soft_wrap=True)
    if as_json:
        print_json(
            {
                "run": str(run),
                "determinism": header.determinism,
                "images_compared": header.determinism is Determinism.FRAMES and not renderers,
                "identical": identical,
                "episodes": len(replays),
                "steps": steps,
                "differences": [_row(one) for one in replays if one.difference],
            }
        )
    raise typer.Exit(0 if identical else 1)


def _sentence(one: Replay) -> str:
    assert one.difference is not None
    different = one.difference
    where = f"episode {one.episode.number} ({one.episode.task.id}), step {different.step}"
    if different.what == "simulator":
        return f"{where}: the simulator failed during the replay: {different.replayed}"
    recorded = json.dumps(different.recorded, ensure_ascii=False)
    replayed = json.dumps(different.replayed, ensure_ascii=False)
    was, now = apart(recorded, replayed, _LONGEST)
    return f"{where}: {different.what} was {was} and is now {now}"


def _row(one: Replay) -> JsonValue:
    assert one.difference is not None
    return {"episode": one.episode.number, "id": one.episode.task.id, **asdict(one.difference)}


def fork(
    run: RunFolder,
    episode: Annotated[
        str, typer.Option(metavar="ID", help="Task id or number of the episode to fork.")
    ],
    step: Annotated[
        int, typer.Option(min=0, help="Step to branch off at; 0 is the first decision.")
    ],
    action: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Action to take in that step instead.")
    ] = None,
    hint: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Text to add to the observation in that step."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="KIND:NAME", help="Model to ask from that step on.")
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
    with held(run / "forks", inside=run):
        pair = asyncio.run(fork_episode(found, chosen, change, plan, command_line()))
    _print(pair, run, answers())
    if as_json:
        print_json(pair)


def _print(pair: PreferencePair, run: Path, console: Console) -> None:
    console.print(f"original:  {_branch_sentence(pair.original)}", soft_wrap=True)
    console.print(f"fork:      {_branch_sentence(pair.forked)}", soft_wrap=True)
    preferred = {"original": "the original", "forked": "the fork", None: "neither"}[pair.better]
    console.print(f"preferred: {preferred}")
    console.print(f"recorded:  {run / pair.fork}", soft_wrap=True)


def _branch_sentence(branch: Continuation) -> str:
    action = branch.action or "no action"
    if branch.ending is None:
        return f"{action}. Interrupted."
    return (
        f"{action}. {ENDINGS[branch.ending]}; {branch.met} of "
        f"{counted(branch.total, 'goal condition')}, {counted(branch.steps, 'step')}."
    )
