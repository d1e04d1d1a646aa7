"""Encodes messages as tokens by the chat template of a model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image as Picture

from inhabit.agents.core import ModelError
from inhabit.agents.dialogue.template import TemplateError, renderer
from inhabit.agents.models.core import Image, Message

PLAIN = (
    "{% for message in messages %}{{ message['content'] }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}Answer:{% endif %}"
)
"""The chat template for models without one."""


_SOME = "yes"
"""An answer that no special token contains: <|endoftext|> has an x."""
_CROSS = "cross_attention_mask"
"""The input that says which images each token sees, (1, tokens, images, tiles): of Mllama."""


@dataclass(frozen=True, slots=True, eq=False)
class EncodedPrompt:
    """The inputs of a model for one prompt."""

    ids: tuple[int, ...]
    cuts: tuple[int, ...] = ()
    """Where the prompt may be cut into parts that are read one by one, since later prompts of the
    same episode begin with them: ends of lines and of turns, in order."""
    images: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """The processor's outputs for the images."""
    pictures: int = 0
    """Number of images."""
    suffix: int = 0
    """The token type of what follows: 1 for PaliGemma, which reads a prompt both ways and a reply
    in order."""

    @property
    def per_token(self) -> frozenset[str]:
        """The names of `images` that have one item for each token."""
        return frozenset(
            name for name, value in self.images.items() if self._of_tokens(name, value)
        )

    def extra(self, model: Any) -> dict[str, torch.Tensor]:
        """`images` on the device and in the dtype of `model`."""
        return {
            name: value.to(model.device, model.dtype if value.is_floating_point() else None)
            for name, value in self.images.items()
        }

    def extended(self, model: Any, more: int) -> dict[str, torch.Tensor]:
        """`extra` for the whole prompt and `more` tokens of text after it."""
        extra = self.extra(model)
        for name, value in extra.items():
            if name == _CROSS:
                extra[name] = torch.cat([value, value[:, -1:].expand(-1, more, -1, -1)], 1)
            elif self._of_tokens(name, value):
                suffix = self.suffix if name == "token_type_ids" else 0
                extra[name] = torch.nn.functional.pad(value, (0, more), value=suffix)
        return extra

    def onward(self, model: Any, tokens: int) -> dict[str, torch.Tensor]:
        """What a cache does not hold for `tokens` tokens of text after the images.

        With cross-attention they see the images that the last token of the prompt sees.
        """
        value = self.images.get(_CROSS)
        if value is None:
            return {}
        return {_CROSS: value[:, -1:].expand(-1, tokens, -1, -1).to(model.device)}

    def _of_tokens(self, name: str, value: torch.Tensor) -> bool:
        return name == _CROSS or value.shape == (1, len(self.ids))


_SHORTEST = 8
"""Tokens from one cut of a prompt to the next, at least."""
_MARKUP, _TURN, _WRITTEN = 20_000, 500, 10
"""Most characters that a chat template may write: in any case, for each message, and for each
character of a message. Nothing else bounds what is read."""


