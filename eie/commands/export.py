"""`inhabit export` and `inhabit import`: runs and sets in the formats of other training code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from inhabit.eie.export.exporter import EXPORTERS, ExportOptions, find_exporter
from inhabit.episodes.commands.output import Json, Set, Trust, print_answer, remarks, tell_unended
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.page.writing import find_runs
from inhabit.episodes.reports.wording import counted


def complete_format(incomplete: str) -> list[str]:
    """The formats whose names begin like this, for the shell."""
    return [name for name in EXPORTERS.names() if name.startswith(incomplete)]


def export(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|SET",
            help="Folder of a run or a data set; for formats with all episodes, also of several "
            "runs.",
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            autocompletion=complete_format,
            help=f"Output format: {', '.join(EXPORTERS.ours)}, or one that an installed package "
            "adds.",
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder to write; it must be new or empty.")
    ],
    videos: Annotated[
        bool,
        typer.Option(
            "--videos",
            help="For a data set in EgoPlan format: re-execute its episodes and add up to eight "
            "keyframes per past action.",
        ),
    ] = False,
    pictures: Annotated[
        int,
        typer.Option(
            min=0,
            help="For messages: images of earlier steps in a row, at least so many where there "
            "are, and fewer than twice as many.",
        ),
    ] = 0,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Convert a run or a data set to another format.

    Of a run, only successful episodes with images are exported; "trajectories", "atif",
    "nemo", "hub" and the trackers tensorboard, wandb and mlflow get all episodes.
    """
    # These import libraries that no other command needs.
    from inhabit.eie.export.export import RunSource, SetSource
    from inhabit.eie.export.export import export as write
    from inhabit.eie.sets.folder import SetFolder

    chosen = find_exporter(form)
    options = ExportOptions(videos, pictures, tuple(assignments or ()), trusted)
    given: RunSource | SetSource
    if (source / "set.json").exists():
        given = SetSource(SetFolder.open(source), options)
    else:
        run, *more = find_runs(source, _refuse) if chosen.every else [Run.open(source)]
        wanted = chosen.write_run is not None and not chosen.every
        if wanted and not any(end and end.success for end in Index(run).ends()):
            raise RecordError(f"Nothing to export: no episode of {source} was successful.")
        given = RunSource(run, options, tuple(more))
    count = write(given, chosen, out)
    if isinstance(given, SetSource) and not given.opened.header.finished:
        remarks().print(f"The set is not finished: {given.opened.header.n} examples are wanted.")
    if isinstance(given, RunSource) and chosen.every:
        tell_unended([given.run, *given.more])
    if sentence := given.left_out.sentence():
        remarks().print(sentence, soft_wrap=True)
    if isinstance(given, RunSource) and given.without_images:
        remarks().print(
            f"Left out {counted(len(given.without_images), 'episode')} without images: the "
            "environment shows none, or the run was recorded with frames=false.",
            soft_wrap=True,
        )
    if not count:
        raise RecordError(f"Nothing was exported: {source} has no sample for {form}.")
    fields: dict[str, JsonValue] = {
        "source": str(source),
        "format": form,
        "out": str(out),
        "count": count,
        "left_out": dict(+given.left_out.counts),
    }
    print_answer(f"Exported {counted(count, chosen.unit)} to {out}.", fields, as_json=as_json)


def _refuse(broken: str) -> None:
    raise RecordError(broken)


def import_(
    source: Annotated[Path, typer.Argument(metavar="FOLDER", help="What was exported.")],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for the runs; it must be new or empty.")
    ],
    as_json: Json = False,
) -> None:
    """Make run folders from trajectories in ATIF.

    FOLDER is what `inhabit export --format atif` wrote. Each run gets a folder of its name, which
    can be replayed, judged and shown as before.
    """
    from inhabit.eie.export.from_atif import read

    runs = read(source, out)
    for name, (there, had) in runs.items():
        if there != had:
            remarks().print(
                f"{name}: {there} of its {had} episodes are there, and are numbered anew. Rates "
                "are of these alone.",
                soft_wrap=True,
            )
    count = sum(there for there, _ in runs.values())
    fields: dict[str, JsonValue] = {"source": str(source), "out": str(out), "count": count}
    print_answer(f"Imported {counted(count, 'episode')} to {out}.", fields, as_json=as_json)
