"""torchvision for processors that need it, on machines where only its CUDA build can be had.

The registry's torchvision is built for CUDA, and beside a CPU build of torch its compiled part
can't be loaded. Image processors do without that part, so the release that fits torch is put
into the cache folder, and the two operators that its import asks for are only declared.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import torch

from inhabit.envs.cache import cache_home
from tests.agents.models.local.zoo import torchvision_operators


def provide() -> bool:
    """Make torchvision importable, before transformers is imported. Whether it is."""
    if importlib.util.find_spec("torchvision") is not None:
        return True
    folder = _fetched(torch.__version__)
    if folder is None:
        return False
    sys.path.append(str(folder))
    torchvision_operators.declare()
    return True


def lend(python: Path, release: str) -> None:
    """Make it importable in an interpreter that has this release of torch."""
    folder = _fetched(release)
    (site,) = python.parent.parent.glob("lib/python*/site-packages")
    shutil.copy(torchvision_operators.__file__, site)
    start = "import torchvision_operators; torchvision_operators.declare()"
    (site / "torchvision.pth").write_text(f"{start}\n{folder or ''}\n")


def _fetched(torch_release: str) -> Path | None:
    minor = int(torch_release.split(".")[1])
    release = f"0.{minor + 15}.0"  # torchvision 0.28 is made for torch 2.13, and so on
    folder = cache_home() / "test-interpreters" / f"torchvision-{release}"
    if not (folder / "torchvision").is_dir():
        pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "install"]
        pip += ["--no-deps", "--target", str(folder), f"torchvision=={release}"]
        if subprocess.run(pip, check=False).returncode:
            return None
    return folder