class Encoder:
    """Encodes text for one model. Untrusted text never becomes a special token."""

    def __init__(
        self,
        tokenizer: Any,
        processor: Any = None,
        *,
        min_pixels: int | None = None,
        max_pixels: int | None = None,
        name: str = "this model",
        opened: object = None,
    ) -> None:
        """Use `tokenizer`, and `processor` if the model takes images.

        Images are resized to between `min_pixels` and `max_pixels` first. Errors tell the `name` of
        the model. Its `opened` folder is kept, since some tokenizers are saved from their files.

        Raises:
            TemplateError: the chat template can't be rendered.
        """
        self._opened = opened
        self._name = f"The chat template of {name}"
        self._pixels = min_pixels or 1, max_pixels or math.inf
        self.tokenizer = tokenizer
        self.processor = processor
        self._both_ways = type(processor).__name__ == "PaliGemmaProcessor"
        self._suffix = int(self._both_ways)
        self._speaker = processor if processor is not None else tokenizer
        said = getattr(self._speaker, "chat_template", None)
        self._template = (said.get("default") if isinstance(said, dict) else said) or PLAIN
        special = {str(t) for t in tokenizer.added_tokens_decoder.values() if t.special}
        special |= {getattr(processor, "image_token", None) or tokenizer.eos_token} - {None}
        longest = sorted(special, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, longest)) or r"(?!)")
        self._ends: dict[int, bool] = {}
        self._joins_parts = self._template == PLAIN or not self._accepts_parts()
        self._merges_system = not self._accepts_system()
        self._separator = "" if self._render([Message("user", ("x",))])[-1:].isspace() else " "

    @property
    def plain(self) -> bool:
        """Whether the model has no chat template."""
        return self._template == PLAIN

    @cached_property
    def end(self) -> int:
        """The token that ends an answer: the one that the chat template writes after it, or else
        the tokenizer's end of a sequence.

        Raises:
            ModelError: there is neither.
        """
        try:
            text = self._render(
                [Message("user", ("x",)), Message("assistant", (_SOME,))], begin=False
            )
        except TemplateError:
            text = ""
        after = self._special.match(text.rpartition(_SOME)[2].lstrip())
        token = after[0] if after else self.tokenizer.eos_token
        if token is None:
            raise ModelError("The tokenizer has no end-of-sequence token: leave out end.")
        return int(self.tokenizer.convert_tokens_to_ids(token))

    def prompt(self, messages: Sequence[Message]) -> EncodedPrompt:
        """Encode a prompt, up to where the reply begins.

        Raises:
            ModelError: it has an image, and the model takes none.
        """
        pictures = self.pictures(messages)
        text = self.text(messages)
        if not pictures:
            ids = self.ids(text)
            types = {"token_type_ids": torch.zeros(1, len(ids), dtype=torch.long)}
            given = types if self._both_ways else {}
            cuts = self._cuts(messages, text, ids)
            return EncodedPrompt(ids, cuts, given, 0, self._suffix)
        if self.processor is None:
            raise ModelError("This model takes no images: run it with --sight none.")
        read = self.processor(
            text=[text],
            # Nested: in a flat list some processors take each image for a prompt of its own.
            images=[pictures],
            add_special_tokens=self.lacks_bos(text),
            return_tensors="pt",
        )
        ids = tuple(read["input_ids"][0].tolist())
        rest = {k: v for k, v in read.items() if k not in ("input_ids", "attention_mask", "labels")}
        cuts = self._cuts(messages, text, ids)
        return EncodedPrompt(ids, cuts, rest, len(pictures), self._suffix)

    def pictures(self, messages: Sequence[Message]) -> list[Picture.Image]:
        """The images of a prompt, within the limits of pixels."""
        return [self._picture(image.rgb) for message in messages for image in message.images]

    def text(self, messages: Sequence[Message]) -> str:
        """A prompt as the chat template writes it, up to where the reply begins."""
        return self._render(messages)

    def candidate(self, text: str) -> tuple[int, ...]:
        """The tokens of a reply, as they continue the prompt."""
        read = self.tokenizer(self._separator + self._escaped(text), add_special_tokens=False)
        return tuple(read["input_ids"])

    def save(self, folder: Path) -> None:
        """Write what the model's tokenizer and processor are loaded from, to `folder`."""
        self._speaker.save_pretrained(folder)

    def words(self, ids: Sequence[int]) -> str:
        """Decode tokens, without special ones."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True)).strip()

    def _picture(self, rgb: NDArray[np.uint8]) -> Picture.Image:
        """The image, in its proportions within the limits of pixels."""
        picture = Picture.fromarray(rgb)
        pixels = picture.width * picture.height
        least, most = self._pixels
        scale = math.sqrt(min(max(pixels, least), most) / pixels)
        if scale == 1:
            return picture
        size = max(1, int(picture.width * scale)), max(1, int(picture.height * scale))
        return picture.resize(size, Picture.Resampling.BICUBIC)

    def ids(self, text: str) -> tuple[int, ...]:
        """The tokens of a prompt as `text` has it; an image is what the chat template writes."""
        read = self.tokenizer(text, add_special_tokens=self.lacks_bos(text))
        return tuple(read["input_ids"])

    def lacks_bos(self, text: str) -> bool:
        """Whether the beginning-of-sequence token must be added.

        The template of a tokenizer contains it; that of a processor may not.
        """
        if self._template == PLAIN:
            return True
        begin = self.tokenizer.bos_token
        return self.processor is not None and begin is not None and not text.startswith(begin)

    def _cuts(
        self, messages: Sequence[Message], text: str, ids: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Ends of lines and of turns, but not in what the next prompt will not hold.

        That is a last text after others, as `agents/dialogue/prompt.py` writes what is new. Whether
        there is a cut depends on what stands before it alone.
        """
        parts = messages[-1].parts if messages else ()
        new = 1
        if parts[1:] and isinstance(parts[-1], str):
            begin = text.rfind(self._escaped(parts[-1]).strip())
            new = max(1, len(self.tokenizer(text[begin:], add_special_tokens=False)["input_ids"]))
        found, begin = [], 0
        for end, token in enumerate(ids[:-new], 1):
            if end - begin >= _SHORTEST and self._ends_line(token):
                found.append(begin := end)
        return tuple(found)

    def _ends_line(self, token: int) -> bool:
        if token not in self._ends:
            text = str(self.tokenizer.decode([token]))
            self._ends[token] = text.endswith("\n") or token == self.tokenizer.eos_token_id
        return self._ends[token]

    def _accepts_parts(self) -> bool:
        """Whether the chat template takes texts and images as parts; some take a text alone."""
        self._merges_system = self._joins_parts = False
        try:
            said = self._render([Message("user", ("x",))])
        except TemplateError:
            return False
        return "{'type'" not in said  # the parts themselves, written out

    def _accepts_system(self) -> bool:
        self._merges_system = False
        try:
            self._render([Message("system", ("x",)), Message("user", ("x",))])
        except TemplateError:
            return False
        return True

    def _render(self, messages: Sequence[Message], *, begin: bool = True) -> str:
        """The text of messages, and the beginning of the reply unless told otherwise."""
        if self._merges_system and len(messages) > 1 and messages[0].role == "system":
            first = Message("user", (*messages[0].parts, "\n\n", *messages[1].parts))
            messages = [first, *messages[2:]]
        turns = [{"role": m.role, "content": self._content(m)} for m in messages]
        given = {"messages": turns, "tools": None, "documents": None}
        special = self.tokenizer.special_tokens_map
        text = renderer().text(
            "chat",
            self._template,
            {**given, "add_generation_prompt": begin, **special},
            name=self._name,
        )
        told = sum(len(part) for message in messages for part in message.texts)
        if len(text) > _MARKUP + _TURN * len(turns) + _WRITTEN * told:
            raise TemplateError(
                f"{self._name} writes {len(text)} characters for messages of {told}."
            )
        return text

    def _content(self, message: Message) -> str | list[dict[str, str]]:
        if self.processor is None:
            return self._escaped("".join(message.texts))
        if self._joins_parts:
            return "".join(
                self.processor.image_token if isinstance(part, Image) else self._escaped(part)
                for part in message.parts
            )
        return [
            {"type": "image"}
            if isinstance(part, Image)
            else {"type": "text", "text": self._escaped(part)}
            for part in message.parts
        ]

    def _escaped(self, text: str) -> str:
        """`text` with a space in whatever would become a special token."""
        return self._special.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
