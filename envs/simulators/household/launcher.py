"""The executable that AI2-THOR's client starts in place of Unity.

It needs the path of an executable, so a script of three lines is written into the cache that runs
this interpreter with `-m inhabit.envs.simulators.household.wire`.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from pathlib import Path

import inhabit
from inhabit.envs.cache import cache_home

WRITTEN_BY = "# Written by inhabit: starts the embedded household."
"""The second line of the script, which identifies it."""
_ROOT = Path(inhabit.__file__).resolve().parents[1]
"""Python path of `inhabit`."""
_MEMORY = f"export MALLOC_MMAP_THRESHOLD_={32 << 20} MALLOC_TRIM_THRESHOLD_={256 << 20}"
"""Stops the C library returning image memory to the system, which saves 10 % of a step's time."""


def executable(*, rooms: str = "", recorded: bool = False, for_tasks: bool = False) -> Path:
    """The simulator, for AI2-THOR's client to start.

        Controller(
            local_executable_path=shlex.quote(str(executable())),  # it is split like a shell does
            x_display=":0",  # any text; none is opened
            server_timeout=None,  # or a dead simulator is waited for at full speed for 100 s
            scene="FloorPlan1",
        )

    Args:
        rooms: a folder with rooms of the user's own; empty for that in INHABIT_ROOMS, if any.
        recorded: whether one can stand in iTHOR's rooms where THOR's own agent could.
        for_tasks: whether rooms and rules are those that tasks of `inhabit` were made with, and not
            those of AI2-THOR 5.0.0.

    Raises:
        OSError: the cache cannot be written.
    """
    # The client's process id, so that the simulator can see it end.
    module = "inhabit.envs.simulators.household.wire"
    command = f'exec {shlex.quote(sys.executable)} -P -m {module} -client "$PPID"'
    if rooms:
        command += f" -rooms {shlex.quote(str(Path(rooms).resolve()))}"
    command += " -recorded-cells" if recorded else ""
    command += ' -for-tasks "$@"' if for_tasks else ' "$@"'
    # The client may run in another environment than this one, with packages of other versions.
    surroundings = f"unset PYTHONHOME\nexport PYTHONPATH={shlex.quote(str(_ROOT))}"
    script = f"#!/bin/sh\n{WRITTEN_BY}\n{_MEMORY}\n{surroundings}\n{command}\n"
    home = cache_home()
    path = home / f"household-{hashlib.sha256(script.encode()).hexdigest()[:12]}"
    if not os.access(path, os.X_OK):
        home.mkdir(parents=True, exist_ok=True)
        # Written beside it and moved into place: other processes may be starting it.
        descriptor, made = tempfile.mkstemp(dir=home)
        with os.fdopen(descriptor, "w") as file:
            file.write(script)
        Path(made).chmod(0o755)
        Path(made).replace(path)
    return path
