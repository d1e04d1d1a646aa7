"""LLaVA's rows: `train.json`, `val.json`, `test.json`, with the images in `images/`.

Sources: LLaVA, docs/Finetune_Custom_Data.md (LLaVA-1.5: `image` is one file name, and the first
turn has one `<image>`); LLaVA-NeXT, the interleave and OneVision data (`image` is a list of file
names, and the first turn has an `<image>` where each of them belongs).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from pydantic import JsonValue

from inhabit.eie.export.conversations import Conversation
from inhabit.eie.export.files import ExportImage, ImageFolder, json_array
from inhabit.eie.export.grid import grid

_MARK = "<image>"


class Pictures(StrEnum):
    """The images of a row."""

    LAST = "last"
    """The present one. Earlier ones are left out; what was done is told in words."""
    GRID = "grid"
    """All of them, in one image."""
    ALL = "all"
    """All of them, each where it belongs."""


def fits(one: Conversation, pictures: Pictures) -> bool:
    """Whether the question can be answered from these images.

    A recognition example asks what was done between its images.
    """
    recognition = one.example is not None and one.example.kind == "recognition"
    return not (pictures is Pictures.LAST and recognition)


def arranged(conversations: Iterable[Conversation], pictures: Pictures) -> Iterator[Conversation]:
    """The conversations with the images that their rows show."""
    for one in conversations:
        if pictures is not Pictures.LAST:
            yield one
        elif fits(one, pictures):
            now = one.pictures[-1]
            words = (part for part in one.question if isinstance(part, str))
            yield replace(one, question=(now, *words))


def write(
    conversations: Iterable[Conversation], out: Path, pictures: Pictures = Pictures.ALL
) -> int:
    """Write conversations that `arranged` gave, and return how many there were.

    Raises:
        RecordError: an image is gone.
        DiskError: something can't be written.
    """
    image_folder, count = ImageFolder(out / "images"), 0
    with ExitStack() as stack:
        files = {
            split: stack.enter_context(json_array(out / f"{split}.json"))
            for split in ("train", "val", "test")
        }
        for one in conversations:
            if pictures is Pictures.ALL:
                shown = [f"images/{image_folder.copy(image)}" for image in one.pictures]
                asked = "".join(_MARK + "\n" if isinstance(p, ExportImage) else _unmarked(p)
                                for p in one.question)  # fmt: skip
                image: JsonValue = list(shown)
            elif len(one.pictures) == 1:
                image = f"images/{image_folder.copy(one.pictures[0])}"
                asked = _MARK + "\n" + _words(one)
            else:
                image = f"images/{image_folder.add(*grid(one.pictures))}"
                asked = _MARK + "\n" + _numbered(one)
            files[one.split](_row(one, image, asked))
            count += 1
    return count


def _row(one: Conversation, image: JsonValue, asked: str) -> dict[str, JsonValue]:
    return {
        "id": one.id,
        "image": image,
        "conversations": [
            {"from": "human", "value": asked},
            {"from": "gpt", "value": _unmarked(one.answer)},
        ],
    }


def _words(one: Conversation) -> str:
    return "".join(_unmarked(part) for part in one.question if isinstance(part, str))


def _numbered(one: Conversation) -> str:
    """The question, with the numbers of the images in the grid where they belong."""
    lines = ["The picture is a grid of pictures, numbered from left to right and top to bottom.\n"]
    number = 0
    for part in one.question:
        if isinstance(part, ExportImage):
            number += 1
            lines.append(f"Picture {number}:\n")
        else:
            lines.append(_unmarked(part))
    return "".join(lines)


def _unmarked(text: str) -> str:
    """`text` without what a trainer would take for the place of an image."""
    return text.replace(_MARK, "(image)")
