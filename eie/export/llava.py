"""LLaVA's rows: `train.json`, `val.json`, `test.json`, with the images in `images/`.

Sources: LLaVA, docs/Finetune_Custom_Data.md (LLaVA-1.5: `image` is one file name, and the first
turn has one `<image>`); LLaVA-NeXT, the interleave and OneVision data (`image` is a list of file
names, and the first turn has an `<image>` where each of them belongs).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pydantic import JsonValue

from inhabit.eie.checking.splits import SPLITS
from inhabit.eie.export.conversations import LAST, Conversation, kept
from inhabit.eie.export.export import RunSource, SetSource
from inhabit.eie.export.exporter import Exporter
from inhabit.eie.export.files import ExportImage, ImageFolder, json_arrays

_MARK = "<image>"


def write(source: RunSource | SetSource, out: Path, *, several: bool) -> int:
    """Write the conversations of `source`, and return how many there are.

    Args:
        source: of the conversations.
        out: the folder to write to.
        several: whether rows have earlier images, too, each where it belongs. With one image, rows
            that ask about several are left out.

    Raises:
        RecordError: an image is gone.
        DiskError: something can't be written.
    """
    rows = kept(source, LAST) if several else kept(source, 0, lambda one: len(one.pictures) == 1)
    image_folder, count = ImageFolder(out / "images"), 0
    with json_arrays({split: out / f"{split}.json" for split in SPLITS}) as files:
        for one in rows:
            shown: list[JsonValue] = [f"images/{image_folder.copy(p)}" for p in one.pictures]
            said = (one.system, "\n", *one.question)
            if several:
                asked = "".join(_MARK + "\n" if isinstance(p, ExportImage) else _unmarked(p)
                                for p in said)  # fmt: skip
            else:
                words = (_unmarked(part) for part in said if isinstance(part, str))
                asked = f"{_MARK}\n{''.join(words)}"
            files[one.split](_row(one, shown if several else shown[0], asked))
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


def _unmarked(text: str) -> str:
    """`text` without what a trainer would take for the place of an image."""
    return text.replace(_MARK, "(image)")


EXPORTER = Exporter(
    name="llava",
    summary="LLaVA-1.5: one image",
    write_run=partial(write, several=False),
    write_set=lambda source, folder, out: write(source, out, several=False),
)
INTERLEAVE = Exporter(
    name="llava-interleave",
    summary="LLaVA-NeXT-Interleave and OneVision: several images",
    write_run=partial(write, several=True),
    write_set=lambda source, folder, out: write(source, out, several=True),
)
