"""Starts a simulator with AI2-THOR's client: the embedded household, or a Unity build."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inhabit.envs.alfred.thor.client import Client, Wire
from inhabit.envs.core import UnavailableError

__all__ = ["Client", "start"]

_GRACE = 5.0
"""Seconds."""
_UNITY_STEP = 120.0
"""Seconds: the slowest scenes take half a minute to load."""


def start(
    backend: str,
    *,
    scene: str,
    executable: str | None = None,
    display: str | None = None,
    wire: Wire = "fifo",
    width: int = 300,
    height: int = 300,
    start_seconds: float = 300.0,
    step_seconds: float | None = None,
    rooms: str = "",
    recorded: bool = False,
    **initialization: Any,
) -> Client:
    """Start a simulator and connect AI2-THOR's client to it.

    Args:
        backend: "embedded", or "unity" for a user's own build.
        scene: the first one to load, such as "FloorPlan1".
        executable: for Unity, the build's executable file.
        display: for Unity, an X display such as ":0"; by default that of the environment.
        wire: named pipes or HTTP.
        width: of the images, pixels.
        height: of the images, pixels.
        start_seconds: timeout for starting the simulator, seconds.
        step_seconds: timeout of each request, seconds; None for two minutes with Unity and no
            limit with the embedded simulator.
        rooms: for the embedded simulator, a folder with the user's rooms.
        recorded: for the embedded simulator, whether the reachable positions in iTHOR's rooms are
            those recorded in THOR.
        initialization: parameters of THOR's `Initialize`, such as `gridSize=0.25`.

    Raises:
        UnavailableError: the build or the display is missing.
        SimulatorError: the simulator did not start.
        ValueError: there is no such scene, or an initialization parameter is wrong.
    """
    arguments = {
        "scene": scene,
        "width": width,
        "height": height,
        # Ours comes first: it says why, and kills.
        "server_start_timeout": start_seconds + _GRACE,
        "start_seconds": start_seconds,
        **initialization,
    }
    display = display or os.environ.get("DISPLAY")
    if backend == "embedded":
        from inhabit.envs.simulators.household.launcher import executable as embedded

        # The client insists on the name of a display; the embedded household opens none. And where
        # it reads the number of a GPU, it runs tools that belong to Unity's build for clusters.
        with _without("CUDA_VISIBLE_DEVICES"):
            path = embedded(rooms=rooms, recorded=recorded, for_tasks=True)
            return Client(
                str(path), wire, x_display=display or ":0", step_seconds=step_seconds, **arguments
            )
    if executable is not None:
        # The client starts it from another folder.
        executable = str(Path(executable).expanduser().absolute())
    if executable is None or not os.access(executable, os.X_OK):
        raise UnavailableError(
            f"The unity backend needs the executable of an AI2-THOR build, and {executable!r} is "
            "not a file. Pass --set executable=PATH, or use --backend embedded."
        )
    if not display:
        raise UnavailableError(
            "Unity needs an X display, and DISPLAY is not set. Without a screen, use "
            "`xvfb-run -a inhabit ...`."
        )
    return Client(
        executable, wire, x_display=display, step_seconds=step_seconds or _UNITY_STEP, **arguments
    )


@contextlib.contextmanager
def _without(name: str) -> Iterator[None]:
    value = os.environ.pop(name, None)
    try:
        yield
    finally:
        if value is not None:
            os.environ[name] = value
