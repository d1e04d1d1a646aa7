"""Preference pairs: two continuations of an episode from the same step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from inhabit.envs.entries import first_problem
from inhabit.envs.files import read_whole
from inhabit.episodes.recording.disk import LineFile
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, RecordError, Run
from inhabit.episodes.recording.schema import Ending, Fork

_FILE = "forks.jsonl"


class Continuation(BaseModel, frozen=True):
    """One continuation of an episode, from the step of the fork on."""

    action: str | None
    """The action of that step; None where the agent stopped or its answer was unreadable."""
    reason: str | None
    """Why the action failed; None if it succeeded."""
    feedback: str
    ending: Ending | None
    success: bool
    met: int
    total: int
    steps: int
    cost: int


class PreferencePair(BaseModel, frozen=True):
    """Two continuations from the same step, and the preferred one: a line of `forks.jsonl`."""

    fork: str
    """Run folder of the fork, relative to that of the original."""
    episode: int
    id: str
    goal: str
    step: int
    frame: str | None
    """Image observed before that step, relative to the run folder."""
    text: str
    candidates: tuple[str, ...]
    history: tuple[str, ...]
    """Actions before that step."""
    changed: Fork
    original: Continuation
    forked: Continuation
    better: Literal["original", "forked"] | None
    """The branch with the better result: by success, then by the share of goal conditions met, and
    of two successes by cost. None for a tie, and where a branch was cut off or ended by a fault."""


def keep_pair(
    run: Run, episode: EpisodeRecord, original: Attempt, forked: Run, fork: Fork
) -> PreferencePair:
    """Compare the original with its fork, and append the pair to `forks.jsonl` of `run`.

    Raises:
        RecordError, DiskError: a record can't be read, or the pair can't be written.
    """
    other = forked.episode(0).last()
    if other is None:
        raise RecordError(f"{forked.folder} holds no episode.")
    pair = _pair(run, episode, (original, other), forked, fork)
    _append(run.folder / _FILE, pair)
    return pair


def read_pairs(run: Run) -> Sequence[PreferencePair]:
    """All preference pairs of `run`, oldest first.

    Raises:
        RecordError: the file can't be read.
    """
    file = run.folder / _FILE
    try:
        lines = read_whole(file, run.folder).split(b"\n")
        return [PreferencePair.model_validate_json(line) for line in lines if line]
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise RecordError(f"{file} can't be read: {error.strerror}.") from error
    except ValidationError as error:
        raise RecordError(f"{file} can't be read: {first_problem(error)}.") from error


def _pair(
    run: Run, episode: EpisodeRecord, attempts: tuple[Attempt, Attempt], forked: Run, fork: Fork
) -> PreferencePair:
    before = attempts[0].steps[: fork.step]
    step = attempts[0].steps[fork.step]
    original, new = (_continuation(attempt, fork.step) for attempt in attempts)
    frame = episode.frame(step.see)
    return PreferencePair(
        fork=forked.folder.relative_to(run.folder).as_posix(),
        episode=episode.number,
        id=episode.task.id,
        goal=episode.task.goal,
        step=fork.step,
        frame=frame and frame.relative_to(run.folder).as_posix(),
        text=step.see.text,
        candidates=step.candidates,
        history=tuple((s.decide and s.decide.action) or "" for s in before),
        changed=fork,
        original=original,
        forked=new,
        better=preferred(original, new),
    )


def _continuation(attempt: Attempt, number: int) -> Continuation:
    step = attempt.steps[number] if number < len(attempt.steps) else None
    act, end = step and step.act, attempt.end
    return Continuation(
        action=step.decide.action if step and step.decide else None,
        reason=act.reason if act else None,
        feedback=act.feedback if act else "",
        ending=end.ending if end else None,
        success=end.success if end else False,
        met=end.met if end else 0,
        total=end.total if end else 0,
        steps=end.steps if end else 0,
        cost=end.cost if end else 0,
    )


def preferred(original: Continuation, forked: Continuation) -> Literal["original", "forked"] | None:
    """The branch with the better result; None for a tie.

    Cost counts between two successes only: an invalid action costs nothing, so among failures the
    cheaper branch is the one that failed sooner. A branch that a fault ended says nothing about
    its actions.
    """
    if _is_faulty(original) or _is_faulty(forked):
        return None
    one, other = _worth(original), _worth(forked)
    if one == other:
        return None
    return "original" if one > other else "forked"


_FAULTS = (Ending.BUDGET, Ending.SCENE_REFUSED, Ending.SIMULATOR_FAULT, Ending.MODEL_FAULT)


def _is_faulty(branch: Continuation) -> bool:
    return branch.ending is None or branch.ending in _FAULTS


def _worth(branch: Continuation) -> tuple[bool, float, int]:
    met = branch.met / branch.total if branch.total else 0.0
    return branch.success, met, -branch.cost if branch.success else 0


def _append(file: Path, pair: PreferencePair) -> None:
    with closing(LineFile(file, file.parent)) as lines:
        lines.append(json.dumps(pair.model_dump(mode="json"), ensure_ascii=False).encode())
