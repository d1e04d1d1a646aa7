"""What the page of a run counts, beyond its scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envs.core import Reason, Task
from episodes.lines import End
from episodes.metrics import wilson
from episodes.page.pictures import thumbnail
from episodes.record import Attempt, Episode


@dataclass(frozen=True, slots=True)
class Row:
    """An episode in the list of its run."""

    number: int
    task: Task
    end: End | None
    """None where it has not ended."""
    begun: bool
    """Whether it has a page."""
    reasons: Mapping[Reason, int]
    """Why actions failed, and how often."""
    thumbnail: str | None
    """What was last seen, as a `data:` address."""
    video: bool

    @property
    def folder(self) -> str:
        """Where it lies, seen from the run's page."""
        return f"episodes/{self.number:05d}"


@dataclass(frozen=True, slots=True)
class KindRate:
    """How the tasks of one kind went."""

    kind: str
    solved: int
    episodes: int

    @property
    def rate(self) -> float:
        """Share of them that was solved."""
        return self.solved / self.episodes

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson, 95 %."""
        return wilson(self.solved, self.episodes)


def row(episode: Episode, attempt: Attempt | None) -> Row:
    """`episode` as its run's page lists it."""
    steps = attempt.steps if attempt else ()
    pictures = [file for step in steps if (file := episode.frame(step.see)) is not None]
    return Row(
        number=episode.number,
        task=episode.task,
        end=attempt.end if attempt else None,
        begun=attempt is not None,
        reasons=Counter(s.act.reason for s in steps if s.act and s.act.reason),
        thumbnail=thumbnail(pictures[-1]) if pictures else None,
        video=(episode.folder / "episode.mp4").is_file(),
    )


def failures(rows: Sequence[Row]) -> Sequence[tuple[Reason, int]]:
    """Why actions failed over a whole run, the most frequent reason first."""
    counted: Counter[Reason] = Counter()
    for each in rows:
        counted.update(each.reasons)
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


def kinds(rows: Sequence[Row]) -> Sequence[KindRate]:
    """Success by kind of task, in the order of their names."""
    ended = [(each.task.kind, each.end) for each in rows if each.end is not None]
    return [
        KindRate(
            kind,
            sum(end.success for k, end in ended if k == kind),
            sum(k == kind for k, _ in ended),
        )
        for kind in sorted({k for k, _ in ended})
    ]
