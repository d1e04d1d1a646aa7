"""Re-executes recorded episodes and finds the first step that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from inhabit.envs.core import Determinism, Env, SceneError, SimulatorError
from inhabit.envs.errors import UserError
from inhabit.episodes.episode import Episode, Moment
from inhabit.episodes.playing.from_record import comparable
from inhabit.episodes.playing.retrace import DivergedError, Divergence, retrace
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, Run
from inhabit.episodes.recording.schema import Choice, Ending, EndLine, RunHeader


class IncomparableError(UserError, ValueError):
    """The backend is not deterministic, so a replay cannot be compared with the record."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of re-executing one episode."""

    episode: EpisodeRecord
    steps: int
    """Number of identical steps."""
    difference: Divergence | None
    """None if all steps are identical."""


def replay_run(
    run: Run, make: Callable[[], Env], episodes: Iterable[EpisodeRecord] | None = None
) -> Iterator[Replay]:
    """Re-execute `episodes` (by default all that were started), one after the other.

    Those that never started are skipped. `make` is called again after a fault.

    Raises:
        IncomparableError: the backend is not deterministic.
        RecordError: a record can't be read.
        SimulatorError, UnavailableError: no environment can be started.
    """
    with ExitStack() as stack:
        env: Env | None = None
        for episode in run.episodes() if episodes is None else episodes:
            if (attempt := episode.last()) is None:
                continue
            if env is None:
                env = stack.enter_context(make())
            level = _comparable(run.header, env.determinism)
            replayed = replay_attempt(episode, attempt, env, level, run.header.candidates)
            if replayed.difference is not None and replayed.difference.what == "simulator":
                env.close()
                env = None
            yield replayed


def replay_attempt(
    episode: EpisodeRecord, attempt: Attempt, env: Env, level: Determinism, choice: Choice
) -> Replay:
    """Re-execute one attempt in `env` and compare at `level`, as far as the record goes."""
    refused = attempt.end is not None and attempt.end.ending is Ending.SCENE_REFUSED
    was = attempt.end.error if refused and attempt.end else None
    now: str | None = None
    again = Episode(env, attempt.start.task, attempt.start.seed, candidates=choice)
    try:
        for _ in retrace(again, attempt.steps, level):
            pass
    except DivergedError as error:
        return Replay(episode, error.difference.step, error.difference)
    except SceneError as refusal:
        now = str(refusal)
    except SimulatorError as fault:
        steps = again.now.number
        return Replay(episode, steps, Divergence(steps, "simulator", None, str(fault)))
    difference = None if was == now else Divergence(0, "scene", was, now)
    return Replay(episode, again.now.number, difference or _different_end(attempt.end, again.now))


def _different_end(end: EndLine | None, now: Moment) -> Divergence | None:
    """The first difference between a recorded end and `now`, the end of what was executed again.

    What a fault, a budget or a person cut off is no success, and has the rest of its end from them.
    """
    if end is None:
        return None
    again = (
        {"success": False}
        if end.error is not None
        else {
            "success": now.success,
            "met": now.met,
            "total": now.total,
            "steps": now.number,
            "cost": now.tally.cost,
            "invalid": now.tally.invalid,
        }
    )
    for what, replayed in again.items():
        if (recorded := getattr(end, what)) != replayed:
            return Divergence(now.number, what, recorded, replayed)
    return None


def _comparable(header: RunHeader, replaying: Determinism) -> Determinism:
    level = comparable(header, replaying)
    if level is Determinism.NONE:
        raise IncomparableError(
            "This backend is not deterministic: it repeats neither states nor frames, so a replay "
            "cannot be compared with the record."
        )
    return level
