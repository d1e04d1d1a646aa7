"""`inhabit export`: converts a data set or a run to the format of other training code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from inhabit.eie.export.exporter import EXPORTERS
from inhabit.eie.export.formats import ExportFormat
from inhabit.eie.export.llava import Pictures
from inhabit.episodes.commands.output import Json, Set, Trust, answers, print_json, remarks
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.page.writing import runs_in


def complete_format(incomplete: str) -> list[str]:
    """The formats whose names begin like this, for the shell."""
    names = [*(form.value for form in ExportFormat), *EXPORTERS.names()]
    return [name for name in names if name.startswith(incomplete)]


def export(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|SET",
            help="Folder of a run or of a data set; for trajectories, also a folder of runs.",
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            autocompletion=complete_format,
            help="Output format. Runs and data sets: llava, llava-interleave, messages, egoplan, "
            "recognition. Runs: lerobot, trajectories. Data sets: pca, jsonl. Or one that an "
            "installed package adds.",
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
        Pictures,
        typer.Option(
            help="Images of a row in LLaVA's format: the last one; a grid of all in one image; or "
            "all, as llava-interleave has them.",
        ),
    ] = Pictures.LAST,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Convert a run or a data set to another format.

    Of a run, only successful episodes are exported; "trajectories" holds all of them, with
    rewards.
    """
    # Exporters import libraries that no other command needs.
    from inhabit.eie.export.formats import (
        Exported,
        export_run,
        export_set,
        export_trajectories,
        find_format,
    )
    from inhabit.eie.sets.folder import SetFolder

    chosen = find_format(form)
    is_set = (source / "set.json").exists()
    rewarded = chosen is ExportFormat.TRAJECTORIES
    if (
        not is_set
        and not rewarded
        and not any(end and end.success for end in Index(Run.open(source)).ends())
    ):
        raise RecordError(f"Nothing to export: no episode of {source} was successful.")
    if is_set:
        result = export_set(
            SetFolder.open(source),
            chosen,
            out,
            videos=videos,
            pictures=pictures,
            assignments=assignments or (),
            trusted=trusted,
        )
    elif videos:
        raise RecordError(f"{source} is not a data set: --videos works on data sets only.")
    elif rewarded:
        result = Exported(export_trajectories(_runs(source), out))
    else:
        result = export_run(
            Run.open(source),
            chosen,
            out,
            pictures=pictures,
            assignments=assignments or (),
            trusted=trusted,
        )
    if result.sentence:
        remarks().print(result.sentence, soft_wrap=True)
    if not result.count:
        raise RecordError(f"Nothing was exported: {source} has no sample for {form}.")
    if as_json:
        print_json(
            {
                "source": str(source),
                "format": form,
                "out": str(out),
                "count": result.count,
                "left_out": dict(result.left_out),
            }
        )
    else:
        whole = (ExportFormat.LEROBOT, ExportFormat.TRAJECTORIES)
        what = "episodes" if chosen in whole else "samples"
        answers().print(f"Exported {result.count} {what} to {out}.", soft_wrap=True)


def _runs(source: Path) -> Sequence[Run]:
    """The run in a folder, or those in the folders right below it.

    Raises:
        RecordError: there is none, or one of them is broken.
    """
    if (source / "run.json").exists():
        return [Run.open(source)]
    found, broken = runs_in(source)
    if broken:
        raise broken[0]
    return found or [Run.open(source)]
