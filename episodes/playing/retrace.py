"""Acts out recorded steps and episodes again, and finds the first difference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from pydantic import JsonValue

from inhabit.agents.core import Decision
from inhabit.agents.models.core import Image
from inhabit.envs.core import Determinism, Env, SceneError, SimulatorError
from inhabit.envs.errors import ExitCode, UserError
from inhabit.episodes.episode import Episode, Moment
from inhabit.episodes.playing.from_record import comparable
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, RecordError, Run, StepRecord
from inhabit.episodes.recording.schema import Choice, Ending, EndLine, RunHeader


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first difference of a re-executed step."""

    step: int
    what: str
    """"frame", "state", "text" or "candidates" of the observation before the step; "reason",
    "feedback", "met", "total", "over" or "cost" of the outcome; "action" where the environment no
    longer understands the recorded action; "scene" or "simulator" where one failed, or no longer
    does; "success", "met", "total", "steps", "cost" or "invalid" of the whole episode, at its end.
    """
    recorded: JsonValue
    replayed: JsonValue


class DivergedError(UserError, RuntimeError):
    """A re-executed step differs from the record."""

    exit_code = ExitCode.STOPPED

    def __init__(self, different: Divergence) -> None:
        super().__init__(
            f"Step {different.step} differs from the record when it is re-executed: "
            f"{different.what} was {different.recorded!r} and is now {different.replayed!r}."
        )
        self.difference = different


def retrace(
    episode: Episode, steps: Iterable[StepRecord], level: Determinism | None
) -> Iterator[tuple[StepRecord, Moment]]:
    """Each recorded step with the moment before it; then the step is acted out again.

    Args:
        episode: of the recorded task, seed and candidates. It is started here.
        steps: what to act out, as far as it goes.
        level: what has to be identical; None looks at nothing, and compares only whether actions
            had an effect and what they met.

    Raises:
        DivergedError: a step differs.
        SceneError: the scene can't be built.
        SimulatorError: the simulator failed.
    """
    now = episode.reset()
    for step in steps:
        if level is not None:
            compare_seen(step, now, level)
        yield step, now
        if step.act is not None:
            now = episode.act(recorded_decision(step, episode.env))
            compare_outcome(step, now, level)


def retraced(env: Env, episode: EpisodeRecord) -> Iterator[tuple[StepRecord, Episode]]:
    """Each decided step of a record with the episode as it was before it, acted again.

    In the end the episode is where the record ends. A scene that was refused has no steps.

    Raises:
        RecordError: the simulator no longer does what the record says.
        SimulatorError: the simulator failed.
    """
    attempt = episode.last()
    if attempt is None:
        return
    again = Episode(env, attempt.start.task, attempt.start.seed)
    try:
        for step, _ in retrace(again, attempt.steps, level=None):
            if step.decide is None:
                return
            yield step, again
    except SceneError:
        return  # It was refused then too, or there would be steps to compare.
    except DivergedError as error:
        number = error.difference.step
        line = attempt.steps[number].decide
        raise RecordError(
            f"Episode {episode.number}, step {number}: {line and line.action!r} has another "
            "outcome than recorded. `inhabit replay` shows the difference."
        ) from error


def recorded_decision(step: StepRecord, env: Env) -> Decision:
    """The decision of a step, with its action as `env` parses it now.

    Raises:
        DivergedError: the environment does not understand the recorded action.
    """
    line = step.decide
    assert line is not None, "Only what was decided is decided again."
    action = None if line.action is None else env.parse(line.action)
    if line.action is not None and action is None:
        raise DivergedError(Divergence(step.number, "action", line.action, None))
    return line.decision(action)


def compare_seen(step: StepRecord, now: Moment, level: Determinism) -> None:
    """Compare what was seen before `step`; images count at `FRAMES` only.

    Raises:
        DivergedError: it differs.
    """
    seen = now.observation
    frames = level is Determinism.FRAMES
    digest = Image(seen.rgb).digest if frames and seen.rgb is not None else None
    _compare(step, "state", step.see.state, now.digest)
    _compare(step, "text", step.see.text, seen.text)
    _compare(step, "candidates", list(step.candidates), [a.text for a in now.candidates])
    _compare(step, "frame", step.see.digest if frames else None, digest)


def compare_outcome(step: StepRecord, now: Moment, level: Determinism | None) -> None:
    """Compare the outcome of `step` with what led to `now`, where both are an action's.

    Raises:
        DivergedError: it differs.
    """
    if step.act is None or now.action is None:
        return
    fields = ("reason", "feedback", "met", "total", "over", "cost")
    for field in ("reason", "met") if level is None else fields:
        _compare(step, field, getattr(step.act, field), getattr(now, field))


def _compare(step: StepRecord, what: str, recorded: JsonValue, replayed: JsonValue) -> None:
    if recorded != replayed:
        raise DivergedError(Divergence(step.number, what, recorded, replayed))


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

    An end with an error (a fault, a budget or a person) is only compared in its success: False.
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
