"""Acts out recorded steps again, and finds the first difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from inhabit.agents.core import Decision
from inhabit.agents.models.core import Image
from inhabit.envs.core import Determinism, Env, SceneError
from inhabit.envs.errors import ExitCode, UserError
from inhabit.episodes.episode import Episode, Moment
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError, StepRecord


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
