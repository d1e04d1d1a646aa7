"""What an experiment leaves in its folder: tables, the lock, and a page with curves and links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inhabit.episodes.experiments.cells import ExperimentCell, outcomes
from inhabit.episodes.experiments.schema import LOCK, Experiment, Lock, LockedRun
from inhabit.episodes.experiments.tables import Ends, ResultTable, as_csv, named, results, tables
from inhabit.episodes.recording.disk import write_text
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending, EndLine
from inhabit.episodes.reports.page.document import render
from inhabit.episodes.reports.page.writing import Videos, write_run
from inhabit.episodes.reports.wording import ENDINGS, counted

_LINKED = 3
"""Best and worst episodes of each agent that the page links to."""
_COLOURS = ("#1f6f8b", "#b5532a", "#5b7f2b", "#7a4f9a", "#8a6d1d", "#36454f")


def write_report(
    experiment: Experiment, found: Sequence[ExperimentCell], folder: Path
) -> Sequence[ResultTable]:
    """Write `results.md`, `.tex` and `.csv`, the lock and the page, and return the tables.

    Raises:
        RecordError: a record is broken.
        DiskError: a file can't be written.
    """
    runs = {cell.folder: Run.open(folder / cell.folder) for cell in found}
    ends: Ends = {
        place: [end for end in Index(run).ends() if end is not None] for place, run in runs.items()
    }
    told = results(found, ends)
    made = list(tables(experiment, told))
    head = f"# {experiment.name}\n\n" + (
        f"{experiment.about.strip()}\n\n" if experiment.about else ""
    )
    write_text(folder / "results.md", folder, head + "".join(one.markdown() for one in made))
    write_text(folder / "results.tex", folder, "".join(one.latex() for one in made))
    write_text(folder / "results.csv", folder, as_csv(told))
    lock = Lock(
        experiment=experiment,
        runs=tuple(
            LockedRun(
                folder=cell.folder,
                depends=cell.depends(runs[cell.folder].header.model_details),
                episodes=tuple(outcomes(runs[cell.folder])),
            )
            for cell in found
        ),
    )
    write_text(folder / LOCK, folder, lock.model_dump_json(indent=1) + "\n")
    write_text(folder / "index.html", folder, _page(experiment, found, runs, ends, made))
    return made


@dataclass(frozen=True, slots=True)
class Line:
    """The share of episodes that are solved within so much, as a line of a plot."""

    name: str
    colour: str
    points: str
    """Points of an SVG polyline, in a square of 100 with y downwards."""
    dashes: str
    """SVG dash pattern, so that lines below this one show where they are equal."""
    last: float


@dataclass(frozen=True, slots=True)
class ScoreCurve:
    """Success against steps or tokens, in one environment."""

    env: str
    against: str
    most: str
    """The largest number of `against`, with its unit."""
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Linked:
    """An episode that the page links to."""

    run: str
    goal: str
    told: str
    page: str


def _page(
    experiment: Experiment,
    found: Sequence[ExperimentCell],
    runs: Mapping[str, Run],
    ends: Ends,
    made: Sequence[ResultTable],
) -> str:
    used = [e for e in Ending if any(end.ending is e for those in ends.values() for end in those)]
    groups = _groups(found)
    best, worst = _extremes(found, runs, ends)
    return render(
        "experiment.html",
        name=experiment.name,
        about=experiment.about,
        tables=made,
        curves=list(_curves(groups, ends)),
        endings=[ENDINGS[one] for one in used],
        confusion=[
            (f"{env}: {name}", [sum(e.ending is one for e in _ends(cells, ends)) for one in used])
            for (env, name), cells in groups.items()
        ],
        linked=(("Best episodes", best), ("Worst episodes", worst)),
        runs=[(cell.folder, f"{cell.folder}/index.html") for cell in found],
    )


def _groups(found: Sequence[ExperimentCell]) -> Mapping[tuple[str, str], Sequence[ExperimentCell]]:
    """(environment, agent with its sight) -> its runs, one for each seed."""
    groups: dict[tuple[str, str], list[ExperimentCell]] = {}
    for cell in found:
        groups.setdefault((cell.env.name, named(cell.agent.name, cell.sight)), []).append(cell)
    return groups


def _ends(cells: Sequence[ExperimentCell], ends: Ends) -> list[EndLine]:
    return [end for cell in cells for end in ends[cell.folder]]


def _curves(
    groups: Mapping[tuple[str, str], Sequence[ExperimentCell]], ends: Ends
) -> Iterator[ScoreCurve]:
    for env in dict.fromkeys(env for env, _ in groups):
        named = {
            name: _ends(cells, ends) for (where, name), cells in groups.items() if where == env
        }
        for against in ("steps", "tokens"):
            spent = {name: [_spent(end, against) for end in those] for name, those in named.items()}
            if most := max(max(those, default=0) for those in spent.values()):
                lines = [
                    _line(name, (place, len(named)), those, spent[name], most)
                    for place, (name, those) in enumerate(named.items())
                ]
                yield ScoreCurve(env, against, counted(most, against[:-1]), lines)


def _spent(end: EndLine, what: str) -> int:
    return end.steps if what == "steps" else end.tokens.read + end.tokens.written


def _line(
    name: str, place: tuple[int, int], ends: Sequence[EndLine], spent: Sequence[int], most: float
) -> Line:
    """The line of one agent, which has this `place` of so many."""
    solved = sorted(cost for end, cost in zip(ends, spent, strict=True) if end.success)
    points, share = ["0,100"], 0.0
    for number, cost in enumerate(solved, 1):
        x, before, share = 100 * cost / most, share, number / len(ends)
        points += [f"{x:.2f},{100 - 100 * before:.2f}", f"{x:.2f},{100 - 100 * share:.2f}"]
    points.append(f"100,{100 - 100 * share:.2f}")
    first, all_ = place
    dashes = f"{2 * (all_ - first)} {2 * first}"
    return Line(name, _COLOURS[first % len(_COLOURS)], " ".join(points), dashes, share)


def _extremes(
    found: Sequence[ExperimentCell], runs: Mapping[str, Run], ends: Ends
) -> tuple[Sequence[Linked], Sequence[Linked]]:
    """The best and the worst episodes of each agent, whose pages are written, and those of runs."""
    best: list[tuple[ExperimentCell, int]] = []
    worst: list[tuple[ExperimentCell, int]] = []
    for group in _groups(found).values():
        every = [(cell, number) for cell in group for number in range(len(ends[cell.folder]))]
        order = sorted(every, key=lambda one: _rank(ends[one[0].folder][one[1]]))
        best += [(c, n) for c, n in order[:_LINKED] if ends[c.folder][n].success]
        worst += [(c, n) for c, n in order[: -_LINKED - 1 : -1] if not ends[c.folder][n].success]
    for cell in found:
        run = runs[cell.folder]
        chosen = [run.episode(n) for n in sorted({n for c, n in (*best, *worst) if c == cell})]
        write_run(run, Videos(), lambda _: None, chosen)
    linked = [
        [_linked(cell, runs[cell.folder], n, ends[cell.folder][n]) for cell, n in those]
        for those in (best, worst)
    ]
    return linked[0], linked[1]


def _rank(end: EndLine) -> tuple[bool, float, int]:
    """The best first: solved, then with most conditions met, then with the fewest steps."""
    return not end.success, -(end.met / end.total if end.total else 0.0), end.steps


def _linked(cell: ExperimentCell, run: Run, number: int, end: EndLine) -> Linked:
    steps = counted(end.steps, "step")
    told = f"{ENDINGS[end.ending]}, {end.met} of {end.total} conditions, {steps}"
    page = f"{cell.folder}/episodes/{number:05d}/index.html"
    return Linked(cell.folder.removeprefix("runs/"), run.tasks[number].goal, told, page)
