"""Data-parallel training on several devices, with summed gradients."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import torch

from inhabit.envs.core import UnavailableError


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
        try:
            from accelerate import Accelerator
        except ImportError as error:
            raise UnavailableError(
                "Several devices need the package 'accelerate': pip install 'inhabit[tune]'"
            ) from error
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
