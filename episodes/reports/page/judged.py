"""What a judge has said of a run's steps, as pages show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from inhabit.episodes.judging.errors import Mistake
from inhabit.episodes.judging.schema import EpisodeLine, JudgeLine, StepLine, files, read, whole
from inhabit.episodes.judging.scores import Dimension
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.page.episode_data import Score, StepScores


@dataclass(frozen=True, slots=True)
class PartRate:
    """One side of the judged steps of a run: perception, cognition or action."""

    name: str
    value: float
    """Mean score, 0 to 1."""
    steps: int


@dataclass(frozen=True, slots=True)
class RunJudgement:
    """What the last judge has said of a run."""

    judge: str
    episodes: int
    """That were judged to their end."""
    parts: Sequence[PartRate]
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
    steps, episodes = whole(judgements[-1])
    scores: dict[int, dict[int, tuple[Score, ...]]] = {}
    for step in steps:
        scores.setdefault(step.episode, {})[step.step] = _scores(step)
    return RunJudgement(
        judge=head.judge if isinstance(head, JudgeLine) else "",
        episodes=len(episodes),
        parts=_parts(steps),
        mistakes={e.episode: e.mistake for e in episodes if e.mistake is not None},
        failures=_failures(episodes),
        scores=scores,
    )


def _parts(steps: Sequence[StepLine]) -> Sequence[PartRate]:
    found: dict[str, list[float]] = {}
    for step in steps:
        for score in _scores(step):
            if score.value is not None:
                found.setdefault(score.name, []).append(score.value)
    return [PartRate(name, fmean(values), len(values)) for name, values in found.items()]


def _failures(episodes: Sequence[EpisodeLine]) -> Sequence[tuple[str, int]]:
    counted: Counter[str] = Counter()
    for episode in episodes:
        counted.update(episode.failures)
    return [(name, count) for name, count in counted.most_common() if count]


def _scores(step: StepLine) -> tuple[Score, ...]:
    verdicts = ((part.value, step.judged.of(part)) for part in Dimension)
    return tuple(
        Score(name, None if v.score is None else float(v.score), v.evidence)
        for name, v in verdicts
        if v.given
    )
