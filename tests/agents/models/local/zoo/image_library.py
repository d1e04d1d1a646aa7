"""torchvision for processors that need it, on machines where only its CUDA build can be had."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import torch

from inhabit.envs.cache import cache_home


def provide() -> bool:
    """Make torchvision importable, before transformers is imported. Whether it is.

    The registry's torchvision is built for CUDA, and beside a CPU build of torch its compiled part
    can't be loaded. Image processors do without that part, so the release that fits torch is put
    into the cache folder, and the two operators that its import asks for are only declared.
    """
    if importlib.util.find_spec("torchvision") is not None:
        return True
    minor = int(torch.__version__.split(".")[1])
    release = f"0.{minor + 15}.0"  # torchvision 0.28 is made for torch 2.13, and so on
    folder = cache_home() / "test-interpreters" / f"torchvision-{release}"
    if not (folder / "torchvision").is_dir():
        pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install"]
        pip += ["--no-deps", "--target", str(folder), f"torchvision=={release}"]
        if subprocess.run(pip, check=False).returncode:
            return False
    for name in ("nms", "qnms"):
        signature = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        torch.library.define(f"torchvision::{name}", signature)
    sys.path.append(str(folder))
    return True
