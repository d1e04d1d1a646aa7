"""Summary of the judgements of a run, with chance baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import BaseModel

from inhabit.episodes.judging.errors import Consequence, FailureType
from inhabit.episodes.judging.schema import EpisodeLine, StepLine
from inhabit.episodes.judging.scores import Dimension
from inhabit.episodes.scoring.builtin_metrics import clustered
from inhabit.episodes.scoring.likelihood import Calibration, calibrate


class PartScore(BaseModel, frozen=True):
    """One score over many steps."""

    mean: float | None
    """Mean score over the steps that were judged; None where none was."""
    interval: tuple[float, float] | None
    """95 % interval of `mean`, by bootstrap over episodes."""
    judged: int
    given: int
    """Steps in which there was anything to score."""
    coverage: float
    """judged / given; 1 where nothing was given."""


class KindSummary(BaseModel, frozen=True):
    """The scores of one kind of task, or of all."""

    episodes: int
    steps: int
    abstained: int
    """Steps without an action: it stopped, or could not be understood. They count as wrong."""
    perception: PartScore
    cognition: PartScore
    action: PartScore
    genuine: PartScore
    """Score of having all three right. Answers without an action count as wrong here too, where the
    agent described and reasoned at other steps."""
    chance: float | None
    """Expected action score of a uniformly random choice among the candidates."""
    always_first: float | None
    """Action score of always taking the first candidate."""


class Summary(BaseModel, frozen=True):
    """Scores of a run by a judge."""

    run: str
    judge: str
    overall: KindSummary
    domains: Mapping[str, KindSummary]
    first_mistakes: Mapping[str, int]
    """Episodes by the part that their first mistake began with; "none" where there was none, and
    "unjudged" where none was found and the action of a step was not judged.
    """
    consequences: Mapping[str, int]
    recovered: int
    """Episodes that recovered from their first mistake."""
    failures: Mapping[str, int]
    """EgoPlan's types of failure, in all steps."""
    calibration_error: float | None
    """Calibration error of the ranked actions, in [0, 1]; None where nothing was ranked."""


def summarize(
    run: str, judge: str, steps: Sequence[StepLine], episodes: Sequence[EpisodeLine]
) -> Summary:
    """What `steps` and `episodes`, judged by `judge`, come to."""
    kinds = sorted({line.domain for line in episodes})
    found = [line.mistake for line in episodes if line.mistake is not None]
    unjudged = {step.episode for step in steps if step.judged.action.score is None}
    began = Counter(
        line.mistake.began_with.value
        if line.mistake is not None
        else ("unjudged" if line.episode in unjudged else "none")
        for line in episodes
    )
    came = Counter(mistake.consequence for mistake in found)
    calibrated = calibration(steps)
    return Summary(
        run=run,
        judge=judge,
        overall=_domain(steps, episodes),
        domains={
            kind: _domain(
                [s for s in steps if s.domain == kind], [e for e in episodes if e.domain == kind]
            )
            for kind in kinds
        },
        first_mistakes={name: began[name] for name in (*Dimension, "none", "unjudged")},
        consequences={kind.value: came[kind] for kind in Consequence},
        recovered=sum(mistake.recovered for mistake in found),
        calibration_error=None if calibrated is None else calibrated.error,
        failures={f.value: sum(e.failures.get(f.value, 0) for e in episodes) for f in FailureType},
    )


def calibration(steps: Sequence[StepLine]) -> Calibration | None:
    """How far the ranked actions of `steps` are as often right as likely; None where none is."""
    ranked = [
        (step.confidence, step.judged.action.score == 1)
        for step in steps
        if step.confidence is not None and step.judged.action.score is not None
    ]
    return calibrate(ranked) if ranked else None


def _domain(steps: Sequence[StepLine], episodes: Sequence[EpisodeLine]) -> KindSummary:
    parts = {
        part.value: _score(
            [(s.episode, s.judged.of(part).score) for s in steps if s.judged.of(part).given]
        )
        for part in Dimension
    }
    genuine = [
        (step.episode, step.judged.genuine if step.judged.whole else 0)
        for step in steps
        if step.judged.whole or (step.answer.action is None and not step.answer.stopped)
    ]
    known = [step for step in steps if step.best and step.complete and step.options]
    return KindSummary(
        episodes=len(episodes),
        steps=len(steps),
        abstained=sum(step.answer.action is None for step in steps),
        genuine=_score(genuine if any(step.judged.whole for step in steps) else []),
        chance=_mean(step.best_options / step.options for step in known),
        always_first=_mean(float(step.first_is_best) for step in known),
        **parts,
    )


def _score(scored: Sequence[tuple[int, int | None]]) -> PartScore:
    """The score over (episode, score) of the steps in which there was anything to score."""
    clusters: dict[int, list[float]] = {}
    for episode, value in scored:
        if value is not None:
            clusters.setdefault(episode, []).append(float(value))
    judged = sum(map(len, clusters.values()))
    estimate = clustered(list(clusters.values())) if judged else None
    return PartScore(
        mean=None if estimate is None else estimate.mean,
        interval=None if estimate is None else (estimate.low, estimate.high),
        judged=judged,
        given=len(scored),
        coverage=judged / len(scored) if scored else 1.0,
    )


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None
