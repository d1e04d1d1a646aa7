"""`inhabit replay`: re-executes a run and names the first step that differs."""

from __future__ import annotations

import json
from dataclasses import asdict

import typer
from pydantic import JsonValue

from inhabit.envs.core import Determinism
from inhabit.episodes.commands.options import OneEpisode, PageFile, RunFolder
from inhabit.episodes.commands.output import Json, Set, Trust, answers, print_json
from inhabit.episodes.commands.progress import ProgressReport
from inhabit.episodes.playing.from_record import env_of_run, other_renderer
from inhabit.episodes.playing.retrace import Replay, replay_run
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.wording import counted

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
    was, now = _short(different.recorded), _short(different.replayed)
    return f"{where}: {different.what} was {was} and is now {now}"


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _row(one: Replay) -> JsonValue:
    assert one.difference is not None
    return {
        "episode": one.episode.number,
        "id": one.episode.task.id,
        **asdict(one.difference),
    }
