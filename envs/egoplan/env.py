"""EgoPlan-Bench as an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, JsonValue

from inhabit.envs.core import Clip, Observation, SceneError, Task
from inhabit.envs.egoplan import EgoPlanSettings
from inhabit.envs.egoplan.tasks import EgoPlanScene, VideoError, frames, keyframes
from inhabit.envs.multiple_choice import MultipleChoice
from inhabit.envs.plain_data import validated_scene

_NOTHING = Observation("")


def make(backend: str, settings: EgoPlanSettings) -> EgoPlan:
    """An EgoPlan-Bench environment."""
    return EgoPlan(settings)


class EgoPlan(MultipleChoice[EgoPlanScene]):
    """One question. Only the choice of the right option counts."""

    Scene: ClassVar[type[BaseModel]] = EgoPlanScene

    def __init__(self, settings: EgoPlanSettings | None = None) -> None:
        super().__init__(EgoPlanScene(actions=("yes", "no"), answer=0))
        self._settings = settings or EgoPlanSettings()
        self._seen = _NOTHING

    def reset(self, task: Task, *, seed: int) -> None:
        """Read the frames of a question. The seed has no effect."""
        self._scene = validated_scene(EgoPlanScene, task)
        try:
            self._seen = self._video()
        except VideoError as error:
            raise SceneError(f"Task {task.id!r}, scene.video: {error}.") from error
        self.begin()

    def observe(self) -> Observation:
        """Clips of the last actions, and the current frame."""
        return self._seen

    def state(self) -> Mapping[str, JsonValue]:
        """The chosen and the right option, and the actions so far."""
        return {**super().state(), "done": [stretch.narration for stretch in self._scene.done]}

    def _video(self) -> Observation:
        scene, settings = self._scene, self._settings
        if scene.video is None:
            return _NOTHING
        shown = scene.done[-settings.clips :] if settings.clips else ()
        parts = [keyframes(one.start, one.stop, settings.keyframes) for one in shown]
        numbers = [number for part in parts for number in part]
        pictures = iter(frames(scene.video, [*numbers, scene.moment], pixels=settings.pixels))
        clips = tuple(
            Clip(
                np.stack([next(pictures) for _ in part]),
                one.narration if settings.narrations else "",
            )
            for one, part in zip(shown, parts, strict=True)
        )
        return Observation("", next(pictures), clips)
