"""Training on several devices: gradients are summed, and weights split where they are sharded.

Sharding is FSDP2 of PyTorch (`fully_shard`): every device holds a part of each weight, of its
gradient and of its moments. The weights of a layer are gathered when the layer is read, so all
processes have to make the same number of passes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from inhabit.envs.extras import require


class Devices:
    """This process among those of `accelerate launch`; otherwise a single process."""

    def __init__(self) -> None:
        """Join the other processes, if there are any.

        Raises:
            UnavailableError: there are others, and accelerate is not installed.
        """
        self._accelerator: Any = None
        self.rank, self.count = 0, 1
        if int(os.environ.get("WORLD_SIZE", "1")) < 2:
            return
        require("accelerate", "tune", "Several devices")
        from accelerate import Accelerator

        self._accelerator = Accelerator()
        self.rank = self._accelerator.process_index
        self.count = self._accelerator.num_processes

    def add(self, tensors: Sequence[torch.Tensor]) -> None:
        """Sum each of `tensors` over all processes, in place."""
        if self._accelerator is not None:
            for tensor in tensors:
                tensor.copy_(self._accelerator.reduce(tensor, reduction="sum"))

    def total(self, number: float) -> float:
        """The sum of `number` over all processes."""
        if self._accelerator is None:
            return float(number)
        own = torch.tensor(float(number), device=self._accelerator.device)
        return float(self._accelerator.reduce(own, reduction="sum"))

    def wait(self) -> None:
        """Wait until all processes have arrived here."""
        if self._accelerator is not None:
            self._accelerator.wait_for_everyone()


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
