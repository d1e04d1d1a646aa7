"""Acts recorded episodes again, and finds the first step that comes out differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from pydantic import JsonValue

from agents.models.core import Image
from envs.core import Determinism, Env, Outcome, SceneError, SimulatorError
from episodes.journal import Moment
from episodes.lines import Act, Choice, Ending
from episodes.record import Attempt, Episode, Run, StepRecord
from episodes.view import look


class IncomparableError(ValueError):
    """What was recorded can't be compared with anything, because its backend promises nothing."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that came out differently."""

    step: int
    what: str
    """"frame", "state", "text" or "candidates" of what was seen before the step; "reason",
    "feedback", "met", "total", "over" or "cost" of what came of it; "action" where the recorded
    words mean nothing any more; "scene" or "simulator" where one failed, or no longer does."""
    recorded: JsonValue
    replayed: JsonValue


@dataclass(frozen=True, slots=True)
class Replay:
    """One episode, acted again."""

    episode: Episode
    steps: int
    """Steps that were compared and came out alike."""
    difference: Difference | None
    """None where all of it did."""


def replay_run(
    run: Run, make: Callable[[], Env], episodes: Iterable[Episode] | None = None
) -> Iterator[Replay]:
    """Act `episodes` (all that were begun) again, one after the other.

    Args:
        run: where they were recorded.
        make: makes an environment like the one of the recording; called again after a fault.
        episodes: of that run; those never begun are passed over.

    Raises:
        IncomparableError: the backend repeats neither states nor frames.
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
            level = _weaker(run.header.determinism, env.determinism)
            try:
                yield replay_attempt(episode, attempt, env, level, run.header.candidates)
            except SimulatorError as fault:
                env.close()
                env = None
                yield Replay(episode, 0, Difference(0, "simulator", None, str(fault)))


def replay_attempt(
    episode: Episode, attempt: Attempt, env: Env, level: Determinism, choice: Choice
) -> Replay:
    """Act one attempt again in `env` and compare at `level`, as far as the record goes."""
    refused = attempt.end is not None and attempt.end.ending is Ending.SCENE_REFUSED
    was = attempt.end.error if refused and attempt.end else None
    now: str | None = None
    try:
        env.reset(attempt.start.task, seed=attempt.start.seed)
    except SceneError as refusal:
        now = str(refusal)
    if was != now:
        return Replay(episode, 0, Difference(0, "scene", was, now))
    steps = 0
    for step in attempt.steps:
        if (difference := _compare(step, env, level, choice)) is not None:
            return Replay(episode, steps, difference)
        steps += step.act is not None
    return Replay(episode, steps, None)


def _compare(step: StepRecord, env: Env, level: Determinism, choice: Choice) -> Difference | None:
    """See and act one step again."""
    different = _first(step.number, _seen(step), _shown(look(env, choice)), level)
    if different or step.decide is None or step.decide.action is None or step.act is None:
        return different
    if (action := env.parse(step.decide.action)) is None:
        return Difference(step.number, "action", step.decide.action, None)
    return _first(step.number, _outcome(step.act), _outcome(env.act(action)), level)


def _first(
    number: int,
    was: Mapping[str, JsonValue],
    now: Mapping[str, JsonValue],
    level: Determinism,
) -> Difference | None:
    for what, recorded in was.items():
        if what == "frame" and level is not Determinism.FRAMES:
            continue
        if recorded != now[what]:
            return Difference(number, what, recorded, now[what])
    return None


def _seen(step: StepRecord) -> Mapping[str, JsonValue]:
    return {
        "state": step.see.state,
        "text": step.see.text,
        "candidates": list(step.candidates),
        "frame": step.see.digest,
    }


def _shown(moment: Moment) -> Mapping[str, JsonValue]:
    rgb = moment.observation.rgb
    return {
        "state": moment.state,
        "text": moment.observation.text,
        "candidates": [action.text for action in moment.candidates],
        "frame": None if rgb is None else Image(rgb).digest,
    }


def _outcome(outcome: Outcome | Act) -> Mapping[str, JsonValue]:
    return {
        "reason": outcome.reason,
        "feedback": outcome.feedback,
        "met": outcome.met,
        "total": outcome.total,
        "over": outcome.over,
        "cost": outcome.cost,
    }


def _weaker(recorded: Determinism, replaying: Determinism) -> Determinism:
    both = {recorded, replaying}
    if Determinism.NONE in both:
        raise IncomparableError(
            "This backend repeats neither its states nor its frames, so a replay tells nothing."
        )
    return Determinism.STATE if Determinism.STATE in both else Determinism.FRAMES
