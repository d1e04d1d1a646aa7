"""A small set whose answers can be told from the image alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image as Picture

from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example

COLOURS = {
    "red": (230, 30, 30),
    "green": (30, 200, 60),
    "blue": (40, 60, 230),
    "grey": (90, 90, 90),
}


def write(folder: Path, train: int = 40, val: int = 12, side: int = 16) -> Path:
    """A set in `folder`: "take the red thing" where the image is red."""
    (folder / "images").mkdir(parents=True)
    rng = np.random.default_rng(0)
    lines = []
    for number in range(train + val):
        split: Split = "train" if number < train else "val"
        names = [str(n) for n in rng.permutation(list(COLOURS))]
        answer = int(rng.integers(len(names)))
        pixels = np.full((side, side, 3), COLOURS[names[answer]]) + rng.integers(
            -20, 20, (side, side, 3)
        )
        file = f"images/{number}.png"
        Picture.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(folder / file)
        example = Example(
            id=f"e{number}",
            env="toy",
            split=split,
            image=file,
            image_digest="0",
            question="What should you do next?",
            candidates=tuple(f"take the {name} thing" for name in names),
            answer=answer,
            reason=f"The {names[answer]} thing is in sight.",
            key_concepts=(f"{names[answer]} thing",),
            goal="Take the thing that you see.",
        )
        lines.append(example.model_dump_json() + "\n")
    (folder / "examples.jsonl").write_text("".join(lines))
    return folder
