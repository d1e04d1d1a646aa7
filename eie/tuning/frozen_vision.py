"""Remembers what a frozen vision encoder made of each image, for the next epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import torch

from inhabit.eie.tuning.parts import vision_encoder

_GIGABYTE = 10**9
_KEPT = (torch.Tensor, type(None))
_PIXELS = 4
"""Dimensions of a batch of images: (images, channels, height, width)."""
_GRID = "grid_thw"
"""The argument of Qwen-VL's encoders, which take the patches of all images in one row: their
number along time, height and width for each image, (images, 3)."""

Image = tuple[torch.Tensor, dict[str, Any]]
"""The pixels of one image, as a batch, and the other arguments for it."""


def remember_images(model: Any, gigabytes: float) -> bool:
    """Have the vision encoder of `model` read each image once, as long as memory suffices.

    Each image is read by itself, so that the result does not depend on what is remembered.

    Returns:
        Whether it does: not if it is trained. Images that can't be told apart are read anew.
    """
    encoder = vision_encoder(model)
    if encoder is None or any(p.requires_grad for p in encoder.parameters()):
        return False
    encoder.forward = _Remembering(encoder.forward, gigabytes * _GIGABYTE)
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """The tensors of an encoder's output for one image, and its lists or tuples of tensors."""

    kind: type[Any]
    """Of the output."""
    tensors: Mapping[str, Sequence[torch.Tensor | None]]
    """None for hidden states that were not asked for."""
    several: frozenset[str]
    """Names of fields that hold a tuple."""

    @classmethod
    def of(cls, output: Any) -> _Read:
        """What is kept of `output`."""
        tuples = {
            name: value
            for name, value in output.items()
            if isinstance(value, tuple | list) and all(isinstance(t, _KEPT) for t in value)
        }
        single = {n: (v,) for n, v in output.items() if isinstance(v, torch.Tensor)}
        return cls(type(output), {**tuples, **single}, frozenset(tuples))

    def layer(self, name: str, number: int) -> torch.Tensor:
        """One tensor of a field."""
        found = self.tensors[name][number]
        assert found is not None, "All images are read with the same options."
        return found

    @property
    def size(self) -> int:
        """In bytes."""
        kept = [t for some in self.tensors.values() for t in some if t is not None]
        return sum(t.numel() * t.element_size() for t in kept)


class _Remembering:
    """The `forward` of an encoder, which keeps its results."""

    def __init__(self, forward: Callable[..., Any], room: float) -> None:
        self._forward, self._room = forward, room
        self._known: dict[bytes, _Read] = {}

    def __call__(self, pixel_values: torch.Tensor, **options: Any) -> Any:
        images = _apart(pixel_values, options)
        if not images:
            return self._forward(pixel_values, **options)
        found = [self._read(*image) for image in images]
        whole = found[0].kind()
        for name, layers in found[0].tensors.items():
            joined = tuple(
                None if layer is None else torch.cat([one.layer(name, i) for one in found])
                for i, layer in enumerate(layers)
            )
            whole[name] = joined if name in found[0].several else joined[0]
        return whole

    @torch.no_grad()
    def _read(self, pixels: torch.Tensor, options: dict[str, Any]) -> _Read:
        digest = blake2b(digest_size=16)
        for name, value in (("", pixels), *sorted(options.items())):
            whole = value.contiguous() if isinstance(value, torch.Tensor) else None
            told = value if whole is None else (whole.dtype, tuple(whole.shape))
            digest.update(f"{name}={told};".encode())
            if whole is not None:
                digest.update(whole.flatten().view(torch.uint8).cpu().numpy().tobytes())
        key = digest.digest()
        found = self._known.get(key)
        if found is None:
            found = _Read.of(self._forward(pixels, **options))
            if found.size <= self._room:
                self._room -= found.size
                self._known[key] = found
        return found


def _apart(pixels: torch.Tensor, options: dict[str, Any]) -> list[Image]:
    """The arguments for each image; empty where they can't be told apart."""
    tensors = {n for n, value in options.items() if isinstance(value, torch.Tensor)}
    if _GRID in tensors and pixels.dim() == 2 and tensors == {_GRID}:
        grid = options[_GRID]
        rows = torch.split(pixels, grid.prod(-1).tolist())
        return [(row, {**options, _GRID: grid[i : i + 1]}) for i, row in enumerate(rows)]
    count = len(pixels)
    if pixels.dim() != _PIXELS or any(len(options[name]) != count for name in tensors):
        return []
    return [
        (pixels[i : i + 1], {**options, **{n: options[n][i : i + 1] for n in tensors}})
        for i in range(count)
    ]
