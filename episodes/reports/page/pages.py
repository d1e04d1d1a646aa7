"""The three pages: of an episode with its forks, of a run, and of several runs side by side."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from inhabit.envs.core import Task
from inhabit.envs.files import is_regular
from inhabit.envs.marks import without_effect
from inhabit.episodes.credit.schema import EpisodeCredit
from inhabit.episodes.judging.errors import Mistake
from inhabit.episodes.playing.fork import Continuation, PreferencePair, read_pairs
from inhabit.episodes.playing.settings import RunSettings
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, RecordError, Run
from inhabit.episodes.recording.schema import Ending
from inhabit.episodes.reports.floorplan import floor_plan, scene_plan
from inhabit.episodes.reports.page.document import cut, json_block, render
from inhabit.episodes.reports.page.episode_data import NO_SCORES, StepScores, tell
from inhabit.episodes.reports.page.pictures import poster
from inhabit.episodes.reports.page.summary import (
    EpisodeRow,
    LiveEpisode,
    RunJudgement,
    failures,
    funnel,
)
from inhabit.episodes.reports.page.value import value_curve
from inhabit.episodes.reports.wording import ENDINGS
from inhabit.episodes.scoring.comparison import DIFFERENCES
from inhabit.episodes.scoring.scores import Scores
from inhabit.episodes.scoring.sight import INSTEAD, WORTH, sight_rows

_FORK = re.compile(r"forks/[0-9]+")


@dataclass(frozen=True, slots=True)
class Branch:
    """A fork of the episode."""

    step: int
    instead: str
    """What was done otherwise in that step."""
    way: Continuation
    better: bool | None
    """Whether the fork came out better than the original; None where neither did."""
    page: str | None
    """Page of the fork, seen from the episode's; None where there is none."""


def forks(run: Run, episode: EpisodeRecord) -> Sequence[Branch]:
    """Every fork that was made of `episode`, oldest first.

    Raises:
        RecordError: the file that tells of them can't be read.
    """
    return [
        Branch(
            step=pair.step,
            instead=", ".join([*_changes(pair), *_settings(run, pair.fork)]),
            way=pair.forked,
            better=None if pair.better is None else pair.better == "forked",
            page=_page(run, pair.fork),
        )
        for pair in read_pairs(run)
        if pair.episode == episode.number
    ]


def _changes(pair: PreferencePair) -> Iterator[str]:
    changed = pair.changed
    if changed.action is not None:
        yield changed.action
    if changed.hint is not None:
        yield f"told: {changed.hint}"
    if changed.model is not None:
        yield f"asked {changed.model}"


def _settings(run: Run, fork: str) -> Iterator[str]:
    """The settings of effect that a fork changed; none where it can't be read."""
    if not _FORK.fullmatch(fork):
        return
    try:
        forked = Run.open(run.folder / fork).header
    except RecordError:
        return
    earlier, free = run.header.settings.model_dump(), without_effect(RunSettings)
    for owner, settings in forked.settings.model_dump().items():
        for key, value in settings.items():
            if key not in free and earlier[owner].get(key) != value:
                yield f"{key}={value}"


def _page(run: Run, fork: str) -> str | None:
    # What a record from elsewhere names must not lead out of its folder.
    if not _FORK.fullmatch(fork):
        return None
    page = f"{fork}/episodes/00000/index.html"
    return f"../../{page}" if is_regular(run.folder / page, run.folder) else None


AT_FIRST = 200
"""Episodes that a run's page lists before it is asked for all of them."""
_LONGEST_GOAL = 400
"""Characters of a goal or a name in that list."""
AT_MOST = 12
"""Tasks that stand side by side with images; all of them are on the runs' own pages."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A run with what is shown of it beside others."""

    address: str
    """Folder of the run, seen from the common page, as a part of a link."""
    run: Run
    scores: Scores
    rows: Sequence[EpisodeRow]

    @property
    def name(self) -> str:
        """Name of the run's folder, which tells runs of one agent apart."""
        return self.run.name


@dataclass(frozen=True, slots=True)
class TableCell:
    """How one agent did one task."""

    agent: str
    address: str
    row: EpisodeRow
    poster: str | None
    """What stands where the video will be, as a `data:` address."""


@dataclass(frozen=True, slots=True)
class SharedTask:
    """A task, and how each run did it; None for a run that has not got it."""

    task: Task
    cells: tuple[TableCell | None, ...]


