"""`inhabit show`: pages and films of what was recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from inhabit.episodes.commands.output import Json, answers, print_json, remarks
from inhabit.episodes.recording.reader import RecordError


def show(
    run: Annotated[Path, typer.Argument(help="A run's folder, a folder of runs, or a set's.")],
    video: Annotated[
        bool, typer.Option("--video", help="Make the films that are missing.")
    ] = False,
    gif: Annotated[bool, typer.Option("--gif", help="Make films as GIF too.")] = False,
    episode: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A page of this episode (a task id or a number); repeat."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Pages of all episodes, in a long run too.")
    ] = False,
    together: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A film (.mp4 or .gif) of the episodes that --episode names, side by side: of one "
            "run, or of every run in a folder.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write pages that any browser opens, without network: of the run and of its episodes.

    A set gets one page, and its card. A run of more than 200 episodes gets pages of those that
    --episode names, or of --all.
    """
    if (run / "set.json").exists():
        _show_set(run, as_json)
        return
    if together is not None:
        film = _film_together(run, together, episode or ())
        if as_json:
            print_json({"film": str(film)})
        else:
            answers().print(str(film), soft_wrap=True)
        return
    # Films and pages need much that no other command does.
    from inhabit.episodes.reports.page.writing import Films, find_runs, write_gallery, write_run

    runs = find_runs(run, _leave_out)
    shown = []
    with Progress(console=remarks(), disable=not remarks().is_terminal) as progress:
        bar = progress.add_task("pages", total=sum(len(found.tasks) for found in runs))
        for found in runs:
            chosen = list(found.episodes()) if every else None
            if episode:
                chosen = [found.find(name) for name in episode]
            films = Films(video, gif)
            try:
                shown.append(write_run(found, films, lambda _: progress.advance(bar), chosen))
            except RecordError as error:
                if len(runs) == 1:
                    raise
                _leave_out(str(error))
    page = run / "index.html"
    if runs[0].folder != run:
        write_gallery(run, shown)
    if as_json:
        print_json(
            {
                "page": str(page),
                "runs": [str(one.run.folder) for one in shown],
                "episodes": sum(len(one.rows) for one in shown),
                "films": sum(row.video for one in shown for row in one.rows),
            }
        )
    else:
        answers().print(str(page), soft_wrap=True)


def _leave_out(why: str) -> None:
    remarks().print(f"Left out: {why}", style="yellow", soft_wrap=True)


def _show_set(folder: Path, as_json: bool) -> None:
    from inhabit.eie.sets.card import write_card
    from inhabit.eie.sets.folder import SetFolder
    from inhabit.eie.sets.page.writing import write_page

    opened = SetFolder.open(folder)
    write_card(opened)
    page = write_page(opened)
    if as_json:
        print_json({"page": str(page), "set": str(folder)})
    else:
        answers().print(str(page), soft_wrap=True)


def _film_together(folder: Path, file: Path, names: Sequence[str]) -> Path:
    from inhabit.episodes.reports.page.writing import find_runs
    from inhabit.episodes.reports.video.encode import write_together
    from inhabit.episodes.reports.video.side_by_side import MOST, Side, name_of

    if file.suffix not in (".mp4", ".gif"):
        raise typer.BadParameter(f"--together writes an .mp4 or a .gif, not {file.name!r}.")
    runs = find_runs(folder, _leave_out)
    sides = []
    for found in runs:
        for asked in names:
            one = found.find(asked)
            if (attempt := one.last()) is not None:
                name = name_of(found.header) if len(runs) > 1 else one.task.goal
                sides.append(Side(name, one, attempt))
    if not 1 <= len(sides) <= MOST:
        raise typer.BadParameter(
            f"--together shows 1 to {MOST} episodes side by side, and these are {len(sides)}: name "
            "them with --episode."
        )
    return write_together(file, sides)
