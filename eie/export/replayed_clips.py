"""Clips of the actions before an example, recorded by re-executing its episode.

A set keeps an image of each moment between two actions. EgoPlan shows a clip of each action, by
eight keyframes (Chen et al. 2023, section 4): walking through a kitchen is what they show. What is
done at once, such as picking something up, has an image before it and one after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.core import Decision
from inhabit.agents.models.core import Image
from inhabit.eie.examples.example import Example
from inhabit.eie.export.files import ExportImage, half_written
from inhabit.eie.sets.environment import environment_of
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.core import Determinism, Env, SceneError, Task
from inhabit.envs.pictures import png
from inhabit.envs.template import SaysInWords
from inhabit.episodes.episode import Episode
from inhabit.episodes.recording.reader import RecordError

KEYFRAMES = 8
"""Images of a clip, those before and after the action among them."""


@dataclass(frozen=True, slots=True)
class ActionClip:
    """One action of the past of an example."""

    action: str | None
    """The action in words; None where it had no effect."""
    before: ExportImage
    path: tuple[ExportImage, ...]
    """What was seen during the action, at most `KEYFRAMES` less two images."""


class ClipReplayer:
    """An environment in which the episodes of a set are played again, with a camera."""

    def __init__(
        self, opened: SetFolder, folder: Path, assignments: Sequence[str] = (), *, trusted: bool
    ) -> None:
        """Prepare to play. New images lie in `folder` until the next episode begins.

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
        template = registration.template(settings) if registration.template else None
        self._in_words = template.in_words if isinstance(template, SaysInWords) else str
        self._folder = folder
        self._episode: Episode | None = None
        self._start: tuple[object, int] | None = None
        self._done: list[str] = []
        self._clips: list[ActionClip] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._env.close()

    def clips(self, example: Example) -> Sequence[ActionClip]:
        """All actions of its past, also those that its words do not tell.

        Raises:
            RecordError: the episode does not come to the same any more.
            SimulatorError: the simulator died.
        """
        lineage = example.lineage
        assert lineage is not None, "Only photographs come from nowhere."
        start = (lineage.task, lineage.seed)
        if start != self._start or self._done != list(lineage.actions[: len(self._done)]):
            self._begin(example)
        assert self._episode is not None, "It has begun."
        for text in lineage.actions[len(self._done) :]:
            self._act(self._episode, text, example)
        shown = self._episode.now.observation.rgb
        if shown is None or Image(shown).digest != example.image_digest:
            raise _not_replayable(example, "its last frame differs from the recorded one")
        return list(self._clips)

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
        before = episode.now.observation.rgb
        if before is None:
            raise _not_replayable(example, "nothing was seen before an action")
        now = episode.act(Decision(action))
        self._done.append(text)
        path = [frame for clip in now.observation.clips for frame in clip.frames]
        said = None if now.reason is not None else self._in_words(text)
        kept = tuple(self._kept(frame) for frame in keyframes(path))
        self._clips.append(ActionClip(said, self._kept(before), kept))

    def _kept(self, rgb: NDArray[np.uint8]) -> ExportImage:
        name = f"{Image(rgb).digest}.png"
        if not (self._folder / name).exists():
            with half_written(self._folder / name) as half:
                half.write_bytes(png(rgb, level=4))
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
