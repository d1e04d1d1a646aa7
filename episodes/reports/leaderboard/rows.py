"""The leaderboard: a line for every run in a folder, as CSV or as one HTML file."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO
from warnings import warn

from pydantic import BaseModel

from inhabit.envs.printable import cell
from inhabit.episodes.judging.oracle import Oracle
from inhabit.episodes.judging.schema import EpisodeLine, StepLine, file_of, judged
from inhabit.episodes.judging.summary import PartScore, summarize
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.recording.schema import Sight
from inhabit.episodes.reports.page.document import pieces
from inhabit.episodes.reports.page.writing import find_runs
from inhabit.episodes.scoring.comparison import DIFFERENCES, changed_settings
from inhabit.episodes.scoring.metric import METRICS
from inhabit.episodes.scoring.scores import Measured, Scores, score
from inhabit.episodes.scoring.sight import INSTEAD, WORTH, companions


class RunRow(BaseModel, frozen=True):
    """A run."""

    folder: str
    board: str
    """What the runs of one board share: environment, backend, candidates, grants, limit, tasks."""
    env: str
    backend: str
    candidates: str
    grants: str
    limit: str
    """Actions of an episode, at the most."""
    tasks: str
    """Number of tasks, and a short hash of them all."""
    settings: str
    """Settings of the environment that are not the default ones; empty if all are."""
    agent: str
    model: str
    image: Sight
    seed: int
    scores: Scores
    action: PartScore | None
    """Action score by the oracle; None where `inhabit judge` has not been run."""
    genuine: PartScore | None
    command: tuple[str, ...]

    @property
    def left(self) -> int:
        """Tasks that have not been played to their end."""
        return self.scores.planned - self.scores.episodes

    @property
    def figures(self) -> Mapping[str, Measured]:
        """Its metrics that have a figure, by name."""
        return {one.metric.name: one for one in self.scores.measured()}


def rows(folder: Path, leave_out: Callable[[str], None] = warn) -> Sequence[RunRow]:
    """The runs in `folder`, at any depth: board by board, the best of each first, and after all
    others those that have not ended.

    Forks are left out: they begin with the actions of another run.

    `leave_out` is told what is wrong with a run that can't be read.

    Raises:
        RecordError: there is none that is whole.
    """
    runs: list[Run] = []
    for run in find_runs(folder, leave_out, "**/run.json"):
        if run.header.fork is not None:
            continue
        try:
            for one in (run, *companions(run)):
                list(Index(one).ends())
            _judgements(run)
            runs.append(run)
        except RecordError as error:
            leave_out(str(error))
    if not runs:
        raise RecordError(f"{folder} holds no run that is whole and no fork.")
    found = [_row(run, runs) for run in runs]
    return sorted(
        found, key=lambda row: (row.board, row.left > 0, -row.scores.success_rate, row.folder)
    )


def write_csv(found: Sequence[RunRow], stream: TextIO) -> None:
    """The table as CSV, one row a run."""
    lines = [_flat(row) for row in found]
    table = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
    table.writeheader()
    for line in lines:
        table.writerow({k: cell(v) if isinstance(v, str) else v for k, v in line.items()})


def _judgements(run: Run) -> tuple[list[StepLine], list[EpisodeLine]]:
    return judged(run, file_of(run, Oracle.name))


def _row(run: Run, runs: Sequence[Run]) -> RunRow:
    header = run.header
    tasks = hashlib.sha256("".join(task.model_dump_json() for task in run.tasks).encode())
    steps, episodes = _judgements(run)
    judged = summarize("", Oracle.name, steps, episodes).overall if episodes else None
    named = (
        f"{len(run.tasks)} {'task' if len(run.tasks) == 1 else 'tasks'} ({tasks.hexdigest()[:8]})"
    )
    grants = ", ".join(header.told) or "none"
    most = header.max_steps
    limit = "the tasks' own" if most is None else f"{most} {'step' if most == 1 else 'steps'}"
    conditions = (header.env, header.backend, header.candidates.value, grants, limit, named)
    return RunRow(
        folder=str(run.folder),
        board=" / ".join(conditions),
        env=header.env,
        backend=header.backend,
        candidates=header.candidates.value,
        grants=grants,
        limit=limit,
        tasks=named,
        settings=changed_settings(header),
        agent=header.agent,
        model=header.model or "",
        image=header.image,
        seed=header.seed,
        scores=score(run, others=runs),
        action=None if judged is None else judged.action,
        genuine=None if judged is None else judged.genuine,
        command=header.command,
    )


def _flat(row: RunRow) -> Mapping[str, object]:
    scores = row.scores
    return {
        **{name: getattr(row, name) for name in ("env", "backend", "candidates", "grants")},
        **{name: getattr(row, name) for name in ("limit", "tasks", "settings")},
        **{name: getattr(row, name) for name in ("agent", "model", "seed")},
        "image": row.image.value,
        "episodes": scores.episodes,
        "left": row.left,
        "faults": scores.faults,
        **dict(_columns(scores)),
        "action": None if row.action is None else row.action.mean,
        "genuine": None if row.genuine is None else row.genuine.mean,
        **dict(_worth(scores)),
        "folder": row.folder,
    }


def _columns(scores: Scores) -> Iterator[tuple[str, object]]:
    """Every metric, whether or not it has a figure, and the ends of its interval."""
    for metric in METRICS.usable()[0]:
        yield metric.name, getattr(scores, metric.name, None)
        if metric.interval is not None:
            low, high = getattr(scores, metric.interval_name, (None, None))
            stem = metric.name.removesuffix("_rate")
            yield from ((f"{stem}_low", low), (f"{stem}_high", high))


def _worth(scores: Scores) -> Iterator[tuple[str, object]]:
    """What pictures are worth, and the ends of its interval, for every kind of other pictures."""
    for sight in INSTEAD:
        differences = (scores.sight or {}).get(sight, {})
        for name in WORTH:
            one = differences.get(name)
            yield f"sight_{sight}_{name}", None if one is None else one.value
            for end, which in enumerate(("low", "high")):
                yield f"sight_{sight}_{name}_{which}", None if one is None else one.interval[end]


_FILTERS = ("env", "backend", "candidates", "grants", "limit", "agent", "image")


def page(found: Sequence[RunRow]) -> str:
    """All boards, with filters for what their runs differ in."""
    choices = {name: sorted({str(getattr(row, name)) for row in found}) for name in _FILTERS}
    boards: dict[str, list[RunRow]] = {}
    for row in found:
        boards.setdefault(row.board, []).append(row)
    return "".join(
        pieces(
            "leaderboard.html",
            folder=Path(__file__).parent,
            boards=boards,
            worth=WORTH,
            instead=INSTEAD,
            differences=DIFFERENCES,
            filters={name: values for name, values in choices.items() if len(values) > 1},
            metrics=[m for m in METRICS.usable()[0] if any(m.name in row.figures for row in found)],
            runs=len(found),
        )
    )
