"""What a judge has said of a run's steps, as pages show it."""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.episodes.judging.schema import StepLine, files, whole
from inhabit.episodes.judging.scores import Verdict
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.page.episode_data import Score, StepScores


def scores_of(run: Run) -> Mapping[int, StepScores]:
    """Episode -> step -> scores, by whoever judged last; empty where nobody did.

    Raises:
        RecordError: the judgements can't be read.
    """
    judgements = files(run)
    if not judgements:
        return {}
    steps, _ = whole(judgements[-1])
    found: dict[int, dict[int, tuple[Score, ...]]] = {}
    for step in steps:
        found.setdefault(step.episode, {})[step.step] = _scores(step)
    return found


def _scores(step: StepLine) -> tuple[Score, ...]:
    judged = step.judged
    parts = {
        "perception": judged.perception,
        "cognition": judged.cognition,
        "action": judged.action,
    }
    return tuple(_score(name, v) for name, v in parts.items() if v.given)


def _score(name: str, verdict: Verdict) -> Score:
    return Score(name, None if verdict.score is None else float(verdict.score), verdict.evidence)
