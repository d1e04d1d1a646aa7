"""What a real Unity build of AI2-THOR needs of a machine, told without starting one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from ctypes.util import find_library
from pathlib import Path

from envs.registry import Need

_BUILDS = (".ai2thor", "releases")
"""Where AI2-THOR's own client unpacks the builds that it downloads, below the home directory."""
_SOCKETS = Path("/tmp/.X11-unix")


def needs(environment: Mapping[str, str], home: Path) -> Iterator[Need]:
    """What is missing, each with what to do.

    Args:
        environment: variables such as DISPLAY and CUDA_VISIBLE_DEVICES.
        home: the user's directory.
    """
    if not builds(home):
        yield Need(
            "a build of AI2-THOR 5.0.0",
            "unpack one anywhere and name its executable: --set executable=PATH",
        )
    display = environment.get("DISPLAY", "")
    if not answers(display):
        named = f"DISPLAY={display}, where no X server answers" if display else "none is named"
        vulkan = "" if find_library("vulkan") else ", and there is no Vulkan for CloudRendering"
        yield Need(
            f"an X display ({named}){vulkan}",
            "Xvfb :99 -screen 0 1024x768x24 & export DISPLAY=:99; for a CloudRendering build "
            "instead: apt-get install libvulkan1 mesa-vulkan-drivers",
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
    """Executables of builds that AI2-THOR's client has unpacked: each beside its `_Data` folder."""
    return sorted(
        data.with_name(data.name.removesuffix("_Data"))
        for data in home.joinpath(*_BUILDS).glob("*/*_Data")
        if data.with_name(data.name.removesuffix("_Data")).is_file()
    )


def answers(display: str) -> bool:
    """Whether there is an X server behind a display, such as ":0"; elsewhere it is taken to be."""
    host, colon, number = display.rpartition(":")
    if host or not colon:
        return bool(host)
    return (_SOCKETS / f"X{number.partition('.')[0]}").exists()
