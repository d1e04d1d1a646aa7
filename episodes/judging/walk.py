"""Judges recorded episodes: re-executes them and asks the simulator what was right."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing

from inhabit.agents.core import ModelError
from inhabit.envs.core import Env, Expert
from inhabit.episodes.episode import Episode
from inhabit.episodes.judging.anchors import Anchors, anchors
from inhabit.episodes.judging.errors import StepOutcome, failures, first_mistake
from inhabit.episodes.judging.schema import EpisodeLine, JudgeLine, StepLine, file_of, judged, read
from inhabit.episodes.judging.scores import AgentAnswer, Judge
from inhabit.episodes.playing.retrace import retraced
from inhabit.episodes.recording.disk import LineFile
from inhabit.episodes.recording.reader import EpisodeRecord, Run, StepRecord
from inhabit.episodes.scoring.likelihood import shares
from inhabit.episodes.view import LackingError


async def judge_run(
    run: Run, judge: Judge, make: Callable[[], Env], *, watch: Callable[[EpisodeRecord], None]
) -> None:
    """Judge all episodes of `run` that have ended and aren't judged yet, and write it down.

    Raises:
        LackingError: the environment knows no expert's plan, so that nothing is known to be right.
        RecordError: a record can't be read, or the simulator no longer does what it says.
        SimulatorError, UnavailableError, ModelError, DiskError: of what is used.
    """
    file = file_of(run, judge.name)
    done = {line.episode for line in judged(run, file)[1]}
    left = [e for e in run.episodes() if e.number not in done and e.end() is not None]
    if not left:
        return
    fresh = next(read(file), None) is None
    earlier = {(line.episode, line.step): line for line in read(file) if line.kind == "step"}
    with closing(LineFile(file, run.folder)) as lines:
        if fresh:
            lines.append(JudgeLine(judge=judge.name).model_dump_json().encode())
        for episode, points in walk(make, left):
            await _judge_episode(judge, episode, points, earlier, lines)
            watch(episode)


def walk(
    make: Callable[[], Env], episodes: Iterable[EpisodeRecord]
) -> Iterator[tuple[EpisodeRecord, Sequence[tuple[StepRecord, Anchors]]]]:
    """Act each episode again and gather the anchors of every step that was decided.

    Raises:
        LackingError: the environment knows no expert's plan.
        RecordError: the simulator no longer does what the record says.
    """
    with ExitStack() as stack:
        env = stack.enter_context(make())
        if not isinstance(env, Expert):
            raise LackingError("This environment has no expert, so its decisions cannot be judged.")
        for episode in episodes:
            yield episode, [_known(step, again) for step, again in retraced(env, episode)]


def _known(step: StepRecord, again: Episode) -> tuple[StepRecord, Anchors]:
    assert step.decide is not None, "Only what was decided is judged."
    said = step.decide.action
    failed = step.act is not None and step.act.reason is not None
    # What failed shortened no plan: no copy has to try it, and MineDojo has none.
    return step, anchors(again, None if said is None or failed else again.env.parse(said))


def answer_of(episode: EpisodeRecord, step: StepRecord) -> AgentAnswer:
    """What the agent said at a step."""
    decide = step.decide
    assert decide is not None
    return AgentAnswer(
        goal=episode.task.goal,
        told=step.see.text,
        choices=step.candidates,
        description=decide.description,
        reasoning=decide.reasoning,
        action=decide.action,
        raw=decide.raw,
        stopped=decide.stop,
    )


def _confidence(step: StepRecord) -> float | None:
    decide = step.decide
    if decide is None or not decide.ranked:
        return None
    found = next((s.share for s in shares(decide.ranked) if s.text == decide.action), None)
    return None if found is None or math.isnan(found) else min(1.0, found)


async def _judge_episode(
    judge: Judge,
    episode: EpisodeRecord,
    points: Sequence[tuple[StepRecord, Anchors]],
    earlier: Mapping[tuple[int, int], StepLine],
    lines: LineFile,
) -> None:
    """Judge the steps that no interrupted command has judged, and write the episode down. Where
    the judge fails, the steps that it has answered are kept.
    """
    end = episode.end()
    assert end is not None, "Only what has ended is judged."
    asked = [
        asyncio.create_task(_step(judge, episode, step, known, earlier)) for step, known in points
    ]
    failed: ModelError | None = None
    done: list[StepOutcome] = []
    for (step, known), one in zip(points, asked, strict=True):
        try:
            line = await one
        except ModelError as error:
            failed = failed or error
            continue
        lines.append(line.model_dump_json().encode())
        reason, plan = step.act.reason if step.act else None, known.plan
        said = line.answer.action
        done.append(StepOutcome(step.number, said, reason, line.judged, len(plan), plan))
    if failed is None:
        ended = EpisodeLine(
            episode=episode.number,
            attempt=end.attempt,
            domain=episode.task.kind,
            success=end.success,
            mistake=first_mistake(done, success=end.success),
            failures={kind.value: n for kind, n in failures(episode.task.goal, done).items()},
        )
        lines.append(ended.model_dump_json().encode())
    await lines.sync()
    if failed is not None:
        raise failed


async def _step(
    judge: Judge,
    episode: EpisodeRecord,
    step: StepRecord,
    known: Anchors,
    earlier: Mapping[tuple[int, int], StepLine],
) -> StepLine:
    """A step judged, unless `earlier` has the same answer and the same best actions judged."""
    answer, choices = answer_of(episode, step), step.candidates
    shown = answer.model_copy(update={"choices": ()})
    kept = earlier.get((episode.number, step.number))
    if kept is not None and (kept.answer, kept.best) == (shown, known.best):
        return kept
    return StepLine(
        episode=episode.number,
        step=step.number,
        domain=episode.task.kind,
        answer=shown,
        options=len(choices),
        best_options=len(set(choices) & set(known.best or ())),
        first_is_best=bool(set(choices[:1]) & set(known.best or ())),
        best=known.best,
        complete=known.complete,
        ahead=len(known.plan),
        key_concepts=known.key_concepts,
        reason=known.reason,
        confidence=_confidence(step),
        judged=await judge.judge(answer, known),
    )
