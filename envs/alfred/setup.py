"""`inhabit setup alfred`: installs the grids recorded with THOR's agent.

They are files in the package alfworld, which is installed without what it needs itself: of all its
code none is used.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes.util import find_library
from pathlib import Path

from inhabit.envs.extras import pip, run
from inhabit.envs.registry import Need
from inhabit.envs.simulators.household.geometry import grid

_BUILDS = (".ai2thor", "releases")
"""The folder below the home directory where AI2-THOR's client unpacks builds."""
_SOCKETS = Path("/tmp/.X11-unix")


def needs(backend: str) -> Sequence[Need]:
    """What a backend lacks on this machine, and how to install it."""
    return tuple(_unity_needs(os.environ, Path.home())) if backend == "unity" else ()


def _unity_needs(environment: Mapping[str, str], home: Path) -> Iterator[Need]:
    if not builds(home):
        yield Need(
            "a build of AI2-THOR 5.0.0",
            "unpack one, then pass its executable: --set executable=PATH",
        )
    display = environment.get("DISPLAY", "")
    if not answers(display):
        named = f"DISPLAY={display}, where no X server answers" if display else "DISPLAY is not set"
        vulkan = "" if find_library("vulkan") else ", and no Vulkan library for CloudRendering"
        yield Need(
            f"an X display ({named}){vulkan}",
            "xvfb-run -a inhabit ...; for a CloudRendering build instead: apt-get install "
            "libvulkan1 mesa-vulkan-drivers",
        )
    gpus = environment.get("CUDA_VISIBLE_DEVICES", "")
    missing = [tool for tool in ("vulkaninfo", "nvidia-smi") if shutil.which(tool) is None]
    if any(c.isdigit() for c in gpus) and missing:
        yield Need(
            f"{' and '.join(missing)}, which AI2-THOR's client runs because CUDA_VISIBLE_DEVICES "
            f"is {gpus!r}",
            "unset CUDA_VISIBLE_DEVICES, or install vulkan-tools and NVIDIA's driver",
        )


def builds(home: Path) -> list[Path]:
    """Executables of unpacked AI2-THOR builds: each is beside its `_Data` folder."""
    return sorted(
        data.with_name(data.name.removesuffix("_Data"))
        for data in home.joinpath(*_BUILDS).glob("*/*_Data")
        if data.with_name(data.name.removesuffix("_Data")).is_file()
    )


def answers(display: str) -> bool:
    """Whether an X server listens at a display such as ":0". A remote display is assumed to
    work.
    """
    host, colon, number = display.rpartition(":")
    if host or not colon:
        return bool(host)
    return (_SOCKETS / f"X{number.partition('.')[0]}").exists()


_PACKAGE = "alfworld==0.4.2"
_DEADLINE = 300.0
"""Seconds that the installation may take."""


def prepare(backend: str, tell: Callable[[str], None]) -> None:
    """Install what is missing. Safe to run twice.

    Args:
        backend: Unity computes its own cells and needs nothing.
        tell: called with a message for each step.

    Raises:
        UnavailableError: pip failed; the message quotes its last output.
    """
    if backend == "unity":
        tell("Unity needs nothing of ours; docs/install.md says what it needs.")
        return
    if grid.recorded_folder() is None:
        tell(f"{_PACKAGE}: installing it for its grids of cells, without its own needs.")
        _install()
        grid.recorded_folder.cache_clear()
    tell(f"{_PACKAGE}: its grids are in {grid.recorded_folder()}.")


def _install() -> None:
    run(
        [*pip(sys.executable), "install", "--no-deps", _PACKAGE],
        seconds=_DEADLINE,
        advice="Once the package index can be reached, run `inhabit setup alfred` again. Without "
        "it the cells are computed.",
    )
