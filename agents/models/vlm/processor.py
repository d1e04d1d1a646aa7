"""Text and images to tokens: detects objects in the images, and has one token stand for each.

As the processor of LayoutLM reads the words of a page before its model sees them, this one finds
the objects of a look: of images that follow one another without text between them.
"""

from __future__ import annotations

import re
import shutil
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image as Picture

from inhabit.agents.models.vlm.sight import FrameDetector, Table, look, nothing

IMAGE = "<file_sep>"
"""The token that stands for an object: one that SmolLM2 has, and that no prompt contains."""
EYES = "eyes"
"""The vision model's folder in that of the model."""
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'assistant' %}{{ ' ' }}{% endif %}"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for part in message['content'] %}"
    "{{ '" + IMAGE + "' if part['type'] == 'image' else part['text'] }}{% endfor %}{% endif %}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}"
    "{% endfor %}"
)
"""What is seen and what is answered follow each other without any other words."""
_CUT, _MOST = 0.3, 14
"""Lowest confidence of an object that gets a token, and the most of them in a look. A look like the
one before, as after an action without effect, gets none."""
_SURE, _SURELY_OPEN = 0.5, 0.96
"""Confidence in the present image from which the record tells an object: the threshold of each
class. A closed door is often detected as an open one with up to .95: "open" takes more."""
_UNTOLD = re.compile(
    r"held.*|on .*|open (blinds|book|kettle|laptop)|floor|window|mirror|curtains|painting|poster"
    r"|garbage bag|room decor|shower glass"
)
"""Classes that get no token: no action names them, and feedback tells what is held or on."""
_KEPT = 4096
"""Images whose detections are kept: about fifty episodes."""


class Attention:
    """Chooses the detections of an episode that get tokens, look by look."""

    def __init__(self, classes: Sequence[str]) -> None:
        """Begin an episode; `classes` are those of detections."""
        self._told = [not _UNTOLD.fullmatch(name) for name in classes]
        self._known: set[int] = set()
        self._last = nothing()

    def __call__(self, table: Table) -> Table:
        """What of a look is shown: classes that had no token yet come first, then the surest."""
        rows = [row for row in table if row[1] >= _CUT and self._told[int(row[0])]]
        rows.sort(key=lambda row: int(row[0]) in self._known)
        found = np.concatenate([nothing(), *(row[None] for row in rows[:_MOST])])
        self._known |= {int(row[0]) for row in found}
        same = np.array_equal(table, self._last)
        self._last = table
        return nothing() if same else found


class InhabitVlmProcessor:
    """The processor of the model, for text and images. Not thread-safe."""

    image_token = IMAGE

    def __init__(self, tokenizer: Any, eyes: Path) -> None:
        """Tokenize with `tokenizer`, and detect objects with the vision model in `eyes`."""
        self.tokenizer, self._eyes, self._sight = tokenizer, Path(eyes), FrameDetector(eyes)
        self.chat_template: str = CHAT_TEMPLATE
        tokenizer.chat_template = CHAT_TEMPLATE
        self._seen: OrderedDict[bytes, Table] = OrderedDict()

    @classmethod
    def from_pretrained(cls, source: str | Path, **ignored: Any) -> InhabitVlmProcessor:
        """Read tokenizer and vision model from the folder `source`."""
        tokenizer = transformers.AutoTokenizer.from_pretrained(source)
        return cls(tokenizer, Path(source) / EYES)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the tokenizer with its chat template, and the vision model, to `folder`."""
        self.tokenizer.save_pretrained(folder)
        shutil.copytree(self._eyes, Path(folder) / EYES, dirs_exist_ok=True)

    def apply_chat_template(self, turns: Sequence[Mapping[str, object]], **options: Any) -> str:
        """The text of a prompt, with one `image_token` for each image."""
        return str(self.tokenizer.apply_chat_template(turns, **options))

    def __call__(
        self,
        text: Sequence[str],
        images: Sequence[Sequence[Picture.Image]],
        *,
        add_special_tokens: bool = False,
        return_tensors: str = "pt",
    ) -> dict[str, torch.Tensor]:
        """The model's inputs for one prompt. `text` and `images` have one item, as other processors
        take them.

        Returns:
            "input_ids" (1, tokens), and "detections" (objects, 1 + FEATURES).
        """
        shown = iter(images[0])
        found: list[Table] = []
        attend = Attention(self._sight.names)

        def objects(run: re.Match[str]) -> str:
            frames = [self._frame(next(shown)) for _ in range(len(run[0]) // len(IMAGE))]
            found.append(attend(look(frames)))
            return IMAGE * len(found[-1])

        long = re.sub(f"(?:{re.escape(IMAGE)})+", objects, text[0])
        read = self.tokenizer(long, add_special_tokens=add_special_tokens)["input_ids"]
        return {
            "input_ids": torch.tensor([read]),
            "detections": torch.from_numpy(np.concatenate([nothing(), *found])),
        }

    def detected(self, images: Sequence[Picture.Image]) -> Sequence[str]:
        """The names of what is surely in the last of `images`, of the classes that get tokens."""
        found = look([self._frame(image) for image in images]) if images else nothing()
        told = Attention(self._sight.names)(found)
        sure = {self._sight.names[int(row[0])]: row[2] for row in told}
        least = {name: _SURELY_OPEN if name.startswith("open ") else _SURE for name in sure}
        return sorted(name for name in sure if sure[name] >= least[name])

    def _frame(self, picture: Picture.Image) -> Table:
        rgb = np.asarray(picture.convert("RGB"))
        key = sha256(str(rgb.shape).encode() + rgb.tobytes()).digest()
        if key not in self._seen:
            self._seen[key] = self._sight.frame(rgb)
        if len(self._seen) > _KEPT:
            self._seen.popitem(last=False)
        return self._seen[key]