def episode_page(
    run: Run,
    episode: EpisodeRecord,
    attempt: Attempt,
    scores: StepScores = NO_SCORES,
    *,
    mistake: Mistake | None = None,
    credit: EpisodeCredit | None = None,
    live: bool = False,
) -> str:
    """All of one attempt, a step at a time.

    `mistake` is the first wrong step. With `live`, the page is served and follows the attempt.
    """
    return render(
        "episode.html",
        live=live,
        run=_name(run),
        header=run.header,
        of=len(run.tasks),
        beside={
            word: place
            for word, place in (("Previous", episode.number - 1), ("Next", episode.number + 1))
            if 0 <= place < len(run.tasks) and is_regular(run.episode(place).file, run.folder)
        },
        number=episode.number,
        task=episode.task,
        scene=episode.task.model_dump(mode="json")["scene"],
        attempt=attempt,
        end=attempt.end,
        endings=ENDINGS,
        story=tell(episode, attempt, scores),
        mistake=mistake,
        curve=value_curve(credit),
        replay=_command("replay", run, "--episode", str(episode.number)),
        fork=_command("fork", run, "--episode", str(episode.number), "--step"),
        plan=floor_plan(attempt, scene_plan(run.header, attempt)),
        video=is_regular(episode.folder / "episode.mp4", run.folder),
        others=[a for a in episode.attempts() if a.start.attempt != attempt.start.attempt],
        forks=forks(run, episode),
    )


def _command(name: str, run: Run, *words: str) -> str:
    """A command to run beside the folder of the run: a page has no path of a machine in it."""
    return shlex.join(["inhabit", name, _name(run), *words])


def _name(run: Run) -> str:
    """The run's folder; of a fork, seen from beside the run that it branched off."""
    *_, above, between, own = ("", "", *run.folder.resolve().parts)
    return f"{above}/forks/{own}" if between == "forks" else own


def run_page(
    run: Run,
    scores: Scores,
    rows: Sequence[EpisodeRow],
    now: Sequence[LiveEpisode] | None = None,
    *,
    judgement: RunJudgement | None = None,
) -> str:
    """A run at a glance: rates, endings, time, failures, and every episode in a list.

    `now` is being played, where the page is served and follows the run.
    """
    header = run.header
    plain = header.model_dump(mode="json")
    ended = {row.end.ending for row in rows if row.end}
    unended = [""] if any(row.end is None for row in rows) else []
    return render(
        "run.html",
        live=now is not None,
        now=now or (),
        name=_name(run),
        header=header,
        scores=scores,
        all_kinds=sorted({row.task.kind for row in rows}),
        endings=ENDINGS,
        all_endings=[e for e in Ending if e in ended] + unended,
        endings_bar=[(f"e-{e}", ENDINGS[e], n, f"{n:,}") for e, n in scores.endings.items()],
        time_bar=_time_bar(scores),
        seconds=sum(scores.seconds.model_dump().values()),
        failures=failures(rows),
        funnel=funnel(rows),
        judgement=judgement,
        worth=WORTH,
        instead=INSTEAD,
        differences=DIFFERENCES,
        rows=rows[:AT_FIRST],
        # For the script, which lays out those that are looked at.
        listed=json_block([_plain(row) for row in rows]),
        ending_names=json_block({ending.value: name for ending, name in ENDINGS.items()}),
        command=shlex.join(header.command),
        settings=plain["settings"],
        software=plain["software"],
        machine=plain["machine"],
        model_details=plain["model_details"],
    )


def _plain(row: EpisodeRow) -> JsonValue:
    end, task = row.end, row.task
    return [
        row.number,
        cut(task.goal, _LONGEST_GOAL),
        task.kind,
        cut(task.id, _LONGEST_GOAL),
        end.ending if end else "",
        [end.met, end.total] if end else None,
        end.steps if end else -1,
        end.invalid if end else -1,
        round(sum(end.seconds.model_dump().values()), 3) if end else -1,
        end.tokens.read + end.tokens.written if end else -1,
        int(row.page) + 2 * int(row.video),
        row.frame,
    ]


def gallery_page(name: str, runs: Sequence[Shown]) -> str:
    """Several runs side by side: their rates, and the same tasks done by each."""
    tasks = {row.task.id: row.task for shown in reversed(runs) for row in shown.rows}
    order = list(dict.fromkeys(row.task.id for shown in runs for row in shown.rows))
    return render(
        "gallery.html",
        name=name,
        runs=runs,
        tasks=[
            SharedTask(tasks[task], tuple(_cell(tasks[task], shown) for shown in runs))
            for task in order[:AT_MOST]
        ],
        left_out=max(0, len(order) - AT_MOST),
        endings=ENDINGS,
        sight_rows=lambda scores: [] if scores.sight is None else sight_rows(scores.sight),
    )


def _time_bar(scores: Scores) -> Sequence[tuple[str, str, float, str]]:
    parts = scores.seconds.model_dump()
    total = sum(parts.values())
    return [
        (f"t-{part}", part, seconds, f"{100 * seconds / total:.0f} %" if total else "")
        for part, seconds in parts.items()
    ]


def _cell(task: Task, shown: Shown) -> TableCell | None:
    row = next((row for row in shown.rows if row.task.id == task.id), None)
    if row is None:
        return None
    episode, header = shown.run.episode(row.number), shown.run.header
    attempt = episode.last()
    return TableCell(
        agent=header.agent,
        address=f"{shown.address}/{row.folder}",
        row=row,
        poster=poster(episode, attempt, header) if attempt else None,
    )
