"""iWISDM as an environment: frames to watch, with answers when they are due; its sampled tasks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NoReturn

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from inhabit.envs.core import (
    Action,
    Clip,
    Determinism,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneError,
    Task,
    TaskError,
)
from inhabit.envs.iwisdm import IwisdmSettings, Join, Level
from inhabit.envs.iwisdm.library import CATEGORIES, IwisdmTrial, TrialAuthor
from inhabit.envs.plain_data import state_digest, validated_scene


class IwisdmScene(BaseModel):
    """A level, a way of joining tasks, and the seed that the library draws from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Level = "low"
    join: Join = "none"
    seed: int = Field(default=0, ge=0, lt=2**32)


NULL = "null"
"""The answer to a frame without a question."""
_TRUTHS = ("true", "false")
_PLACES = ("top left", "top right", "bottom left", "bottom right")
ANSWERS = (NULL, *_TRUTHS, *_PLACES, *CATEGORIES)


def plausible(instruction: str) -> Sequence[str]:
    """The possible answers to an instruction's questions, without "null".

    Chance is one over their number: a half for what is true or false, a quarter for a place, an
    eighth for a category.
    """
    found: set[str] = set()
    for question in instruction.split("?")[:-1]:
        asked = re.split(r"\bthen |\belse |, ", question)[-1].strip()
        if "equals" in asked:
            found.update(_TRUTHS)
        elif asked.startswith("location"):
            found.update(_PLACES)
        elif asked.startswith("category"):
            found.update(CATEGORIES)
    return [answer for answer in ANSWERS if answer in found]


_ANSWER = "answer"
_NONE = IwisdmTrial("", (NULL,), np.zeros((1, 224, 224, 3), np.uint8))


def make(backend: str, settings: IwisdmSettings) -> Iwisdm:
    """An iWISDM environment."""
    return Iwisdm(settings)


class Iwisdm(Env):
    """One trial. Solved if every due answer is right; answers that are not due have no effect."""

    Scene: ClassVar[type[BaseModel]] = IwisdmScene
    determinism = Determinism.FRAMES

    def __init__(
        self, settings: IwisdmSettings | None = None, author: TrialAuthor | None = None
    ) -> None:
        """Start the library, or use `author`, which environments of one thread may share.

        Raises:
            UnavailableError: it is not there.
        """
        self._together = (settings or IwisdmSettings()).showing == "together"
        self._own = author is None
        self._author = author or TrialAuthor()
        self._trial = _NONE
        self._said: list[str] = []

    def reset(self, task: Task, *, seed: int) -> None:
        """Generate the trial from the scene's own seed."""
        scene = validated_scene(IwisdmScene, task)
        trial = self._author.write(scene.level, scene.join, scene.seed)
        if trial.instruction != task.goal:
            raise SceneError(
                f"Task {task.id!r}, goal: the seed now gives {trial.instruction!r}. "
                "The task was made with another version of iWISDM; sample it again."
            )
        self._trial = trial
        self._said = []

    def observe(self) -> Observation:
        """The current frame; with `showing=together`, all frames as a clip and the last one."""
        frames, step = self._trial.frames, len(self._said)
        if self._together:
            due = len(self._due)
            text = f"You have seen all {len(frames)} frames. Give answer {min(step + 1, due)} of "
            return Observation(f"{text}{due}.", frames[-1], (Clip(frames),))
        shown = min(step, len(frames) - 1)
        return Observation(
            f"Frame {shown + 1} of {len(frames)}. Say {NULL} unless an answer is due now.",
            frames[shown],
        )

    def vocabulary(self) -> Sequence[Action]:
        """All possible answers to any instruction."""
        return [Action(answer, _ANSWER) for answer in ANSWERS]

    def actions(self) -> Sequence[Action]:
        """The possible answers to this instruction, and "null" if an answer may not be due."""
        answers = plausible(self._trial.instruction)
        return [Action(a, _ANSWER) for a in (answers if self._together else (NULL, *answers))]

    def parse(self, text: str) -> Action | None:
        """Parse an answer; case and a final full stop are ignored."""
        said = " ".join(text.lower().split()).strip(" .\"'")
        return Action(said, _ANSWER) if said in ANSWERS else None

    def act(self, action: Action) -> Outcome:
        """Answer, or wait."""
        if action.text not in ANSWERS:
            return Outcome(
                Reason.UNKNOWN_ACTION, "That is no answer.", *self.progress(), self._over, cost=0
            )
        if not self._over:
            self._said.append(action.text)
        waits = action.text == NULL
        said = "You wait." if waits else f"You answer {action.text}."
        return Outcome(None, said, *self.progress(), over=self._over)

    def progress(self) -> tuple[int, int]:
        """The number of right due answers, and the number of due answers."""
        pairs = zip(self._said, self._wanted, strict=False)
        return sum(said == right != NULL for said, right in pairs), len(self._due)

    def close(self) -> None:
        """Stop the library."""
        if self._own:
            self._author.close()

    def plan(self) -> Sequence[Action]:
        """The remaining right answers."""
        return [Action(answer, _ANSWER) for answer in self._wanted[len(self._said) :]]

    def best_actions(self) -> frozenset[Action]:
        """The right answer now."""
        return frozenset(self.plan()[:1])

    def state(self) -> Mapping[str, JsonValue]:
        """The given and the right answers."""
        return {
            "instruction": self._trial.instruction,
            "said": list(self._said),
            "answers": list(self._trial.answers),
        }

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the state's SHA-256."""
        return state_digest(self.state())

    def admissible(self) -> Sequence[Action]:
        """Every answer can be given."""
        return self.actions()

    @property
    def _due(self) -> tuple[str, ...]:
        return tuple(answer for answer in self._trial.answers if answer != NULL)

    @property
    def _wanted(self) -> tuple[str, ...]:
        """The right answer at each step."""
        return self._due if self._together else self._trial.answers

    @property
    def _over(self) -> bool:
        return len(self._said) >= len(self._wanted)


def read(source: str, settings: IwisdmSettings) -> NoReturn:
    """IWISDM has no named tasks.

    Raises:
        TaskError: always.
    """
    raise TaskError(
        f"Unknown iWISDM tasks {source!r}. Use --n and --seed with --set level=LEVEL, or a "
        ".jsonl file of tasks."
    )


def sample(n: int, seed: int, settings: IwisdmSettings) -> Iterator[Task]:
    """`n` trials; the first k trials do not depend on `n`.

    Raises:
        UnavailableError: the library is not there.
    """
    level, join = settings.level, settings.join
    author = TrialAuthor()
    try:
        for i in range(n):
            digest = hashlib.sha256(f"iwisdm {level} {join} {seed} {i}".encode()).digest()
            scene = IwisdmScene(level=level, join=join, seed=int.from_bytes(digest[:4]))
            trial = author.write(level, join, scene.seed)
            yield Task(
                id=f"iwisdm-{level}-{join}-{seed}-{i}",
                env="iwisdm",
                kind=level if join == "none" else f"{level}_{join}",
                goal=trial.instruction,
                scene=scene.model_dump(mode="json"),
                max_steps=len(trial.answers),
                reference_cost=len(trial.answers),
            )
    finally:
        author.close()
