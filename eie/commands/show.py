"""`inhabit show`: writes HTML pages and videos of runs and data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import JsonValue

from inhabit.envs.extras import require
from inhabit.episodes.commands.output import Json, Set, Trust, print_answer, remarks
from inhabit.episodes.commands.progress import ProgressReport
from inhabit.episodes.recording.reader import RecordError, Run

if TYPE_CHECKING:
    from inhabit.episodes.reports.page.writing import Videos


def show(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Folder of a run, of several runs, or of a data set."
        ),
    ],
    video: Annotated[
        bool, typer.Option("--video", help="Also write an MP4 video of each episode.")
    ] = False,
    gif: Annotated[
        bool, typer.Option("--gif", help="Also write an animated GIF of each episode.")
    ] = False,
    episode: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Task id or number of an episode to show; repeat for more. [default: "
            "all, up to 200]",
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Write a page for every episode of a run with more than 200."),
    ] = False,
    together: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write one video (.mp4 or .gif) that shows the episodes named by --episode side "
            "by side: of one run, or of every run in FOLDER.",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTHxHEIGHT",
            help="With --video or --gif: re-execute each episode and render its images at this "
            "size, such as 640x480, with the movement between steps where the environment has it.",
        ),
    ] = None,
    figure: Annotated[
        bool,
        typer.Option(
            "--figure",
            help="Write each --episode as a figure for a paper (SVG and PDF, one column and two "
            "columns wide) instead.",
        ),
    ] = False,
    steps: Annotated[
        str | None,
        typer.Option(
            metavar="N,...",
            help="With --figure: the steps to show. [default: the costliest, or "
            "without `inhabit credit` evenly spaced ones]",
        ),
    ] = None,
    assignments: Set = None,
    trusted: Trust = False,
    as_json: Json = False,
) -> None:
    """Write HTML pages and videos of a run or a data set.

    The pages are self-contained files. A run gets a page and one for each episode, a folder of
    runs also a page that compares them, and a data set a page and a data card.
    """
    is_set = (run / "set.json").exists()
    given = {
        **{"--video": video, "--gif": gif, "--episode": episode, "--all": every, "--size": size},
        **{"--together": together, "--figure": figure, "--steps": steps},
        **{"--set": assignments, "--trust-record": trusted},
    }
    modes = (
        (is_set, "on a data set", ""),
        (together is not None, "with --together", "--together --episode"),
        (figure, "with --figure", "--figure --episode --steps"),
        (size is None, "without --size or --figure", "--video --gif --episode --all"),
        (True, "without --figure", "--video --gif --episode --all --size --set --trust-record"),
    )
    # The first that holds.
    why, used = next((why, options.split()) for holds, why, options in modes if holds)
    if unused := [name for name, value in given.items() if value and name not in used]:
        raise typer.BadParameter(f"{unused[0]} has no effect {why}.")
    if every and episode:
        raise typer.BadParameter("--all has no effect with --episode.")
    if is_set:
        _show_set(run, as_json)
        return
    if together is not None:
        file = _write_together(run, together, episode or ())
        print_answer(str(file), {"video": str(file)}, as_json=as_json)
        return
    if figure:
        files = _write_figures(Run.open(run), episode or (), steps)
        told = "\n".join(map(str, files))
        print_answer(told, {"figures": [str(file) for file in files]}, as_json=as_json)
        return
    # Pages and videos import libraries that no other command needs.
    from inhabit.episodes.reports.page.writing import ALL_PAGES, find_runs, write_gallery, write_run

    if size is not None and not (video or gif):
        raise typer.BadParameter("--size is for videos: add --video or --gif.")
    runs = find_runs(run, _leave_out)
    pages = [
        [found.find(name) for name in episode]
        if episode
        else list(found.episodes() if every or len(found.tasks) <= ALL_PAGES else ())
        for found in runs
    ]
    shown = []
    with ProgressReport("episodes", sum(map(len, pages))) as progress:
        for found, chosen in zip(runs, pages, strict=True):
            videos = _videos(found, size, assignments or (), video=video, gif=gif, trusted=trusted)
            try:
                shown.append(write_run(found, videos, lambda _: progress.advance(), chosen))
            except RecordError as error:
                if len(runs) == 1:
                    raise
                _leave_out(str(error))
    if not shown:
        raise RecordError(f"{run} holds no run that is whole.")
    page = run / "index.html"
    if runs[0].folder != run:
        write_gallery(run, shown)
    fields: dict[str, JsonValue] = {
        "page": str(page),
        "runs": [str(one.run.folder) for one in shown],
        "episodes": sum(len(one.rows) for one in shown),
        "videos": sum(row.video for one in shown for row in one.rows),
    }
    print_answer(str(page), fields, as_json=as_json)


def _videos(
    run: Run, size: str | None, assignments: Sequence[str], *, video: bool, gif: bool, trusted: bool
) -> Videos:
    from inhabit.episodes.reports.page.writing import Videos

    if size is None:
        return Videos(video, gif)
    from inhabit.episodes.reports.video.encode import video_camera

    camera = video_camera(run, _pixels(size), assignments, trusted=trusted)
    if isinstance(camera, str):
        name = run.name
        remarks().print(
            f"{name} is shown by its recorded images: {camera}", style="yellow", soft_wrap=True
        )
        return Videos(video, gif)
    return Videos(video, gif, camera, lambda why: remarks().print(why, style="yellow"))


def _write_figures(run: Run, names: Sequence[str], steps: str | None) -> Sequence[Path]:
    from inhabit.episodes.credit.credit import credits_of
    from inhabit.episodes.reports.figure.figure import WIDTHS, write_figure

    credits, files = credits_of(run), list[Path]()
    shown = [step.strip() for step in (steps or "").split(",") if step.strip()]
    if wrong := [step for step in shown if not (step.isascii() and step.isdecimal())]:
        raise typer.BadParameter(f"--steps takes numbers, such as 0,4,9, not {wrong[0]!r}.")
    try:
        for episode in [run.find(name) for name in names or ("0",)]:
            for width in WIDTHS:
                credit, chosen = credits.get(episode.number), [*map(int, shown)]
                files += write_figure(run, episode, credit, chosen, width=width)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return files


def _pixels(size: str) -> tuple[int, int]:
    width, _, height = size.partition("x")
    if not (width.isascii() and width.isdecimal() and height.isascii() and height.isdecimal()):
        raise typer.BadParameter(f"--size is WIDTHxHEIGHT, such as 640x480, not {size!r}.")
    if not all(64 <= int(side) <= _LARGEST for side in (width, height)):
        raise typer.BadParameter(f"--size takes 64 to {_LARGEST} pixels a side, not {size!r}.")
    return int(width), int(height)


_LARGEST = 2048
"""Pixels of a side of rendered images."""


def _leave_out(why: str) -> None:
    remarks().print(f"Left out: {why}", style="yellow", soft_wrap=True)


def _show_set(folder: Path, as_json: bool) -> None:
    require("sklearn", "sets", "Data sets")
    from inhabit.eie.sets.card import write_card
    from inhabit.eie.sets.folder import SetFolder
    from inhabit.eie.sets.page.writing import write_page

    opened = SetFolder.open(folder)
    write_card(opened)
    page = write_page(opened)
    print_answer(str(page), {"page": str(page), "set": str(folder)}, as_json=as_json)


def _write_together(folder: Path, file: Path, names: Sequence[str]) -> Path:
    from inhabit.episodes.reports.page.writing import find_runs
    from inhabit.episodes.reports.video.encode import write_together
    from inhabit.episodes.reports.video.side_by_side import MOST, Side, name_of

    if file.suffix not in (".mp4", ".gif"):
        raise typer.BadParameter(f"--together writes an .mp4 or a .gif file, not {file.name!r}.")
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
            f"--together shows 1 to {MOST} episodes, not {len(sides)}. Name them with --episode."
        )
    return write_together(file, sides)
