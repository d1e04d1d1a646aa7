"""LLaVA's form of ShareGPT: `train.json` and its like, with the pictures in `images/`.

Source of the form: LLaVA, docs/Finetune_Custom_Data.md. `image` is one file's name; where a
question shows several it is their list, in the order of the `<image>` marks (LLaVA-NeXT).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from pydantic import JsonValue

from inhabit.eie.export.conversations import Conversation
from inhabit.eie.export.files import ExportImage, ImageFolder, json_array

_MARK = "<image>"


def write(conversations: Iterable[Conversation], out: Path) -> int:
    """Write all of them, and return how many there were.

    Raises:
        RecordError: a picture is gone.
        DiskError: something can't be written.
    """
    image_folder, count = ImageFolder(out / "images"), 0
    with ExitStack() as stack:
        files = {
            split: stack.enter_context(json_array(out / f"{split}.json"))
            for split in ("train", "val", "test")
        }
        for one in conversations:
            for shown in one.pictures:
                image_folder.copy(shown)
            files[one.split](_sample(one))
            count += 1
    return count


def _sample(one: Conversation) -> dict[str, JsonValue]:
    names: list[JsonValue] = [f"images/{shown.name}" for shown in one.pictures]
    asked = "".join(
        f"{_MARK}\n" if isinstance(part, ExportImage) else _unmarked(part) for part in one.question
    )
    return {
        "id": one.id,
        "image": names[0] if len(names) == 1 else names,
        "conversations": [
            {"from": "human", "value": asked},
            {"from": "gpt", "value": _unmarked(one.answer)},
        ],
    }


def _unmarked(text: str) -> str:
    """`text` without what a trainer would take for the place of a picture."""
    return text.replace(_MARK, "(image)")
