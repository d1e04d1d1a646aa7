"""Training samples: prompts and answers made from examples."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.core import Message
from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example
from inhabit.eie.examples.view import facts_of, question_of, view_of
from inhabit.eie.tuning.settings import TuneError, TuneSettings
from inhabit.envs.entries import first_problem
from inhabit.envs.files import read_lines
from inhabit.episodes.recording.disk import read_picture


@dataclass(frozen=True, slots=True)
class Sample:
    """A training example. Its images are read from the set's folder when needed."""

    folder: Path
    example: Example

    @property
    def answer(self) -> str:
        """Text of the correct candidate."""
        return self.example.right

    @property
    def episode(self) -> str:
        """The episode that it is a step of: all its steps have the same, and no other example."""
        made = self.example.lineage
        if made is None or self.example.kind != "trajectory":
            return self.example.id
        return f"{self.folder}/{made.task.get('id')}/{made.seed}/{self.example.goal}"


_CANDIDATES = 10_000
"""Candidates of an example, at most: more than any vocabulary of ours has. The work grows with
them."""
_EVERY = 10_000
"""Past steps shown with images where `history` is "whole": more than any episode has."""
Look = Callable[[Path, str], NDArray[np.uint8]]
"""Reads an image, given the folder of its set and its name there."""


class Wording:
    """Builds the prompts of the agents, so that training and use agree."""

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
        seen = partial(look, sample.folder) if self._sees else None
        if example.kind in ("recognition", "photograph"):
            return question_of(example, seen, self._question)
        view = view_of(example, seen, past=self._prompt.settings.pictures > 0)
        text = " ".join(filter(None, (view.observation.text, *facts_of(example))))
        view = replace(view, observation=replace(view.observation, text=text))
        return self._prompt.messages(view, images=self._sees)


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
            if (count := len(example.candidates)) > _CANDIDATES:
                raise TuneError(
                    f"Line {number} of {file} has {count:,} candidates: at most {_CANDIDATES:,} "
                    "can be learned from."
                )
            if example.split == split:
                yield Sample(folder, example)
    except OSError as error:
        raise TuneError(
            f"{folder} is not a set of examples, as `inhabit synth` makes them: {file.name}: "
            f"{error.strerror}."
        ) from error


def choose(
    samples: Iterable[Sample], kinds: Collection[str], limit: int | None, seed: int
) -> list[Sample]:
    """The samples of `kinds`, or of all if there are none; shuffled by `seed`, at most `limit`."""
    kept = [s for s in samples if not kinds or s.example.kind in kinds]
    return [kept[i] for i in np.random.default_rng(seed).permutation(len(kept))[:limit]]


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
    return "\0" not in name and not Path(name).is_absolute() and ".." not in Path(name).parts
