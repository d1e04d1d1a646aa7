"""A key and a door on a grid: take the key, unlock the door, walk out. With an image."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inhabit.envs.core import (
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
from inhabit.envs.registry import Registration

MOVES = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}
WORDS = [
    *(Action(f"go {way}", "go", (way,)) for way in MOVES),
    Action("take the key", "take"),
    Action("unlock the door", "unlock"),
]
COLOURS = {
    "floor": (225, 225, 215),
    "agent": (30, 90, 200),
    "key": (230, 180, 30),
    "door": (120, 70, 30),
}


class Settings(BaseModel):
    """What `--set` may say."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    pixels: int = Field(default=16, ge=4, le=64, description="Side of a cell, in pixels.")


class Scene(BaseModel):
    """A square room: cells count from 0, x to the east, y to the south."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    size: int = Field(default=5, ge=2, le=12)
    agent: tuple[int, int] = (0, 0)
    key: tuple[int, int] = (2, 2)
    door: tuple[int, int] = (4, 4)


class KeyDoor(Env):
    """The agent sees the whole room. Two goal conditions: the key is taken, the door is open."""

    Scene = Scene
    determinism = Determinism.FRAMES

    def __init__(self, settings: Settings) -> None:
        self._pixels = settings.pixels
        self._scene, self._at, self._has_key, self._open = Scene(), (0, 0), False, False

    def reset(self, task: Task, *, seed: int) -> None:
        try:
            self._scene = Scene.model_validate(dict(task.scene))
        except ValidationError as error:
            raise SceneError(f"Task {task.id!r}: {error}") from error
        self._at, self._has_key, self._open = self._scene.agent, False, False

    def observe(self) -> Observation:
        cells = np.full((self._scene.size, self._scene.size, 3), COLOURS["floor"], np.uint8)
        cells[self._scene.door[::-1]] = COLOURS["door"]
        if not self._has_key:
            cells[self._scene.key[::-1]] = COLOURS["key"]
        cells[self._at[::-1]] = COLOURS["agent"]
        rgb = cells.repeat(self._pixels, axis=0).repeat(self._pixels, axis=1)
        return Observation("You have the key." if self._has_key else "", rgb)

    def vocabulary(self) -> Sequence[Action]:
        return list(WORDS)

    def actions(self) -> Sequence[Action]:
        return list(WORDS)

    def parse(self, text: str) -> Action | None:
        return next((a for a in WORDS if a.text == text.strip().lower()), None)

    def act(self, action: Action) -> Outcome:
        reason, feedback = self._try(action)
        met, total = self.progress()
        return Outcome(reason, feedback, met, total, over=met == total)

    def _try(self, action: Action) -> tuple[Reason | None, str]:
        if action not in WORDS:
            return Reason.UNKNOWN_ACTION, "Say where to go, or take the key, or unlock the door."
        if action.verb == "go":
            dx, dy = MOVES[action.arguments[0]]
            x, y = self._at[0] + dx, self._at[1] + dy
            if not (0 <= x < self._scene.size and 0 <= y < self._scene.size):
                return Reason.BLOCKED, "There is a wall."
            self._at = (x, y)
            return None, f"You went {action.arguments[0]}."
        if action.verb == "take":
            if self._has_key:
                return Reason.ALREADY, "You have the key already."
            if self._at != self._scene.key:
                return Reason.OUT_OF_REACH, "The key is not here."
            self._has_key = True
            return None, "You took the key."
        if self._at != self._scene.door:
            return Reason.OUT_OF_REACH, "The door is not here."
        if not self._has_key:
            return Reason.MISSING_ITEM, "The door is locked, and you have no key."
        self._open = True
        return None, "The door is open."

    def progress(self) -> tuple[int, int]:
        return int(self._has_key) + int(self._open), 2

    def close(self) -> None:
        """Nothing to let go of."""

    def plan(self) -> Sequence[Action]:
        """A shortest solution: what makes this environment an `Expert`."""
        if self._open:
            return []
        unlock = [*self._walk(self._scene.key, self._scene.door), WORDS[5]]
        if self._has_key:
            return [*self._walk(self._at, self._scene.door), WORDS[5]]
        return [*self._walk(self._at, self._scene.key), WORDS[4], *unlock]

    def best_actions(self) -> frozenset[Action] | None:
        return None  # several paths are as short; None says that they are not listed

    def _walk(self, start: tuple[int, int], end: tuple[int, int]) -> list[Action]:
        north, south, west, east = WORDS[:4]
        dx, dy = end[0] - start[0], end[1] - start[1]
        return [east if dx > 0 else west] * abs(dx) + [south if dy > 0 else north] * abs(dy)

    def state(self) -> dict[str, object]:
        """With `digest` and `admissible`, what lets replay compare states."""
        return {
            **self._scene.model_dump(mode="json"),
            "at": list(self._at),
            "has_key": self._has_key,
            "open": self._open,
        }

    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.state(), sort_keys=True).encode()).hexdigest()[:16]

    def admissible(self) -> Sequence[Action]:
        return [action for action in WORDS if self._copy()._try(action)[0] is None]

    def _copy(self) -> KeyDoor:
        copy = KeyDoor(Settings(pixels=self._pixels))
        copy.__dict__.update(self.__dict__)
        return copy


def sample(n: int, seed: int, settings: Settings) -> Iterator[Task]:
    """Task number i depends on the seed and on i alone, so that the first tasks stay the same."""
    for i in range(n):
        rng = random.Random(f"keydoor {seed} {i}")
        size = rng.randint(4, 7)
        cells = [(x, y) for x in range(size) for y in range(size)]
        agent, key, door = rng.sample(cells, 3)
        steps = sum(abs(a - b) for a, b in zip((*agent, *key), (*key, *door), strict=True)) + 2
        scene = Scene(size=size, agent=agent, key=key, door=door).model_dump(mode="json")
        yield Task(
            id=f"keydoor-{seed}-{i}",
            env="keydoor",
            kind="escape",
            goal="Take the key and unlock the door.",
            scene=scene,
            max_steps=3 * steps,
            reference_cost=steps,
        )


def read(source: str, settings: Settings) -> Iterator[Task]:
    raise TaskError(
        f"keydoor has no tasks called {source!r}: use --n and --seed, or a .jsonl file."
    )


REGISTRATION = Registration(
    name="keydoor",
    summary="a key and a locked door on a grid",
    backends=("grid",),
    settings=Settings,
    make=lambda backend, settings: KeyDoor(settings),
    sample=sample,
    read=read,
)
