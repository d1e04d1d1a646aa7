"""`inhabit replay`: act a run again, and name the first step that differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.progress import Progress

from inhabit.episodes.commands.output import Json, Set, Trust, answers, print_json, remarks
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.replaying.replay import Replay, replay_run
from inhabit.episodes.running.from_record import env_of_run

_LONGEST = 300
"""Characters of a value that a sentence shows."""


def replay(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    episode: Annotated[
        str | None, typer.Option(metavar="ID", help="A task id or a number; all without it.")
    ] = None,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Act a run again; name the first step that differs, or "identical".

    Exit code 0: identical. 1: something differs.
    """
    found = Run.open(run)
    header = found.header
    make = env_of_run(found, assignments or (), trusted=trusted)
    chosen = list(found.episodes()) if episode is None else [found.find(episode)]
    replays = []
    with Progress(console=remarks(), disable=not remarks().is_terminal) as progress:
        waiting = progress.track(chosen, description="replay")
        for one in replay_run(found, make, waiting):
            replays.append(one)
            if one.difference:
                answers().print(_sentence(one), soft_wrap=True)
    if not replays:
        raise RecordError(f"{run}: nothing was recorded yet, so there is nothing to act again.")
    identical = not any(one.difference for one in replays)
    steps = sum(one.steps for one in replays)
    if identical:
        answers().print(f"identical: {len(replays)} episodes, {steps} steps")
    if as_json:
        print_json(
            {
                "run": str(run),
                "determinism": header.determinism,
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
        return f"{where}: the simulator failed: {different.replayed}"
    was, now = _short(different.recorded), _short(different.replayed)
    return f"{where}: {different.what} was {was}, is {now}"


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _row(one: Replay) -> JsonValue:
    assert one.difference is not None
    return {
        "episode": one.episode.number,
        "id": one.episode.task.id,
        "step": one.difference.step,
        "what": one.difference.what,
        "recorded": one.difference.recorded,
        "replayed": one.difference.replayed,
    }
