"""Episodes labelled by an expert, recorded in a folder.

The expert acts, or the learner does while the expert says at each step what it would do (DAgger,
Ross et al., 2011). What is in view is kept as images, or in words: then a model can learn what to
do before it learns to see, from many more decisions, because nothing is rendered.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
from pydantic import BaseModel, ConfigDict

from inhabit.agents.core import Step, View
from inhabit.agents.models.core import Image
from inhabit.agents.prompts.frames import frames_of
from inhabit.agents.prompts.history import without_repeated
from inhabit.envs.core import Action, Env, Expert, Observation, Reason, Task
from inhabit.envs.files import read_lines

EPISODES, FRAMES = "episodes.jsonl", "frames"
_NAME = re.compile(r"\b([a-z][a-z \-]*)_\d+\b")
_SENTENCE = re.compile(r"[^.!?]+[.!?]?")
_FAILURES = 10
"""Failed actions that end an episode, as in runs."""

Chooser = Callable[[View, Action], Action]
"""Chooses the action to execute, given what is known and the expert's action."""


class RecordedStep(BaseModel):
    """What an agent knew at a step, what the expert would do, and what was done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    """Text of the observation."""
    frames: tuple[str, ...] = ()
    """Files of the frames of its clips and of its image, in order."""
    best: str
    """The expert's action."""
    action: str
    reason: Reason | None = None
    """Why the action had no effect."""
    feedback: str = ""


class RecordedEpisode(BaseModel):
    """An episode with the expert's labels."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: Task
    success: bool
    vocabulary: tuple[str, ...]
    """The actions that there were to choose from."""
    steps: tuple[RecordedStep, ...]


def record(
    env: Env, task: Task, *, act: Chooser, seed: int, max_steps: int, folder: Path, in_words: bool
) -> RecordedEpisode:
    """Play `task`, and write its frames to `folder`.

    It ends early if the expert has no plan, or ten actions have failed.

    Args:
        env: with an expert.
        task: of the episode.
        act: chooses the actions.
        seed: of the episode.
        max_steps: maximum number of steps.
        folder: of the recording.
        in_words: reduce the text of observations to the kinds of objects in view.
    """
    assert isinstance(env, Expert), "Labels need an environment with an expert."
    env.reset(task, seed=seed)
    actions = tuple(env.vocabulary())
    steps: list[RecordedStep] = []
    past: list[Step] = []
    met, total = env.progress()
    while met < total and len(past) < max_steps and _failures(past) < _FAILURES:
        seen = env.observe()
        if in_words:
            seen = Observation(kinds_in_view(seen.text))
        plan = env.plan()
        if not plan:
            break
        view = View(task.goal, seen, actions, tuple(past), seed, _parse_nothing)
        action = act(view, plan[0])
        outcome = env.act(action)
        past.append(Step(action.text, outcome.reason, outcome.feedback))
        steps.append(
            RecordedStep(
                text=seen.text,
                frames=tuple(_kept(frame, folder) for frame in frames_of(seen)),
                best=plan[0].text,
                action=action.text,
                reason=outcome.reason,
                feedback=outcome.feedback,
            )
        )
        met, total = outcome.met, outcome.total
    return RecordedEpisode(
        task=task,
        success=met == total,
        vocabulary=tuple(action.text for action in actions),
        steps=tuple(steps),
    )


def noisy_expert(share: float, seed: int) -> Chooser:
    """The expert, with a share of random actions, so that a learner sees recoveries."""
    rng = random.Random(f"slips {seed}")

    def act(view: View, best: Action) -> Action:
        return rng.choice(without_repeated(view)) if rng.random() < share else best

    return act


def append(episode: RecordedEpisode, folder: Path) -> None:
    """Add an episode to the recording in `folder`."""
    with (folder / EPISODES).open("a", encoding="utf-8") as file:
        file.write(episode.model_dump_json() + "\n")


def episodes_in(folder: Path) -> Iterator[RecordedEpisode]:
    """The episodes of a recording."""
    for line in read_lines(folder / EPISODES, folder):
        yield RecordedEpisode.model_validate_json(line)


def kinds_in_view(text: str) -> str:
    """A text observation with each kind of object named once, without numbers.

    "You see: mug_1, mug_2. You have just seen besides: sink_1." becomes "You see: mug sink."
    """
    kept = [s for s in _SENTENCE.findall(text) if not _NAME.search(s) and ":" not in s]
    kinds = sorted({name.strip() for name in _NAME.findall(text)})
    if kinds:
        kept.append(f" You see: {' '.join(kinds)}.")
    return "".join(kept).strip()


def _failures(past: Sequence[Step]) -> int:
    return sum(step.reason is not None for step in past)


def _kept(frame: NDArray[np.uint8], folder: Path) -> str:
    """The file of a frame, relative to `folder`; equal frames share one."""
    name = f"{FRAMES}/{Image(frame).digest}.png"
    if not (folder / name).exists():
        (folder / FRAMES).mkdir(parents=True, exist_ok=True)
        Picture.fromarray(frame).save(folder / name, compress_level=1)
    return name


async def _parse_nothing(text: str) -> Action | None:
    """Parse nothing: no model is asked."""
    return None
