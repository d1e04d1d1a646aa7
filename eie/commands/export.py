"""`inhabit export`: a set or a run in the form that other people's training code reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inhabit.eie.export.formats import ExportFormat
from inhabit.episodes.commands.output import Json, Set, Trust, answers, print_json
from inhabit.episodes.recording.reader import RecordError, Run


def export(
    source: Annotated[
        Path, typer.Argument(metavar="RUN|SET", help="The folder of a run or of a set.")
    ],
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="Of a run, what went well is taken: llava, messages, egoplan, lerobot. "
            "Of a set: llava, messages, egoplan, pca.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write, empty or not there yet.")],
    films: Annotated[
        bool,
        typer.Option(
            "--films",
            help="Of a set, in EgoPlan's form: play its episodes again, and show what was seen on "
            "the way, by up to eight keyframes an action.",
        ),
    ] = False,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Write a set of examples, or the successful episodes of a run, in another form."""
    # Forms need much that no other command does.
    from inhabit.eie.export.formats import export_run, export_set
    from inhabit.eie.sets.folder import SetFolder

    if (source / "set.json").exists():
        count = export_set(
            SetFolder.open(source),
            form,
            out,
            films=films,
            assignments=assignments or (),
            trusted=trusted,
        )
    elif films:
        raise RecordError(f"{source} is no set, and only a set's episodes are filmed.")
    else:
        count = export_run(Run.open(source), form, out)
    if as_json:
        print_json({"source": str(source), "format": form.value, "out": str(out), "count": count})
    else:
        what = "episodes" if form is ExportFormat.LEROBOT else "samples"
        answers().print(f"{count} {what} in {out}", soft_wrap=True)
