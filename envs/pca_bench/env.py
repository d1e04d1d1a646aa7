"""PCA-Bench as an environment: every episode is one decision."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, JsonValue

from inhabit.envs.core import Action, Observation, SceneError, Task, TaskError
from inhabit.envs.multiple_choice import MultipleChoice
from inhabit.envs.pca_bench.sampling import Situation, solve
from inhabit.envs.pca_bench.scene import (
    INVENTORY,
    MOBS,
    Domain,
    PcaScene,
    PcaSettings,
    counts,
    names,
    schemas,
)
from inhabit.envs.pca_bench.tasks import parquet_rows
from inhabit.envs.pictures import read_image
from inhabit.envs.plain_data import validated_scene

_MOST = 64_000_000
"""Maximum number of pixels of an image."""


def make(backend: str, settings: PcaSettings) -> PcaBench:
    """A PCA-Bench environment."""
    return PcaBench(settings)


class PcaBench(MultipleChoice[PcaScene]):
    """One instance: an image, a question and options."""

    Scene: ClassVar[type[BaseModel]] = PcaScene

    def __init__(self, settings: PcaSettings | None = None) -> None:
        super().__init__(PcaScene(domain=Domain.HOME, actions=("yes", "no"), answer=0))
        self._settings = settings or PcaSettings()
        self._goal = ""
        self._rgb: NDArray[np.uint8] | None = None

    def reset(self, task: Task, *, seed: int) -> None:
        """Show the instance. The seed has no effect."""
        self._scene = validated_scene(PcaScene, task)
        self._goal = task.goal
        self._rgb = _read_picture(task, self._scene)
        self.begin()

    def observe(self) -> Observation:
        """The image, if there is one, and a text with what it does not show."""
        return Observation(self._scene.facts, self._rgb)

    def plan(self) -> Sequence[Action]:
        """The right option or, with `expert=recipes`, the one that follows from the recipes."""
        return self.only(self.answer if self._settings.expert == "answers" else self._by_recipe())

    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        """The functions with cached results for this instance."""
        return schemas(self._scene.domain, self._scene.results)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """A cached result.

        Raises:
            KeyError: there is no such tool.
        """
        return self._scene.results[name]

    def state(self) -> Mapping[str, JsonValue]:
        """The chosen and the right option, and `key_concepts` and `reason` for judges."""
        return {
            **super().state(),
            "domain": self._scene.domain.value,
            "key_concepts": list(self._scene.key_concepts),
            "reason": self._scene.reason,
        }

    def _by_recipe(self) -> str | None:
        results = self._scene.results
        if self._scene.domain is not Domain.GAME or INVENTORY not in results:
            return None
        situation = Situation.of(
            counts(results[INVENTORY]), names(results.get(MOBS, [])), self._scene.actions
        )
        return solve(self._goal, situation)


def _read_picture(task: Task, scene: PcaScene) -> NDArray[np.uint8] | None:
    if scene.image is None:
        return None
    try:
        source = scene.image if scene.row is None else io.BytesIO(_bytes(scene, scene.row))
        return np.asarray(read_image(source, most=_MOST).convert("RGB"))
    except (OSError, ValueError, IndexError, TaskError) as error:
        raise SceneError(
            f"Task {task.id!r}, scene.image: {scene.image} can't be shown: {error}."
        ) from error


def _bytes(scene: PcaScene, row: int) -> bytes:
    assert scene.image is not None
    cell = parquet_rows(scene.image, ["image"]).column("image")[row].as_py()
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    if not isinstance(content, bytes):
        raise ValueError(f"row {row} has no image")
    return content
