"""Stacks prompts with their continuations into the inputs of one forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from inhabit.agents.models.local.encoder import EncodedPrompt


def collate(
    model: Any, rows: Sequence[tuple[EncodedPrompt, Sequence[int]]], *, pad: int
) -> dict[str, torch.Tensor]:
    """The inputs for some prompts, each with tokens after it, padded at the end.

    All rows have images, or none has. How the images of several prompts are stacked differs
    between architectures: `inhabit.eie.tuning.agreement` checks the result for each model.

    Args:
        model: the transformers model.
        rows: prompts and the tokens that follow them.
        pad: a token that stands for no image.
    """
    longest = max(len(prompt.ids) + len(more) for prompt, more in rows)
    ids = torch.full((len(rows), longest), pad, device=model.device)
    mask = torch.zeros_like(ids)
    for row, (prompt, more) in enumerate(rows):
        length = len(prompt.ids) + len(more)
        ids[row, :length] = torch.tensor([*prompt.ids, *more], device=model.device)
        mask[row, :length] = 1
    parts = [prompt.extended(model, longest - len(prompt.ids)) for prompt, _ in rows]
    stacked = {name: _stacked([part[name] for part in parts]) for name in parts[0]}
    return {"input_ids": ids, "attention_mask": mask, **stacked}


def _stacked(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """One after the other along the first axis, with zeros where the other axes are shorter."""
    sizes = [max(sizes) for sizes in zip(*(t.shape[1:] for t in tensors), strict=True)]
    return torch.cat([_padded(tensor, sizes) for tensor in tensors])


def _padded(tensor: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    missing = [size - have for size, have in zip(sizes, tensor.shape[1:], strict=True)]
    if not any(missing):
        return tensor
    return torch.nn.functional.pad(tensor, [n for m in reversed(missing) for n in (0, m)])
