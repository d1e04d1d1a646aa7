"""Programs beside Python that some simulators need, and the video encoder."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

from inhabit.episodes.machine.finding import Finding, judge


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
