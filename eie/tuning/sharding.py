"""Splits the weights of a model over several devices, by FSDP2 of PyTorch (`fully_shard`).

Every device holds a part of each weight, of its gradient and of its moments. The weights of a layer
are gathered when the layer is read, so all processes have to make the same number of passes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor


def shard(model: Any, count: int) -> None:
    """Split the weights of a transformers model over `count` processes, layer by layer."""
    mesh = init_device_mesh(model.device.type, (count,))
    for group in model.get_decoder().modules():
        if isinstance(group, nn.ModuleList):
            for layer in group:
                if any(True for _ in layer.parameters()):
                    fully_shard(layer, mesh=mesh)
            break  # the layers; lists within them are parts of a layer
    fully_shard(model, mesh=mesh)


def gathered(tensor: torch.Tensor) -> torch.Tensor:
    """The whole of a tensor, which every process has to ask for; itself where it is not split."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def split_as(tensor: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
    """A whole tensor on the device of `parameter`, and split in the same way."""
    there = tensor.to(parameter.device)
    if not isinstance(parameter, DTensor):
        return there
    return distribute_tensor(there, parameter.device_mesh, parameter.placements)
