"""PCA-Bench's own form: `meta_data.json` and the images, a folder for each split.

Source of the form: PCA-Bench, release 1.0. The tools' answers for text-only models, which that
release has cached, are left out, as in its later test set: ours are asked live. Two things are
added: `history`, with the image, action and feedback of each earlier step; and the same in words at
the beginning of `question`, so that a reader who ignores `history` can still pose the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pydantic import JsonValue

from inhabit.eie.checking.splits import SPLITS
from inhabit.eie.examples.example import Example
from inhabit.eie.export.distinct import ComparedRow
from inhabit.eie.export.export import SetSource
from inhabit.eie.export.exporter import Exporter
from inhabit.eie.export.files import ImageFolder, json_arrays, picture
from inhabit.envs.core import UnknownNameError
from inhabit.envs.registry import find

_OF_PHOTOGRAPHS = {"driving": "Autonomous Driving", "minecraft": "Open-World Game"}
"""The benchmark's fields that no environment stands for, by what photographs are said to be of."""


def write(examples: Iterable[Example], folder: Path, out: Path) -> int:
    """Write `examples` of the set in `folder`, and return how many were written.

    `fits` says which have a place in the form; the others are left out.

    Raises:
        RecordError: an image is gone.
        DiskError: something can't be written.
    """
    indices: Counter[str] = Counter()
    image_folders = {split: ImageFolder(out / split / "images") for split in SPLITS}
    with json_arrays({split: out / split / "meta_data.json" for split in SPLITS}) as files:
        for example in filter(fits, examples):
            images = image_folders[example.split]
            shown = images.copy(picture(folder, example.image))
            past = [images.copy(picture(folder, p.image)) if p.image else None
                    for p in example.history]  # fmt: skip
            files[example.split](_record(example, indices[example.split], shown, past))
            indices[example.split] += 1
    return indices.total()


def fits(example: Example) -> bool:
    """Whether the form, which asks about one image, has a place for it.

    A recognition example asks what was done between two images.
    """
    return example.kind != "recognition"


def describe(example: Example, folder: Path) -> ComparedRow:
    """What is compared of a record."""
    words = (question(example), *example.candidates)
    return ComparedRow(example.split, words, (picture(folder, example.image),), example.right)


def question(example: Example) -> str:
    """The question after the earlier steps in words: "Step 1: open the fridge. Done. ..."."""
    steps = [
        f"Step {number}: {past.action}. {past.feedback}".rstrip()
        + (" (It failed.)" if past.failed else "")
        for number, past in enumerate(example.history, 1)
        if past.action
    ]
    return " ".join([*steps, example.question])


def domain(example: Example) -> str:
    """The benchmark's name for the field that `example` is from.

    What the benchmark has not got keeps its environment's name.
    """
    if example.env in _OF_PHOTOGRAPHS:
        return _OF_PHOTOGRAPHS[example.env]
    try:
        return find(example.env).domain or example.env
    except UnknownNameError:
        return example.env


def _record(
    example: Example, index: int, image: str, past_images: list[str | None]
) -> dict[str, JsonValue]:
    history: list[JsonValue] = [
        {
            "index": number,
            "observation": shown,
            "action": past.action,
            "feedback": past.feedback,
            "failed": past.failed,
        }
        for number, (past, shown) in enumerate(zip(example.history, past_images, strict=True))
    ]
    return {
        "version": "1.0",
        "domain": domain(example),
        "index": index,
        "image": image,
        "history": history,
        "question": question(example),
        "actions": list(example.candidates),
        "answer_index": example.answer,
        "reason": example.reason,
        "key_concept": list(example.key_concepts),
    }


def _write_set(source: SetSource, folder: Path, out: Path) -> int:
    source.left_out.counts["images"] = sum(not fits(one) for one in source)
    kept = source.left_out.kept(lambda: filter(fits, source), lambda one: describe(one, folder))
    return write(kept, folder, out)


EXPORTER = Exporter(
    name="pca", summary="PCA-Bench: one image, candidates and a reason", write_set=_write_set
)
