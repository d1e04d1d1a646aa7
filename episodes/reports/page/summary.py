"""What the page of a run counts, beyond its scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inhabit.envs.core import Reason, Task
from inhabit.envs.files import is_regular
from inhabit.episodes.recording.index import IndexEntry
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord
from inhabit.episodes.recording.schema import EndLine
from inhabit.episodes.reports.page.pictures import thumbnail


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """An episode in the list of its run."""

    number: int
    task: Task
    end: EndLine | None
    """None where it has not ended."""
    page: bool
    """Whether there is a page of it."""
    reasons: Mapping[Reason, int]
    """Why actions failed, and how often."""
    frame: str | None
    """Where what was last seen lies, seen from the run's page."""
    thumbnail: str | None
    """The same as a `data:` address, where it was asked for."""
    video: bool

    @property
    def folder(self) -> str:
        """Where it lies, seen from the run's page."""
        return f"episodes/{self.number:05d}"


@dataclass(frozen=True, slots=True)
class LiveEpisode:
    """An episode that goes on."""

    number: int
    task: Task
    steps: int
    frame: str | None
    """Where what was last seen lies, seen from the run's page."""
    seen: str
    action: str
    """The last decision; empty before the first."""
    feedback: str
    worked: bool

    @property
    def folder(self) -> str:
        """Where it lies, seen from the run's page."""
        return f"episodes/{self.number:05d}"


def playing(episode: EpisodeRecord, attempt: Attempt) -> LiveEpisode | None:
    """How an attempt stands; None where it has ended or nothing was seen yet."""
    if attempt.end is not None or not attempt.steps:
        return None
    steps = attempt.steps
    # What came of a decision stands beside that decision, and beside no later one.
    last = next((step for step in reversed(steps) if step.decide is not None), None)
    decide, act = (last.decide, last.act) if last is not None else (None, None)
    frame = steps[-1].see.frame
    return LiveEpisode(
        number=episode.number,
        task=episode.task,
        steps=sum(s.act is not None for s in steps),
        frame=None if frame is None else f"episodes/{episode.number:05d}/{frame}",
        seen=steps[-1].see.text,
        action=(decide.action or decide.raw) if decide else "",
        feedback=act.feedback if act else "",
        worked=act is None or act.reason is None,
    )


def row(
    episode: EpisodeRecord, entry: IndexEntry | None, *, small: bool = True, always: bool = False
) -> EpisodeRow:
    """`episode` as its run's page lists it.

    Args:
        episode: which.
        entry: what is known of it; None while it has not ended.
        small: whether it has a small image in it.
        always: whether there is a page of it once it has begun, because pages are served.
    """
    picture = entry.frame if entry else None
    file = None if picture is None else episode.folder / picture
    folder = f"episodes/{episode.number:05d}"
    return EpisodeRow(
        number=episode.number,
        task=episode.task,
        end=entry.end if entry else None,
        page=is_regular(episode.file if always else episode.folder / "index.html", episode.run),
        reasons=entry.reasons if entry else {},
        frame=None if picture is None else f"{folder}/{picture}",
        thumbnail=thumbnail(file, episode.run) if small and file is not None else None,
        video=is_regular(episode.folder / "episode.mp4", episode.run),
    )


def funnel(rows: Sequence[EpisodeRow]) -> Mapping[str, int]:
    """How many episodes came how far, from those that were planned to those that were solved."""
    ends = [each.end for each in rows if each.end is not None]
    stood = [end for end in ends if end.total]
    acted = [end for end in stood if end.steps > end.invalid]
    met = [end for end in acted if end.met or end.success]
    return {
        "planned": len(rows),
        "ended": len(ends),
        "scene built": len(stood),
        "an action worked": len(acted),
        "a condition met": len(met),
        "solved": sum(end.success for end in met),
    }


def failures(rows: Sequence[EpisodeRow]) -> Sequence[tuple[Reason, int]]:
    """Why actions failed over a whole run, the most frequent reason first."""
    counted: Counter[Reason] = Counter()
    for each in rows:
        counted.update(each.reasons)
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))
