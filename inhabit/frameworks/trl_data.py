"""Sets of examples as data sets of TRL (package trl 1.16): for SFTTrainer and DPOTrainer.

The prompts are those of the agents `rank` and `beam`, so that a model trained by TRL can act
here. For GRPO, which plays episodes, see `inhabit.frameworks.trl`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.models.core import Message
from inhabit.eie.checking.splits import Split
from inhabit.eie.tuning.samples import Sample, Wording, choose, picture_file, read
from inhabit.eie.tuning.settings import Objective, TuneError, TuneSettings
from inhabit.envs.extras import require

Row = dict[str, Any]
"""Conversations and, for models that see, the files of their pictures."""


def sft_dataset(
    folder: Path | str,
    split: Split = "train",
    *,
    kinds: Collection[str] = (),
    limit: int | None = None,
    seed: int = 0,
    pictures: bool = True,
    reasons: bool = False,
    history: int = 8,
) -> Any:
    """A `datasets.Dataset` of prompts and answers, for `trl.SFTTrainer`.

    Pictures are read from the set when a row is used.

    Args:
        folder: of a set, as `inhabit synth` writes it.
        split: of the examples.
        kinds: of the examples; all by default.
        limit: the first of a shuffle by `seed`; all by default.
        seed: of the shuffle.
        pictures: whether rows have images; False for models that see none.
        reasons: whether an answer begins with the reasoning.
        history: past steps in the prompt.

    Raises:
        TuneError: the set can't be read, or has no such examples.
        UnavailableError: the package datasets is missing.
    """
    wording = _wording(pictures, history)

    def rows() -> Iterator[Row]:
        for sample in choose(read(Path(folder), split), kinds, limit, seed):
            reason = f"{sample.example.reason} So: " if reasons else ""
            completion = [_turn("assistant", reason + sample.answer, pictures)]
            yield {**_prompt(sample, wording, pictures), "completion": completion}

    return _dataset(list(rows()), pictures)


def preference_dataset(
    folder: Path | str,
    split: Split = "train",
    *,
    pairs: int = 1,
    kinds: Collection[str] = (),
    limit: int | None = None,
    seed: int = 0,
    pictures: bool = True,
    history: int = 8,
) -> Any:
    """A `datasets.Dataset` of prompts, answers and wrong candidates, for `trl.DPOTrainer`.

    Args:
        folder: of a set, as `inhabit synth` writes it.
        split: of the examples.
        pairs: rows for each example, each with another wrong candidate, picked uniformly at random.
        kinds: of the examples; all by default.
        limit: of the examples: the first of a shuffle by `seed`; all by default.
        seed: of the shuffle and of the wrong candidates.
        pictures: whether rows have images; False for models that see none.
        history: past steps in the prompt.

    Raises:
        TuneError: the set can't be read, or has no such examples.
        UnavailableError: the package datasets is missing.
    """
    wording, rng = _wording(pictures, history), np.random.default_rng(seed)

    def rows() -> Iterator[Row]:
        for sample in choose(read(Path(folder), split), kinds, limit, seed):
            own, answer = sample.example.candidates, sample.example.answer
            wrong = [text for i, text in enumerate(own) if i != answer]
            prompt = _prompt(sample, wording, pictures)
            for i in rng.permutation(len(wrong))[:pairs]:
                yield {
                    **prompt,
                    "chosen": [_turn("assistant", sample.answer, pictures)],
                    "rejected": [_turn("assistant", wrong[i], pictures)],
                }

    return _dataset(list(rows()), pictures)


def _wording(pictures: bool, history: int) -> Wording:
    settings = TuneSettings(objective=Objective.SFT, pictures=pictures, history=history)
    return Wording(settings, sees=True)


def _prompt(sample: Sample, wording: Wording, pictures: bool) -> Row:
    files: list[str] = []

    def note(folder: Path, name: str) -> NDArray[np.uint8]:
        """Keep the file's name; the picture itself is read when the row is used."""
        files.append(str(picture_file(folder, name)))
        return np.zeros((1, 1, 3), np.uint8)

    turns = [_of(message, pictures) for message in wording.messages(sample, note)]
    return {"prompt": turns, "images": files} if pictures else {"prompt": turns}


def _of(message: Message, pictures: bool) -> Row:
    if not pictures:
        return _turn(message.role, "".join(map(str, message.parts)), pictures)
    blocks = [
        {"type": "text", "text": part} if isinstance(part, str) else {"type": "image", "text": None}
        for part in message.parts
    ]
    return {"role": message.role, "content": blocks}


def _turn(role: str, text: str, pictures: bool) -> Row:
    return {"role": role, "content": [{"type": "text", "text": text}] if pictures else text}


def _dataset(rows: Sequence[Row], pictures: bool) -> Any:
    require("datasets", "trl", "TRL's data sets")
    if not rows:
        raise TuneError("The set has no such examples: choose another split, or other kinds.")
    import datasets  # type: ignore[import-untyped]

    made = datasets.Dataset.from_list(list(rows))
    return made.cast_column("images", datasets.List(datasets.Image())) if pictures else made
