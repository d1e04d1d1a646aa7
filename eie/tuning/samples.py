"""Training samples: prompts and answers made from examples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.core import Image, Message
from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example, Past
from inhabit.eie.tuning.settings import TuneError, TuneSettings
from inhabit.envs.core import Action, Clip, Observation, Reason
from inhabit.envs.entries import first_problem
from inhabit.envs.files import read_lines
from inhabit.episodes.recording.picture import read_picture


@dataclass(frozen=True, slots=True)
class Sample:
    """A training example. Its images are read from the set's folder when needed."""

    folder: Path
    example: Example

    @property
    def answer(self) -> str:
        """Text of the correct candidate."""
        return self.example.candidates[self.example.answer]

    @property
    def episode(self) -> str:
        """The episode that it is a step of: all its steps have the same, and no other example."""
        made = self.example.lineage
        if made is None or self.example.kind != "trajectory":
            return self.example.id
        return f"{self.folder}/{made.task.get('id')}/{made.seed}/{self.example.goal}"


_EVERY = 10_000
"""More past steps than any episode has."""
Look = Callable[[Path, str], NDArray[np.uint8]]
"""Reads an image, given the folder of its set and its name there."""


class Wording:
    """Builds the prompts of the planners, so that training and use agree."""

    def __init__(self, settings: TuneSettings, *, sees: bool) -> None:
        """Build prompts; `sees` says whether the model accepts images."""
        history = 8 if settings.history is None else settings.history
        told = PromptSettings(
            history=history,
            pictures=_EVERY if history == "whole" else 0,
            keyframes=settings.keyframes,
            prompt=settings.prompt,
        )
        self._prompt = Prompt("rank", settings=told)
        self._question = Prompt("question")
        self._sees = sees and settings.pictures

    def messages(self, sample: Sample, look: Look | None = None) -> Sequence[Message]:
        """The prompt of `sample`; `look` reads its images, by default `picture`.

        Raises:
            TuneError: an image of it can't be read.
        """
        example, look = sample.example, look or picture
        if example.kind in ("recognition", "photograph"):
            return self._asked(sample, look)
        shown = [p.image for p in example.history] if self._prompt.settings.pictures else []
        seen = [look(sample.folder, file) if file and self._sees else None for file in shown]
        view = view_of(example.goal, self._observed(sample, look), example.history, seen)
        return self._prompt.messages(view, images=self._sees)

    def _observed(self, sample: Sample, look: Look) -> Observation:
        """The observation of an example; without its images if the model takes none."""
        example = sample.example
        if not self._sees or not example.image:
            return Observation(example.text)
        frames = [look(sample.folder, file) for file in example.frames]
        clips = (Clip(np.stack(frames)),) if frames else ()
        return Observation(example.text, look(sample.folder, example.image), clips)

    def _asked(self, sample: Sample, look: Look) -> Sequence[Message]:
        """The prompt of a question that planners don't ask, with all images at the end."""
        example = sample.example
        files = [past.image for past in example.history if past.image] + [example.image]
        seen = [Image(look(sample.folder, f)) for f in files] if self._sees else []
        view = view_of(example.question, Observation(example.text), ())
        system, user = self._question.messages(view, images=False)
        return system, Message("user", (*user.parts, *seen))


def read(folder: Path, split: Split) -> Iterator[Sample]:
    """The examples of `split` in the set `folder`, in their order.

    Raises:
        TuneError: there is no such set, or a line of it is not an example.
    """
    file = folder / "examples.jsonl"
    try:
        for number, line in enumerate(read_lines(file, folder), 1):
            try:
                example = Example.model_validate_json(line)
            except ValidationError as error:
                raise TuneError(
                    f"Line {number} of {file} is not an example: {first_problem(error)}."
                ) from error
            if example.answer >= len(example.candidates):
                raise TuneError(f"Line {number} of {file} has no candidate {example.answer}.")
            if example.split == split:
                yield Sample(folder, example)
    except OSError as error:
        raise TuneError(f"{folder} is not a set of examples: {error.strerror}.") from error


def choose(
    samples: Iterable[Sample], kinds: Collection[str], limit: int | None, seed: int
) -> list[Sample]:
    """The samples of `kinds`, or of all if there are none; shuffled by `seed`, at most `limit`."""
    kept = [s for s in samples if not kinds or s.example.kind in kinds]
    return [kept[i] for i in np.random.default_rng(seed).permutation(len(kept))[:limit]]


def view_of(
    goal: str,
    observation: Observation,
    past: Sequence[Past],
    seen: Sequence[NDArray[np.uint8] | None] = (),
) -> View:
    """The view that an example was made from, without candidates; `seen` are images of `past`."""
    return View(
        goal=goal,
        observation=observation,
        candidates=(),
        history=tuple(
            Step(p.action, Reason.BLOCKED if p.failed else None, p.feedback, rgb)
            for p, rgb in zip_longest(past, seen)
        ),
        seed=0,
        parse=_parse_nothing,
    )


async def _parse_nothing(text: str) -> Action | None:
    """Parse nothing: an example has no environment."""
    return None


def picture(folder: Path, name: str) -> NDArray[np.uint8]:
    """An image of the set `folder`, uint8 (H, W, 3).

    Raises:
        TuneError: it can't be read, or lies outside the set.
    """
    if not _lies_inside(name):
        raise TuneError(f"The image {name!r} lies outside of the set {folder}.")
    found = read_picture(folder / name, folder, ("PNG", "JPEG"))
    if found is None:
        raise TuneError(f"The image {folder / name} can't be read.")
    return np.asarray(found.convert("RGB"))


def picture_file(folder: Path, name: str) -> Path:
    """The file of an image of the set `folder`.

    Raises:
        TuneError: it is not there, or lies outside the set.
    """
    file = (folder / name).resolve()
    if not _lies_inside(name) or not file.is_relative_to(folder.resolve()):
        raise TuneError(f"The image {name!r} lies outside of the set {folder}.")
    if not file.is_file():
        raise TuneError(f"The image {folder / name} can't be read.")
    return file


def _lies_inside(name: str) -> bool:
    return not Path(name).is_absolute() and ".." not in Path(name).parts
