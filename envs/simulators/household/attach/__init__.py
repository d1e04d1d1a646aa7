"""AI2-THOR programs of others, run unchanged on the embedded household.

A program starts simulators with `ai2thor.controller.Controller(...)`. A hook that its interpreter
reads at its start (`startup/`) has the client start the embedded household, whatever the arguments
name. The interpreter may be another one than ours, and need not have `inhabit`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from inhabit.envs.simulators.household.attach.startup import inhabit_thor_hook
from inhabit.envs.simulators.household.launcher import executable

__all__ = ["attach", "environment"]

_STARTUP = Path(__file__).with_name("startup")


def environment(
    base: Mapping[str, str] | None = None, *, rooms: str = "", recorded: bool = False
) -> dict[str, str]:
    """An environment in which every Python program gets the embedded household.

    Args:
        base: what is added to; None for this process's environment.
        rooms: a folder with rooms of the user's own; empty for that in INHABIT_ROOMS, if any.
        recorded: whether one can stand in iTHOR's rooms where THOR's own agent could.

    Raises:
        OSError: the cache can't be written.
    """
    found = dict(os.environ if base is None else base)
    others = [p for p in found.get("PYTHONPATH", "").split(os.pathsep) if p and p != str(_STARTUP)]
    found["PYTHONPATH"] = os.pathsep.join([str(_STARTUP), *others])
    found["INHABIT_THOR_EXECUTABLE"] = str(executable(rooms=rooms, recorded=recorded))
    return found


def attach(*, rooms: str = "", recorded: bool = False) -> None:
    """Have this process, and those that it starts from now on, use the embedded household.

    Args:
        rooms: as for `environment`.
        recorded: as for `environment`.

    Raises:
        OSError: the cache can't be written.
    """
    os.environ.update(environment(rooms=rooms, recorded=recorded))
    inhabit_thor_hook.install()
