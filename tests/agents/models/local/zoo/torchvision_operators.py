"""Declares the operators that torchvision asks for when it is imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class _Declared(MetaPathFinder):
    """Waits for torchvision to be imported, since torch takes seconds to load."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            given = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            for operator in ("nms", "qnms"):
                # A process that another has started may have them already.
                if not hasattr(torch.ops.torchvision, operator):
                    torch.library.define(f"torchvision::{operator}", given)


def declare() -> None:
    """Have them declared, once torchvision is imported."""
    sys.meta_path.insert(0, _Declared())
