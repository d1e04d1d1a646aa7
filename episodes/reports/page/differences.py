"""A page of two columns, step by step, that can show only where they differ."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from urllib.parse import quote

from inhabit.envs.files import is_regular
from inhabit.episodes.playing.replan import Replanned
from inhabit.episodes.playing.retrace import Replay
from inhabit.episodes.recording.disk import write_text
from inhabit.episodes.recording.reader import EpisodeRecord, Run, StepRecord
from inhabit.episodes.recording.schema import EndLine
from inhabit.episodes.reports.page.document import render
from inhabit.episodes.reports.page.pictures import thumbnail
from inhabit.episodes.reports.wording import ENDINGS, apart, counted
from inhabit.episodes.scoring.comparison import Comparison, PairedTask

_LONGEST = 400
"""Characters of a value that a replay changed."""
_PICTURE = 360
"""Pixels of an image's longer side."""


@dataclass(frozen=True, slots=True)
class DiffCell:
    """One side of a step."""

    text: str
    worked: bool | None = None
    """Whether the action worked; None where nothing was executed, or it is not told."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A step on both sides."""

    step: int
    first: DiffCell
    second: DiffCell

    @property
    def differs(self) -> bool:
        """Whether the sides differ."""
        return self.first != self.second


@dataclass(frozen=True, slots=True)
class DiffSide:
    """One side of an episode."""

    verdict: str
    good: bool | None = None
    page: str | None = None
    """A link to the page of the episode; None where there is none."""
    picture: str | None = None
    """What was seen where the sides part, as a `data:` address."""


@dataclass(frozen=True, slots=True)
class DiffItem:
    """An episode on both sides."""

    title: str
    id: str
    first: DiffSide
    second: DiffSide
    rows: Sequence[DiffRow]
    differs: bool
    part: int | None
    """The first step that differs."""

    @property
    def shared_picture(self) -> str | None:
        """What both sides saw at that step; None where they saw different images."""
        seen = {side.picture for side in (self.first, self.second) if side.picture}
        return seen.pop() if len(seen) == 1 else None


def compare_items(found: Comparison, first: Run, second: Run, page: Path) -> Iterable[DiffItem]:
    """The tasks that ended in both runs, in the order of the first.

    `page` is the file from which links lead.

    Raises:
        RecordError: a record can't be read.
    """
    places = {task.id: number for number, task in enumerate(second.tasks)}
    for number, task in enumerate(first.tasks):
        pair = found.paired.get(task.id)
        if pair is not None:
            yield _compared(pair, first.episode(number), second.episode(places[task.id]), page)


def replan_items(steps: Sequence[Replanned], page: Path) -> Iterable[DiffItem]:
    """The recorded decisions and another agent's, by episode."""
    by_episode: dict[int, list[Replanned]] = {}
    for step in steps:
        by_episode.setdefault(step.episode.number, []).append(step)
    for asked in by_episode.values():
        episode = asked[0].episode
        rows = [DiffRow(s.step, DiffCell(s.recorded.said), DiffCell(_said(s))) for s in asked]
        agreed = sum(step.agrees for step in asked)
        part = next((step.step for step in asked if not step.agrees), None)
        yield DiffItem(
            title=episode.task.goal,
            id=episode.task.id,
            first=DiffSide("recorded", None, _link(episode, page), _seen(episode, part)),
            second=DiffSide(f"{agreed} of {len(asked)} steps agree"),
            rows=rows,
            differs=agreed < len(asked),
            part=part,
        )


def replay_items(replays: Sequence[Replay], page: Path) -> Iterable[DiffItem]:
    """Recorded episodes, and the first step at which a re-execution differed."""
    for one in replays:
        episode, different = one.episode, one.difference
        part = None if different is None else different.step
        rows = []
        if different is not None:
            was, now = (
                DiffCell(f"{different.what}: {value}")
                for value in apart(str(different.recorded), str(different.replayed), _LONGEST)
            )
            rows = [DiffRow(different.step, was, now)]
        yield DiffItem(
            title=episode.task.goal,
            id=episode.task.id,
            first=DiffSide(
                f"{counted(one.steps, 'step')} identical",
                None,
                _link(episode, page),
                _seen(episode, part),
            ),
            second=DiffSide("identical" if different is None else "differs", different is None),
            rows=rows,
            differs=different is not None,
            part=part,
        )


def write_differences(
    file: Path,
    title: str,
    sides: tuple[str, str],
    facts: Mapping[str, str],
    items: Iterable[DiffItem],
) -> Path:
    """Write the page of `items`, with `facts` above them.

    Raises:
        DiskError: it can't be written.
    """
    listed = list(items)
    text = render(
        "differences.html",
        title=title,
        sides=sides,
        facts=facts,
        items=listed,
        differing=sum(item.differs for item in listed),
    )
    return write_text(file, file.parent, text)


def _compared(pair: PairedTask, one: EpisodeRecord, other: EpisodeRecord, page: Path) -> DiffItem:
    left, right = ([_cell(s) for s in of.steps() if s.decide] for of in (one, other))
    nothing = DiffCell("")
    rows = [
        DiffRow(number, first or nothing, second or nothing)
        for number, (first, second) in enumerate(zip_longest(left, right))
    ]
    part = next((row.step for row in rows if row.differs), None)
    return DiffItem(
        title=pair.task.goal,
        id=pair.task.id,
        first=_side(one, pair.first, page, part),
        second=_side(other, pair.second, page, part),
        rows=rows,
        part=part,
        differs=part is not None or pair.first.success != pair.second.success,
    )


def _side(episode: EpisodeRecord, end: EndLine, page: Path, part: int | None) -> DiffSide:
    steps = counted(end.steps, "step")
    verdict = f"{ENDINGS[end.ending]}, {end.met} of {counted(end.total, 'goal condition')}, {steps}"
    return DiffSide(verdict, end.success, _link(episode, page), _seen(episode, part))


def _cell(step: StepRecord) -> DiffCell:
    decide, act = step.decide, step.act
    assert decide is not None
    return DiffCell(decide.said, None if act is None else act.reason is None)


def _said(step: Replanned) -> str:
    decision = step.decision
    if decision is None:
        return f"model fault: {step.error}"
    if decision.action is not None:
        return decision.action.text
    return "stop" if decision.stop else decision.raw or "no readable action"


def _link(episode: EpisodeRecord, page: Path) -> str | None:
    file = episode.folder / "index.html"
    if not is_regular(file, episode.run):
        return None
    return quote(os.fsencode(os.path.relpath(file.resolve(), page.parent.resolve())))


def _seen(episode: EpisodeRecord, step: int | None) -> str | None:
    steps = () if step is None else episode.steps()[step : step + 1]
    file = episode.frame(steps[0].see) if steps else None
    return None if file is None else thumbnail(file, episode.run, _PICTURE)
