"""What is needed beside Python: programs, the video encoder, display, OpenGL, Vulkan and a GPU."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from ctypes.util import find_library
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from inhabit.episodes.machine.finding import Finding, Status, judge


def programs() -> Iterator[Finding]:
    """Java and Node, by version."""
    java = ask("java", "-version").partition("\n")[0]
    yield judge(
        "Java",
        _major(java) == 8,
        java or "not found",
        to="simulators in Java: MineDojo wants exactly Java 8",
        fix="install a JDK 8 and put its bin folder first in PATH",
    )
    node = ask("node", "--version").partition("\n")[0]
    yield judge(
        "Node",
        _major(node) >= 18,
        node or "not found",
        to="simulators in JavaScript: mineflayer wants Node 18 or newer",
        fix="apt-get install nodejs npm",
    )


def video_encoder() -> Iterator[Finding]:
    """The encoder of `inhabit show --video`."""
    import av

    yield judge(
        "H.264 encoder",
        "libx264" in av.codec.codecs_available,
        f"PyAV {av.__version__}",
        to="videos (inhabit show --video)",
        fix="pip install --force-reinstall --only-binary :all: av",
    )


def ask(program: str, *arguments: str) -> str:
    """What a program says of itself; "" where it is missing, fails or takes ten seconds."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        answer = subprocess.run(
            [path, *arguments], capture_output=True, timeout=10, check=True, text=True,
            errors="replace",
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    # Java tells its version on stderr.
    return (answer.stdout or answer.stderr).strip()


def _major(said: str) -> int:
    """The version's first number; 8 for Java's old "1.8.0"; 0 where there is none."""
    found = re.search(r"(\d+)(?:\.(\d+))?", said)
    if found is None:
        return 0
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 and second else first


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
