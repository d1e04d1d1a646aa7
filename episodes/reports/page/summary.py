"""What the page of a run counts beyond its scores, and what a judge has said of its steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from inhabit.envs.core import Reason, Task
from inhabit.envs.files import is_regular
from inhabit.episodes.judging.errors import Mistake
from inhabit.episodes.judging.schema import EpisodeLine, JudgeLine, StepLine, files, judged, read
from inhabit.episodes.judging.scores import Judged
from inhabit.episodes.recording.index import IndexEntry
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, Run
from inhabit.episodes.recording.schema import EndLine
from inhabit.episodes.reports.page.episode_data import StepScores
from inhabit.episodes.reports.page.pictures import thumbnail


@dataclass(frozen=True, slots=True)
class _Listed:
    number: int
    task: Task
    frame: str | None
    """Where what was last seen lies, seen from the run's page."""

    @property
    def folder(self) -> str:
        """Where it lies, seen from the run's page."""
        return f"episodes/{self.number:05d}"


@dataclass(frozen=True, slots=True)
class EpisodeRow(_Listed):
    """An episode in the list of its run."""

    end: EndLine | None
    """How the episode ended; None where it has not."""
    page: bool
    """Whether there is a page of the episode."""
    reasons: Mapping[Reason, int]
    """Why actions failed, and how often."""
    thumbnail: str | None
    """`frame` as a `data:` address, where it was asked for."""
    video: bool


@dataclass(frozen=True, slots=True)
class LiveEpisode(_Listed):
    """An episode that goes on."""

    steps: int
    seen: str
    action: str
    """The last decision; empty before the first."""
    feedback: str
    worked: bool


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
    # A goal that holds at the start is solved without an action.
    acted = [end for end in stood if end.steps > end.invalid or end.success]
    met = [end for end in acted if end.met or end.success]
    return {
        "planned": len(rows),
        "ended": len(ends),
        "scene built": len(stood),
        "an action worked, or none was needed": len(acted),
        "a condition met": len(met),
        "solved": sum(end.success for end in met),
    }


def failures(rows: Sequence[EpisodeRow]) -> Sequence[tuple[Reason, int]]:
    """Why actions failed over a whole run, the most frequent reason first."""
    counted: Counter[Reason] = Counter()
    for each in rows:
        counted.update(each.reasons)
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


@dataclass(frozen=True, slots=True)
class RunJudgement:
    """What the last judge has said of a run."""

    judge: str
    episodes: int
    """Episodes that were judged to their end."""
    parts: Sequence[tuple[str, float, int]]
    """Perception, cognition and action: the mean score, 0 to 1, of so many steps."""
    mistakes: Mapping[int, Mistake]
    """Episode -> its first wrong step, for those that have one."""
    failures: Sequence[tuple[str, int]]
    """EgoPlan-Bench's types of failure, the most frequent first."""
    scores: Mapping[int, StepScores]
    """Episode -> step -> scores."""

    @property
    def began_with(self) -> Sequence[tuple[str, int]]:
        """What was wrong first in the first wrong steps, the most frequent first."""
        return Counter(one.began_with.value for one in self.mistakes.values()).most_common()

    @property
    def consequences(self) -> Sequence[tuple[str, int]]:
        """The consequences of the first wrong steps, the most frequent first."""
        return Counter(one.consequence.value for one in self.mistakes.values()).most_common()


def judgement_of(run: Run) -> RunJudgement | None:
    """What whoever judged last said of the run; None where nobody did.

    Raises:
        RecordError: the judgements can't be read.
    """
    judgements = files(run)
    if not judgements:
        return None
    head = next(read(judgements[-1]), None)
    steps, episodes = judged(run, judgements[-1])
    scores: dict[int, dict[int, Judged]] = {}
    for step in steps:
        scores.setdefault(step.episode, {})[step.step] = step.judged
    return RunJudgement(
        judge=head.judge if isinstance(head, JudgeLine) else "",
        episodes=len(episodes),
        parts=_parts(steps),
        mistakes={e.episode: e.mistake for e in episodes if e.mistake is not None},
        failures=_failures(episodes),
        scores=scores,
    )


def _parts(steps: Sequence[StepLine]) -> Sequence[tuple[str, float, int]]:
    found: dict[str, list[float]] = {}
    for step in steps:
        for name, verdict in step.judged.given.items():
            if verdict.score is not None:
                found.setdefault(name, []).append(verdict.score)
    return [(name, fmean(values), len(values)) for name, values in found.items()]


def _failures(episodes: Sequence[EpisodeLine]) -> Sequence[tuple[str, int]]:
    counted: Counter[str] = Counter()
    for episode in episodes:
        counted.update(episode.failures)
    return [(name, count) for name, count in counted.most_common() if count]
