"""What simulators and models draw and reckon with: display, OpenGL, Vulkan, GPU."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from ctypes.util import find_library
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from inhabit.episodes.machine.finding import Finding, Status, judge
from inhabit.episodes.machine.programs import ask

_ELSEWHERE = "simulators that are not part of inhabit (Unity, Luanti, Malmo)"


def drawing() -> Iterator[Finding]:
    """A display, and the libraries for OpenGL and Vulkan."""
    display = os.environ.get("DISPLAY", "")
    yield judge(
        "display",
        _answers(display),
        display or "DISPLAY is not set",
        to=f"{_ELSEWHERE} that need a window",
        fix="apt-get install xvfb, then: xvfb-run -a inhabit ...",
    )
    for what, library, package in (
        ("OpenGL", "GL", "libgl1"),
        ("EGL", "EGL", "libegl1"),
        ("Vulkan", "vulkan", "libvulkan1 mesa-vulkan-drivers"),
    ):
        found = find_library(library)
        yield judge(
            what,
            found is not None,
            found or "not found",
            to=_ELSEWHERE,
            fix=f"apt-get install {package}",
        )


def gpu() -> Iterator[Finding]:
    """A GPU, and whether torch was built for it."""
    card = ask("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").partition("\n")[0]
    yield judge(
        "GPU",
        bool(card),
        card or "none found",
        to="large models that run on this machine",
        fix="use an endpoint (--model openai:NAME --base-url URL), or a small model",
    )
    try:
        torch = version("torch")
    except PackageNotFoundError:
        return
    idle = bool(card) and torch.endswith("+cpu")
    what, to = "torch", "models that run on this machine"
    fix = "install the build for your GPU, as PyTorch's own page says"
    yield Finding(what, Status.LACKING if idle else Status.OK, torch, to, fix if idle else "")


def _answers(display: str) -> bool:
    """Whether there is an X server behind `display`, such as ":0" or "host:0"."""
    host, colon, number = display.rpartition(":")
    if not colon:
        return platform.system() != "Linux"
    if host:
        return True
    return Path(f"/tmp/.X11-unix/X{number.partition('.')[0]}").exists()
