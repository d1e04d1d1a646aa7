"""`inhabit experiment` and `inhabit reproduce`: many runs from one file, and the same again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.table import Table
from rich.text import Text

from inhabit.agents.custom import names_file
from inhabit.agents.models.core import Message
from inhabit.agents.registry import find as find_agent
from inhabit.episodes.commands.interrupt import interruptible
from inhabit.episodes.commands.options import BaseUrl, Ray
from inhabit.episodes.commands.output import Json, Trust, answers, print_json, remarks
from inhabit.episodes.commands.run import (
    EpisodeProgress,
    command_line,
    ended_before,
    play_on_cluster,
)
from inhabit.episodes.experiments.cells import (
    ExperimentCell,
    ask_once,
    cells,
    check_trust,
    outcomes,
)
from inhabit.episodes.experiments.report import write_report
from inhabit.episodes.experiments.schema import (
    LOCK,
    AgentChoice,
    Experiment,
    ExperimentError,
    Lock,
    LockedRun,
    presets,
    read_experiment,
    read_lock,
)
from inhabit.episodes.playing.run import record_run
from inhabit.episodes.recording.folder import held
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import EndLine
from inhabit.episodes.reports.wording import counted

_CHARACTERS = 4
"""Characters of a token, for an estimate."""
_LISTED = 20
"""Episodes of each run that are named if their outcome is another one."""


def experiment(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help=f"Experiment file, or the name of a preset: {', '.join(presets())}.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for its runs, tables and page. The same command continues what is there.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the runs, their cost and the first prompts; play nothing."
        ),
    ] = False,
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Play this agent in place of those of the file."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="KIND:NAME", help="Model of all agents that ask one.")
    ] = None,
    base_url: BaseUrl = None,
    tasks: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="Where the tasks of the first environment come from."),
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Tasks of each environment, at most.")
    ] = None,
    ray: Ray = False,
    as_json: Json = False,
) -> None:
    """Play the runs of an experiment file, and write its tables.

    Also writes a page, and a lock for `inhabit reproduce`. Every agent plays every task with every
    seed and sight. Before the first episode each model is asked once.
    """
    if dry_run and as_json:
        raise typer.BadParameter("--json has no effect with --dry-run.")
    chosen = _changed(read_experiment(file), agent, model, base_url, tasks, n)
    found = cells(chosen)
    if dry_run:
        _print_plan(chosen, found)
        return
    if out is None:
        raise typer.BadParameter("Give --out FOLDER, or --dry-run.")
    with held(out):
        _ask_models(found, out, ray=ray)
        _play(chosen, found, out, ray=ray)
        tables = write_report(chosen, found, out)
    for table in tables:
        answers().print(table.markdown(), soft_wrap=True)
    answers().print(f"{out / 'index.html'}\n{out / LOCK}", soft_wrap=True)
    if as_json:
        print_json({"experiment": chosen.name, "folder": str(out), "runs": len(found)})


def reproduce(
    lock: Annotated[Path, typer.Argument(metavar="LOCK", help=f"An {LOCK}.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the runs.")],
    trusted: Trust = False,
    ray: Ray = False,
    as_json: Json = False,
) -> None:
    """Repeat a locked experiment.

    First names every difference that may change the result, and at the end every episode with
    another outcome. Exit code 1 if there is such an episode.
    """
    if out.resolve() == lock.resolve().parent:
        raise ExperimentError(f"{out} holds the runs of this lock: name another folder (--out).")
    locked = read_lock(lock)
    if not trusted:
        check_trust(lock, locked.experiment)
    found = cells(locked.experiment)
    with held(out):
        changed = _changes(locked, found, _ask_models(found, out, ray=ray))
        for place, names in changed.items():
            said = "; ".join(f"{name} was {was}, is {now}" for name, (was, now) in names.items())
            remarks().print(f"{place}: {said}", style="yellow", soft_wrap=True)
        if not changed:
            remarks().print("All that the result depends on is the same here.")
        _play(locked.experiment, found, out, ray=ray)
        write_report(locked.experiment, found, out)
        differing = {one.folder: _differing(one, out) for one in locked.runs}
    episodes = sum(len(one.episodes) for one in locked.runs)
    total = sum(map(len, differing.values()))
    for place, named in differing.items():
        why = ", ".join(changed.get(place, {})) or "nothing that was locked: chance, or time limits"
        for what in named[:_LISTED]:
            answers().print(f"{place}: {what} (what differs: {why})", soft_wrap=True)
        if len(named) > _LISTED:
            answers().print(f"{place}: and {len(named) - _LISTED} more")
    answers().print(f"{episodes - total} of {counted(episodes, 'episode')} came out the same.")
    if as_json:
        print_json(
            {
                "episodes": episodes,
                "same": episodes - total,
                "differing": {place: [*named] for place, named in differing.items() if named},
                "changed": {place: [*sorted(names)] for place, names in changed.items()},
            }
        )
    if total:
        raise typer.Exit(1)


def _changed(
    said: Experiment,
    agent: str | None,
    model: str | None,
    base_url: str | None,
    tasks: str | None,
    n: int | None,
) -> Experiment:
    changes: dict[str, object] = {}
    if agent is not None:
        chosen = {"agent": agent, "model": model, "base_url": base_url}
        changes["agents"] = (AgentChoice.model_validate(chosen),)
    elif model is not None or base_url is not None:
        asked = {"base_url": base_url} | ({} if model is None else {"model": model})
        asking = {
            one.name
            for one in said.agents
            if not names_file(one.agent) and find_agent(one.agent).model is not None
        }
        if said.agents and not asking:
            raise ExperimentError("No agent asks a model: leave --model and --base-url out.")
        changes["agents"] = tuple(
            one.model_copy(update=asked) if one.name in asking else one for one in said.agents
        )
    first, *others = said.environments
    if tasks is not None:
        first = first.model_copy(
            update={"tasks": first.tasks.model_copy(update={"source": tasks, "digest": None})}
        )
    envs = [first, *others]
    if n is not None:
        fewer = {"n": n, "digest": None}
        envs = [e.model_copy(update={"tasks": e.tasks.model_copy(update=fewer)}) for e in envs]
    return said.model_copy(update={**changes, "environments": tuple(envs)})


def _first_cells(found: Sequence[ExperimentCell]) -> Mapping[str, ExperimentCell]:
    """Agents that ask a model, each with its first run."""
    first: dict[str, ExperimentCell] = {}
    for cell in found:
        if cell.plan.model is not None:
            first.setdefault(cell.agent.name, cell)
    return first


def _ask_models(
    found: Sequence[ExperimentCell], out: Path, *, ray: bool
) -> Mapping[str, Mapping[str, JsonValue]]:
    """Agent -> the details of its model, which is asked once before its first episode is spent."""
    if ray:
        from inhabit.episodes.cluster.run import check_plan  # Ray takes seconds to import.

        for cell in found:
            check_plan(cell.plan)
    details: dict[str, Mapping[str, JsonValue]] = {}
    for name, cell in _first_cells(found).items():
        begun = out / cell.folder
        if (begun / "run.json").exists():
            details[name] = Run.open(begun).header.model_details
            continue
        remarks().print(f"Asking {cell.plan.model} once for {name}.", soft_wrap=True)
        details[name] = asyncio.run(interruptible(ask_once(cell), out)).details
    return details


def _play(said: Experiment, found: Sequence[ExperimentCell], out: Path, *, ray: bool) -> None:
    """Play what is left of all runs."""
    total = sum(len(cell.tasks) for cell in found)
    with EpisodeProgress(total, _ended(found, out), silent=ray) as bar:
        for cell in found:
            folder = out / cell.folder
            with held(folder, out):
                if ray:
                    remarks().print(cell.folder, soft_wrap=True)
                    work = play_on_cluster(cell.plan, cell.tasks, folder, said.workers)
                else:
                    work = record_run(
                        cell.plan,
                        cell.tasks,
                        folder,
                        command=command_line(),
                        workers=said.workers,
                        watching=lambda run, agent: nullcontext(bar.ended),
                    )
                asyncio.run(interruptible(work, out))


def _ended(found: Sequence[ExperimentCell], out: Path) -> Iterator[EndLine]:
    for cell in found:
        if (out / cell.folder / "run.json").exists():
            yield from ended_before(Run.open(out / cell.folder), cell.plan.run_settings)


def _changes(
    locked: Lock, found: Sequence[ExperimentCell], details: Mapping[str, Mapping[str, JsonValue]]
) -> Mapping[str, Mapping[str, tuple[str, str]]]:
    """Run -> what differs here of what it depends on -> what that was and is."""
    here = {cell.folder: cell.depends(details.get(cell.agent.name, {})) for cell in found}
    changed: dict[str, Mapping[str, tuple[str, str]]] = {}
    for run in locked.runs:
        if (now := here.get(run.folder)) is None:
            raise ExperimentError(f"The lock has a run {run.folder!r} that its experiment has not.")
        names = [*run.depends, *(name for name in now if name not in run.depends)]
        different = {
            name: (run.depends.get(name, "nothing")[:16], now.get(name, "nothing")[:16])
            for name in names
            if run.depends.get(name) != now.get(name)
        }
        if different:
            changed[run.folder] = different
    return changed


def _differing(locked: LockedRun, out: Path) -> Sequence[str]:
    """The episodes that came out otherwise, in clauses."""
    told = []
    for was, now in zip(locked.episodes, outcomes(Run.open(out / locked.folder)), strict=False):
        if was != now:
            plain = was.model_dump(mode="json"), now.model_dump(mode="json")
            told.append(
                f"{was.id}: "
                + ", ".join(
                    f"{k} {plain[0][k]} -> {plain[1][k]}"
                    for k in plain[0]
                    if plain[0][k] != plain[1][k]
                )
            )
    return told


def _print_plan(said: Experiment, found: Sequence[ExperimentCell]) -> None:
    """What would be played, what it costs at most, and what models would be asked first."""
    table = Table(
        "environment", "agent", "model", "seeds, sights", "episodes", "decisions at most", box=None
    )
    groups: dict[tuple[str, str], list[ExperimentCell]] = {}
    for cell in found:
        groups.setdefault((cell.env.name, cell.agent.name), []).append(cell)
    decisions = {key: sum(map(_decisions, group)) for key, group in groups.items()}
    for (env, agent), group in groups.items():
        episodes = sum(len(cell.tasks) for cell in group)
        times = f"{len(said.seeds)} x {len(said.sights)}"
        asked = f"{decisions[env, agent]:,}"
        row = (env, agent, group[0].plan.model or "none", times, f"{episodes:,}", asked)
        table.add_row(*map(Text, row))
    answers().print(table)
    for name, cell in _first_cells(found).items():
        calls = sum(count for (_, agent), count in decisions.items() if agent == name)
        prompt = asyncio.run(ask_once(cell, only_prompt=True)).prompt
        _print_prompt(said, cell, calls, prompt)


def _decisions(cell: ExperimentCell) -> int:
    most = cell.plan.max_steps
    return sum(most or task.max_steps for task in cell.tasks)


def _print_prompt(
    said: Experiment, cell: ExperimentCell, calls: int, prompt: Sequence[Message]
) -> None:
    console = answers()
    console.print(
        f"\n{cell.agent.name}: {calls:,} decisions of {cell.plan.model} at most", style="bold"
    )
    if not prompt:
        console.print("This model is not sent messages.")
        return
    texts = [text for message in prompt for text in message.texts]
    images = sum(len(message.images) for message in prompt)
    tokens = sum(map(len, texts)) // _CHARACTERS
    console.print(
        f"First prompt: about {tokens:,} tokens ({_CHARACTERS} characters each) and "
        f"{counted(images, 'image')}."
    )
    if (price := said.prices.get(cell.plan.model or "")) is not None:
        cost = calls * (tokens * price.read + price.reply * price.written) / 1e6
        console.print(f"Cost at most about {cost:,.2f}, without images and history.")
    for message in prompt:
        for part in message.parts:
            console.print(
                f"[{message.role}] {part if isinstance(part, str) else '(image)'}", soft_wrap=True
            )
