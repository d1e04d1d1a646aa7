"""Clips of the actions before an example, recorded by re-executing its episode.

A set keeps an image of each moment between two actions. EgoPlan shows a clip of each action, by
eight keyframes (Chen et al. 2023, section 4): walking through a kitchen is what they show. What is
done at once, such as picking something up, has an image before it and one after.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Decision
from inhabit.agents.models.core import Image
from inhabit.eie.checking.pictures import png
from inhabit.eie.examples.example import Example
from inhabit.eie.export.files import ExportImage, half_written
from inhabit.eie.sets.environment import environment_of
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.core import Determinism, Env, SceneError, Task
from inhabit.episodes.episode import Episode
from inhabit.episodes.recording.reader import RecordError

KEYFRAMES = 8
"""Images of a clip, those before and after the action among them."""


class ClipReplayer:
    """An environment in which the episodes of a set are played again, with a camera."""

    def __init__(
        self, opened: SetFolder, folder: Path, assignments: Sequence[str] = (), *, trusted: bool
    ) -> None:
        """Prepare to play.

        Args:
            opened: the set.
            folder: of its own, where new images lie until the next episode begins.
            assignments: settings of the environment, as KEY=VALUE.
            trusted: whether the user takes what the set names for their own.

        Raises:
            RecordError: the environment never does the same twice.
            SettingError: the set names a place of a machine that is not said again.
            UnavailableError: the environment lacks something on this machine.
        """
        registration, backend, settings = environment_of(opened, assignments, trusted=trusted)
        self._env: Env = registration.make(backend, registration.recording_settings(settings))
        if self._env.determinism is Determinism.NONE:
            self._env.close()
            raise RecordError(
                f"The {opened.header.backend} backend of {opened.header.env} is not deterministic, "
                "so its episodes cannot be re-rendered. Export without --videos."
            )
        self._folder = folder
        self._episode: Episode | None = None
        self._start: tuple[object, int] | None = None
        self._done: list[str] = []
        self._clips: list[tuple[ExportImage, ...]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._env.close()

    def clips(self, example: Example) -> Sequence[tuple[ExportImage, ...]]:
        """For each action of its past, what was seen between its beginning and its end.

        At most `KEYFRAMES` less two images each; none where the environment shows no way.

        Raises:
            RecordError: the episode does not come to the same any more.
            SimulatorError: the simulator died.
        """
        lineage = example.lineage
        assert lineage is not None, "Only photographs come from nowhere."
        told = [past.action for past in example.history]
        if told != list(lineage.actions[: len(told)]):
            raise _not_replayable(example, "its history is not how its episode began")
        start = (lineage.task, lineage.seed)
        if start != self._start or self._done != list(lineage.actions[: len(self._done)]):
            self._begin(example)
        assert self._episode is not None, "It has begun."
        for text in lineage.actions[len(self._done) :]:
            self._act(self._episode, text, example)
        shown = self._episode.now.observation.rgb
        if shown is None or Image(shown).digest != example.image_digest:
            raise _not_replayable(example, "its last frame differs from the recorded one")
        return list(self._clips[: len(told)])

    def _begin(self, example: Example) -> None:
        lineage = example.lineage
        assert lineage is not None
        self._start, self._done, self._clips = None, [], []
        for passed in self._folder.glob("*.png"):
            passed.unlink()
        task = Task.model_validate(dict(lineage.task))
        self._episode = Episode(self._env, task, lineage.seed, remember=0)
        try:
            self._episode.reset()
        except SceneError as error:
            raise _not_replayable(example, str(error)) from error
        self._start = lineage.task, lineage.seed

    def _act(self, episode: Episode, text: str, example: Example) -> None:
        action = episode.env.parse(text)
        if action is None:
            raise _not_replayable(example, f"{text!r} is not an action")
        seen = episode.act(Decision(action)).observation
        self._done.append(text)
        path = [frame for clip in seen.clips for frame in clip.frames]
        self._clips.append(tuple(self._kept(frame) for frame in keyframes(path)))

    def _kept(self, rgb: NDArray[np.uint8]) -> ExportImage:
        name = f"{Image(rgb).digest}.png"
        if not (self._folder / name).exists():
            with half_written(self._folder / name) as half:
                half.write_bytes(png(rgb))
        return ExportImage(self._folder / name, name, self._folder)


def keyframes(path: Sequence[NDArray[np.uint8]]) -> Sequence[NDArray[np.uint8]]:
    """Evenly spread over a way, at most `KEYFRAMES` less two, and without its end.

    The last image of the way is what is seen after the action, which the set has.
    """
    if len(path) < KEYFRAMES:
        return path[:-1]
    gap = len(path) / (KEYFRAMES - 1)
    return [path[round(i * gap) - 1] for i in range(1, KEYFRAMES - 1)]


def _not_replayable(example: Example, why: str) -> RecordError:
    return RecordError(
        f"The episode of example {example.id} can't be re-rendered: {why}. The set was made with "
        "other versions than are installed here. Export it without --videos."
    )
