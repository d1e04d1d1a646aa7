"""Renders a recorded episode again, larger and with the way between two steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PIL import Image

from inhabit.envs.core import Determinism, Env, Observation, SceneError, SimulatorError
from inhabit.envs.registry import find
from inhabit.episodes.episode import Episode
from inhabit.episodes.playing.from_record import settings_of_env
from inhabit.episodes.playing.plan import find_backend
from inhabit.episodes.playing.retrace import DivergedError, retrace
from inhabit.episodes.recording.reader import Attempt, RecordError, Run


class RerenderError(RecordError):
    """An episode comes out differently than it was recorded."""


@dataclass(frozen=True, slots=True)
class VideoCamera:
    """Re-executes episodes of one run for the camera."""

    make: Callable[[], Env]
    run: Run

    def views(self, attempt: Attempt) -> Iterator[Sequence[Image.Image]]:
        """What was seen since the step before, oldest first, for one step at a time.

        Raises:
            RerenderError: a step differs from the record.
            SimulatorError, UnavailableError: the environment does not start.
        """
        start, choice = attempt.start, self.run.header.candidates
        with Episode(self.make(), start.task, start.seed, candidates=choice) as episode:
            try:
                # Images have another size, so that only states and texts can be equal.
                for _, now in retrace(episode, attempt.steps, Determinism.STATE):
                    yield _images(now.observation)
            except SceneError as error:
                raise RerenderError(str(error)) from error
            except SimulatorError as error:
                raise RerenderError(f"The simulator failed: {error}") from error
            except DivergedError as error:
                step, what = error.difference.step, error.difference.what
                raise RerenderError(
                    f"step {step} differs from the record when it is re-executed: {what} has "
                    "changed"
                ) from error


def video_camera(
    run: Run, size: tuple[int, int], assignments: Sequence[str], *, trusted: bool
) -> VideoCamera | str:
    """A camera for the run, of `size` in pixels (width, height), or why there is none.

    Raises:
        UnknownNameError: there is no such environment or backend here.
        SettingError: the record names a place that is not said again, or a setting is wrong.
    """
    header = run.header
    registration = find(header.env)
    backend = find_backend(registration, header.backend)
    if registration.video_settings is None:
        return f"{header.env} can't render recorded episodes again."
    if header.determinism is Determinism.NONE:
        return f"The backend {backend} of {header.env} does not repeat itself."
    recorded = settings_of_env(
        registration, header.settings.env, run.tasks, assignments, where=run.folder, trusted=trusted
    )
    settings = registration.video_settings(backend, recorded, *size)
    if settings is None:
        return f"{header.env} shows no images with the backend and settings of this run."
    return VideoCamera(lambda: registration.make(backend, settings), run)


def _images(observation: Observation) -> Sequence[Image.Image]:
    frames = [frame for clip in observation.clips for frame in clip.frames]
    if not frames and observation.rgb is not None:
        frames = [observation.rgb]
    return [Image.fromarray(frame) for frame in frames]
