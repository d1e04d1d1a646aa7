"""Features of images, encoded once: the same image comes again at later steps, in the prompts
of other episodes, and with each question about one moment.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.transformers_names import encoded_images, image_encoder, taken

Parts = Mapping[str, torch.Tensor]
"""What a vision model reads of one image, or of several that can't be told apart."""


class PictureFeatures:
    """The outputs of a model's vision part, the most recently used ones kept. Not thread-safe."""

    def __init__(self, model: Any, limit: int) -> None:
        """Encode with `model`, and keep at most `limit` bytes on its device."""
        self._model = model
        self._encode = image_encoder(model)
        self._limit = limit
        self._kept: OrderedDict[bytes, Any] = OrderedDict()
        self._bytes = 0
        self.usable = self._encode is not None
        """Whether the model takes features instead of images."""

    @property
    def kept_bytes(self) -> int:
        """The size of the features that are kept."""
        return self._bytes

    def replace(
        self, inputs: Mapping[str, torch.Tensor], prompts: Sequence[EncodedPrompt]
    ) -> dict[str, Any]:
        """`inputs` for `prompts`, with features instead of images where the model takes them."""
        if not self.usable or not any(prompt.pictures for prompt in prompts):
            return dict(inputs)
        rest = {name: value for name, value in inputs.items() if name != "pixel_values"}
        return {**rest, **self.of(prompts)}

    def of(self, prompts: Sequence[EncodedPrompt]) -> dict[str, Any]:
        """The model's input for the images of several prompts, in order, in one batch."""
        parts = [part for prompt in prompts for part in self._split(prompt)]
        keys = [digest(one) for one in parts]
        asked = dict(zip(keys, parts, strict=True))
        found = {key: self._kept[key] for key in asked if key in self._kept}
        missing = [key for key in asked if key not in found]
        new = self._encoded([asked[key] for key in missing])
        found |= dict(zip(missing, new, strict=True))
        self._keep(found)
        return encoded_images(_joined([found[key] for key in keys]))

    def _split(self, prompt: EncodedPrompt) -> Sequence[Parts]:
        assert self._encode is not None
        return split(prompt, frozenset(taken(self._encode, prompt.images)))

    def _encoded(self, some: Sequence[Parts]) -> list[Any]:
        """The output for each of `some`: in one pass for those of one shape."""
        found: list[Any] = [None] * len(some)
        alike: dict[object, list[int]] = {}
        for i, parts in enumerate(some):
            shape = tuple((name, tuple(value.shape)) for name, value in sorted(parts.items()))
            alike.setdefault(shape, []).append(i)
        for group in alike.values():
            for i, output in zip(group, self._pass([some[i] for i in group]), strict=True):
                found[i] = output
        return found

    def _pass(self, some: Sequence[Parts]) -> list[Any]:
        together = {name: torch.cat([one[name] for one in some]) for name in some[0]}
        given = {
            name: value.to(
                self._model.device, self._model.dtype if value.is_floating_point() else None
            )
            for name, value in together.items()
        }
        assert self._encode is not None
        output = self._encode(**given, return_dict=True)
        if len(some) == 1:
            return [_needed(output)]
        apart = _apart(output, len(some))
        return apart or [one for parts in some for one in self._pass([parts])]

    def _keep(self, found: Mapping[bytes, Any]) -> None:
        for key, output in found.items():
            if key not in self._kept:
                self._bytes += _size(output)
            self._kept[key] = output
            self._kept.move_to_end(key)
        while self._bytes > self._limit:
            _, output = self._kept.popitem(last=False)
            self._bytes -= _size(output)


def split(prompt: EncodedPrompt, names: frozenset[str]) -> Sequence[Parts]:
    """The inputs of each image of `prompt`; in one if they can't be told apart.

    `names` are of the inputs that the vision part takes.
    """
    given = {k: v for k, v in prompt.images.items() if k in names}
    count = prompt.pictures
    apart: Sequence[dict[str, torch.Tensor]] = [{} for _ in range(count)]
    for name, value in given.items():
        if name == "pixel_values" and "image_grid_thw" in given:
            ends = given["image_grid_thw"].prod(-1).cumsum(0).tolist()
            rows = [value[begin:end] for begin, end in pairwise([0, *ends])]
        elif len(value) == count:
            rows = [value[i : i + 1] for i in range(count)]
        elif len(value) == 1 and value.ndim > 1 and value.shape[1] == count:
            rows = [value[:, i : i + 1] for i in range(count)]
        else:
            return [given]
        for one, row in zip(apart, rows, strict=True):
            one[name] = row
    return apart


def digest(parts: Parts) -> bytes:
    """Identifies the inputs of images."""
    found = hashlib.sha256()
    for name, value in sorted(parts.items()):
        found.update(f"{name} {value.dtype} {tuple(value.shape)};".encode())
        found.update(value.cpu().numpy().tobytes())
    return found.digest()


def _needed(output: Any) -> Any:
    """What a model reads of `output`, copied, so that no larger tensor is kept alive by it."""
    pooled = getattr(output, "pooler_output", None)
    if pooled is None:
        return type(output)(last_hidden_state=output.last_hidden_state)
    deep = getattr(output, "deepstack_features", None)
    return _pooled(output, _copied(pooled), deep and [_copied(level) for level in deep])


def _pooled(like: Any, pooled: Any, deep: Sequence[Any] | None) -> Any:
    """An output of the same type as `like`; transformers reads it as if it were its own."""
    return type(like)(
        pooler_output=pooled, **({} if deep is None else {"deepstack_features": deep})
    )


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else [one.clone() for one in value]


def _apart(output: Any, count: int) -> list[Any]:
    """`output` for `count` images as one for each; empty if it can't be told apart."""
    pooled = getattr(output, "pooler_output", None)
    deep = getattr(output, "deepstack_features", None)
    if pooled is None or len(pooled) != count or any(len(level) != count for level in deep or ()):
        return []
    return [
        _needed(_pooled(output, pooled[i : i + 1], deep and [level[i : i + 1] for level in deep]))
        for i in range(count)
    ]


def _joined(some: Sequence[Any]) -> Any:
    """One output for all images, in order."""
    first = some[0]
    if getattr(first, "pooler_output", None) is None:
        return type(first)(last_hidden_state=torch.cat([one.last_hidden_state for one in some]))
    deep = None
    if getattr(first, "deepstack_features", None) is not None:
        levels = zip(*(one.deepstack_features for one in some), strict=True)
        deep = [_chained(level) for level in levels]
    return _pooled(first, _chained([one.pooler_output for one in some]), deep)


def _chained(some: Sequence[Any]) -> Any:
    if isinstance(some[0], torch.Tensor):
        return torch.cat(list(some))
    return [one for each in some for one in each]


def _size(output: Any) -> int:
    """In bytes."""
    found = list(output.values())
    total = 0
    while found:
        one = found.pop()
        if isinstance(one, torch.Tensor):
            total += one.nbytes
        else:
            found += one
    return total
