from __future__ import annotations

import pytest

from inhabit.envs.core import UnavailableError
from inhabit.envs.virtualhome.graph.library import interpreter, simulation
from inhabit.envs.virtualhome.tasks.scene import folder


def _has_virtualhome() -> bool:
    try:
        simulation()
    except UnavailableError:
        return False
    return True


needs_virtualhome = pytest.mark.skipif(
    not _has_virtualhome(),
    reason="VirtualHome is not on this machine: run `inhabit setup virtualhome`",
)
needs_its_interpreter = pytest.mark.skipif(
    not interpreter().exists(),
    reason="VirtualHome's own interpreter is not there: run `inhabit setup virtualhome`",
)


def _has_eai() -> bool:
    try:
        folder()
    except UnavailableError:
        return False
    return True


needs_eai = pytest.mark.skipif(
    not _has_eai(), reason="eai-eval is not on this machine: run `inhabit setup virtualhome`"
)
