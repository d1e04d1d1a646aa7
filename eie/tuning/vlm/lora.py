"""LoRA (Hu et al., 2022) whose product is added to the weights, not to the outputs.

The forward pass is then one product of matrices, as without adapters, and so is the gradient of the
inputs. It pays where a batch has many more tokens than the weights have rows.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from inhabit.agents.models.vlm.compose import SCALE


class _Merged(torch.autograd.Function):
    """y = x (W + SCALE b a)^T, with gradients of x, a and b."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, a: torch.Tensor, b: torch.Tensor
    ) -> torch.Tensor:
        """(..., inputs) to (..., outputs)."""
        merged = torch.addmm(weight, b, a, alpha=SCALE)
        ctx.save_for_backward(x, merged, a, b)
        return nn.functional.linear(x, merged)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients of x, none, a and b."""
        x, merged, a, b = ctx.saved_tensors
        flat, grad = x.flatten(0, -2), grads[0].flatten(0, -2)
        of_a = SCALE * (grad @ b).t() @ flat
        of_b = SCALE * grad.t() @ (flat @ a.t())
        return (grad @ merged).view_as(x), None, of_a, of_b


class MergedLora(nn.Module):
    """A linear layer with an adapter."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(base.weight.detach(), requires_grad=False)
        where = base.weight.device
        a = torch.randn(rank, base.in_features) / math.sqrt(base.in_features)
        self.a = nn.Parameter(a.to(where))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank, device=where))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., inputs) to (..., outputs)."""
        found: torch.Tensor = _Merged.apply(  # type: ignore[no-untyped-call]
            x, self.weight, self.a, self.b
        )
        return found


def adapt(model: nn.Module, rank: int) -> None:
    """Replace every linear layer of `model` by one with an adapter."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                setattr(parent, name, MergedLora(child, rank))
