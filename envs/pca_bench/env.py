"""PCA-Bench as an environment: every episode is one decision."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import BaseModel, JsonValue

from envs.core import (
    Action,
    Determinism,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneError,
    Task,
    TaskError,
)
from envs.pca_bench import PcaSettings
from envs.pca_bench.recipes import Situation, solve
from envs.pca_bench.records import parquet_rows
from envs.pca_bench.results import INVENTORY, MOBS, counts, names, schemas
from envs.pca_bench.scene import Domain, PcaScene, read_scene

_CHOOSE = "choose"
_MOST = 64_000_000
"""Pixels of a picture that are read; more is no photograph of the benchmark."""


class PcaBench(Env):
    """A picture, some options, one choice: right or wrong, the episode is over."""

    Scene: ClassVar[type[BaseModel]] = PcaScene
    determinism = Determinism.FRAMES

    def __init__(self, settings: PcaSettings | None = None) -> None:
        self._settings = settings or PcaSettings()
        self._scene = PcaScene(domain=Domain.HOME, actions=("yes", "no"), answer=0)
        self._goal = ""
        self._rgb: NDArray[np.uint8] | None = None
        self._chosen: str | None = None

    def reset(self, task: Task, *, seed: int) -> None:
        """Show the instance; nothing is left to chance."""
        self._scene = read_scene(task)
        self._goal = task.goal
        self._rgb = _read_picture(task, self._scene)
        self._chosen = None

    def observe(self) -> Observation:
        """The picture, if there is one, and what it can't show."""
        return Observation(self._scene.facts, self._rgb)

    def vocabulary(self) -> Sequence[Action]:
        """The options, in the benchmark's order."""
        return [_action(text) for text in self._scene.actions]

    def actions(self) -> Sequence[Action]:
        """The same."""
        return self.vocabulary()

    def parse(self, text: str) -> Action | None:
        """The option in these words; case, space and a full stop don't matter."""
        said = _plain(text)
        exact = [a for a in self._scene.actions if a == text.strip()]
        alike = [a for a in self._scene.actions if said and _plain(a) == said]
        return _action((exact or alike)[0]) if exact or alike else None

    def act(self, action: Action) -> Outcome:
        """Answer."""
        if action.text not in self._scene.actions:
            return Outcome(
                Reason.UNKNOWN_ACTION,
                "That is none of the options.",
                *self.progress(),
                over=self._chosen is not None,
                cost=0,
            )
        if self._chosen is None:
            self._chosen = action.text
        right = self.progress()[0] == 1
        return Outcome(
            None, "That is right." if right else "That is wrong.", *self.progress(), over=True
        )

    def progress(self) -> tuple[int, int]:
        """Whether the right option was chosen."""
        return int(self._chosen == self._answer), 1

    def close(self) -> None:
        """Nothing to let go of."""

    def plan(self) -> Sequence[Action]:
        """The right option; or, where recipes are to tell, what they come to."""
        if self._chosen is not None:
            return []
        text = self._answer if self._settings.expert == "answers" else self._by_recipe()
        return [] if text is None else [_action(text)]

    def best_actions(self) -> frozenset[Action]:
        """The right option, and no other."""
        return frozenset() if self._chosen is not None else frozenset({_action(self._answer)})

    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        """The functions whose results the benchmark has cached for this instance."""
        return schemas(self._scene.domain, self._scene.results)

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """A cached result.

        Raises:
            KeyError: there is none.
        """
        return self._scene.results[name]

    def state(self) -> Mapping[str, JsonValue]:
        """What was chosen, and what judges go by: `key_concepts` and `reason`."""
        return {
            "domain": self._scene.domain.value,
            "chosen": self._chosen,
            "answer": self._answer,
            "key_concepts": list(self._scene.key_concepts),
            "reason": self._scene.reason,
        }

    def digest(self) -> str:
        """Sixteen hexadecimal digits of the state."""
        text = json.dumps(self.state(), sort_keys=True)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]

    def admissible(self) -> Sequence[Action]:
        """Every option can be chosen."""
        return self.vocabulary()

    @property
    def _answer(self) -> str:
        return self._scene.actions[self._scene.answer]

    def _by_recipe(self) -> str | None:
        results = self._scene.results
        if self._scene.domain is not Domain.GAME or INVENTORY not in results:
            return None
        situation = Situation.of(
            counts(results[INVENTORY]), names(results.get(MOBS, [])), self._scene.actions
        )
        return solve(self._goal, situation)


def _action(text: str) -> Action:
    return Action(text, _CHOOSE)


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .\"'")


def _read_picture(task: Task, scene: PcaScene) -> NDArray[np.uint8] | None:
    if scene.image is None:
        return None
    try:
        source = scene.image if scene.row is None else io.BytesIO(_bytes(scene, scene.row))
        with Image.open(source) as picture:
            if picture.width * picture.height > _MOST:
                raise ValueError(f"it has {picture.width} x {picture.height} pixels")
            return np.asarray(picture.convert("RGB"))
    except (OSError, ValueError, IndexError, TaskError, Image.DecompressionBombError) as error:
        raise SceneError(
            f"Task {task.id!r}, scene.image: {scene.image} can't be shown: {error}."
        ) from error


def _bytes(scene: PcaScene, row: int) -> bytes:
    assert scene.image is not None
    cell = parquet_rows(scene.image, ["image"]).column("image")[row].as_py()
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    if not isinstance(content, bytes):
        raise ValueError(f"row {row} holds no picture")
    return content
