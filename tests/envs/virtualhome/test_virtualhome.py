from __future__ import annotations

from collections.abc import Sequence

import pytest

from envs.contract import EnvContract
from envs.core import Env, Task, UnavailableError
from envs.virtualhome import VirtualHomeSettings
from envs.virtualhome.evolving import simulation
from envs.virtualhome.tasks import sample


def _present() -> bool:
    try:
        simulation()
    except UnavailableError:
        return False
    return True


pytestmark = pytest.mark.skipif(
    not _present(), reason="VirtualHome is not on this machine: run `inhabit setup virtualhome`"
)


class TestVirtualHome(EnvContract):
    steps = 8

    def make(self) -> Env:
        from envs.virtualhome.env import make

        return make("embedded", VirtualHomeSettings(view="none"))

    def tasks(self) -> Sequence[Task]:
        return list(sample(4, seed=0))
