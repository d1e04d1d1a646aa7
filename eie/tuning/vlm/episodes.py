"""Episodes with the teacher's labels, in a file of JSON lines.

What is kept of images is what the vision model detected in them, so that an episode takes a few
kilobytes and trains a language model without rendering anything again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from pydantic import BaseModel

from inhabit.agents.core import Decision, View
from inhabit.agents.dialogue.history import frames_of, without_repeated
from inhabit.agents.models.vlm.sight import FEATURES, FrameDetector, Table, look, nothing
from inhabit.envs.core import Action, Env, Expert, Reason, Task
from inhabit.episodes.episode import MAX_INVALID, Episode, Limits
from inhabit.episodes.recording.schema import Choice, Ending
from inhabit.episodes.recording.schema import Sight as Shown


class Teacher(Protocol):
    """Knows what to do at any step, whoever led there (DAgger, Ross et al., 2011)."""

    def choose(
        self, view: View, looks: Sequence[Table], hidden: int | None = None
    ) -> Action | None:
        """The best candidate of `view`; None if the teacher knows none.

        Args:
            view: of the present step.
            looks: what was detected before each step of its history, and now.
            hidden: a class that it is not to know of.
        """


class ExpertTeacher:
    """The expert of an environment. It knows more than is seen."""

    def __init__(self, env: Env) -> None:
        assert isinstance(env, Expert), "It has an expert."
        self._env = env

    def choose(
        self, view: View, looks: Sequence[Table], hidden: int | None = None
    ) -> Action | None:
        """The first action of its plan."""
        return next(iter(self._env.plan()), None)


class LabelledStep(BaseModel, frozen=True, extra="forbid"):
    """What an agent knew at a step, what the teacher would do, and what was done."""

    text: str
    """Text of the observation."""
    look: tuple[tuple[float, ...], ...]
    """What was detected, rounded (`agents/models/vlm/sight.py`)."""
    best: str
    """The teacher's action."""
    hidden: int | None = None
    """The detected class that `best` goes to, if the goal names it."""
    unseen: str = ""
    """The teacher's action if it had never detected `hidden`; empty if that is `best`."""
    action: str = ""
    """What was done; empty as long as nothing is."""
    reason: Reason | None = None
    """Why the action had no effect."""
    feedback: str = ""
    cost: int = 0
    """Low-level steps of the action; in `minedojo`, ticks."""

    @property
    def table(self) -> Table:
        """The detections."""
        return np.array(self.look, np.float32).reshape(-1, 1 + FEATURES)


Chooser = Callable[[View, Action, Sequence[LabelledStep]], Action]
"""Chooses the action to execute, given what is known, the teacher's action, and all steps: of the
last one, the present, nothing is done yet."""


class LabelledEpisode(BaseModel, frozen=True, extra="forbid"):
    """An episode."""

    task: Task
    seed: int
    black: bool
    """Whether nothing was seen."""
    success: bool
    steps: tuple[LabelledStep, ...]

    @property
    def path_weighted(self) -> float:
        """Success, weighted by the length of the path."""
        least = max(1, self.task.reference_cost or 1)
        return self.success * least / max(least, sum(step.cost for step in self.steps))

    def blinded(self) -> LabelledEpisode:
        """The same actions and labels, with nothing detected."""
        steps = tuple(step.model_copy(update={"look": ()}) for step in self.steps)
        return self.model_copy(update={"steps": steps})


def play(
    env: Env,
    task: Task,
    *,
    seed: int,
    sight: FrameDetector,
    teacher: Teacher,
    act: Chooser,
    black: bool,
    candidates: Choice = Choice.VOCABULARY,
) -> LabelledEpisode:
    """Play `task`, labelled by `teacher`. The episode ends where the teacher knows no action.

    `act` chooses among `candidates`. With `black`, images show nothing.
    """
    limits, shown = Limits(task.max_steps, MAX_INVALID), Shown.NONE if black else Shown.SHOWN
    episode = Episode(env, task, seed, limits, candidates, shown)
    looks: list[Table] = []
    steps: list[LabelledStep] = []
    now = episode.reset()
    while now.ending is None:
        view, text = now.view(), now.observation.text
        frames = frames_of(view.observation)
        looks.append(look([sight.frame(rgb) for rgb in frames]) if frames else nothing())
        if (best := teacher.choose(view, looks)) is None:
            break
        hidden = _wanted(best, view, looks, sight.names)
        unseen = best if hidden is None else teacher.choose(view, looks, hidden) or best
        step = LabelledStep(
            text=text,
            look=tuple(tuple(round(float(x), 3) for x in row) for row in looks[-1]),
            best=best.text,
            hidden=hidden,
            unseen="" if unseen == best else unseen.text,
        )
        action = act(view, best, [*steps, step])
        now = episode.act(Decision(action))
        done = {"reason": now.reason, "feedback": now.feedback, "cost": now.cost}
        steps.append(step.model_copy(update={"action": action.text, **done}))
    success = now.ending is Ending.SUCCESS
    return LabelledEpisode(task=task, seed=seed, black=black, success=success, steps=tuple(steps))


def noisy_teacher(share: float, rng: random.Random) -> Chooser:
    """The teacher, with a share of random actions, so that a learner sees recoveries."""

    def act(view: View, best: Action, steps: Sequence[LabelledStep]) -> Action:
        return rng.choice(without_repeated(view)) if rng.random() < share else best

    return act


def append(episode: LabelledEpisode, file: Path) -> None:
    """Add an episode to `file`, in place of a last line that is not whole, of a killed process."""
    with file.open("ab+") as lines:
        lines.seek(0)
        whole = sum(len(line) for line in lines if line.endswith(b"\n"))
        lines.truncate(whole)
        lines.write((episode.model_dump_json(exclude_defaults=True) + "\n").encode())


def episodes_in(file: Path) -> Iterator[LabelledEpisode]:
    """The episodes of `file`, without a last line that is not whole."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield LabelledEpisode.model_validate_json(line)


def _wanted(best: Action, view: View, looks: Sequence[Table], names: Sequence[str]) -> int | None:
    """The class that the goal names and `best` goes to, if it was detected."""
    noun = best.text.removeprefix("go to the ").partition("_")[0]
    if best.verb != "go to" or noun not in names or noun not in view.goal.lower():
        return None
    known = names.index(noun)
    return known if any(row[0] == known for table in looks for row in table) else None
