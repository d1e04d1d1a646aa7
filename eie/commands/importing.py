"""`inhabit import`: makes run folders of trajectories that were exported from runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from inhabit.episodes.commands.output import Json, print_answer, remarks


def import_(
    source: Annotated[Path, typer.Argument(metavar="FOLDER", help="What was exported.")],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder for the runs; it must be new or empty.")
    ],
    as_json: Json = False,
) -> None:
    """Make run folders of trajectories in ATIF.

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
    print_answer(f"Imported {count} episodes to {out}.", fields, as_json=as_json)
