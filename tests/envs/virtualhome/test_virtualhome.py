from __future__ import annotations

import functools
from collections.abc import Sequence

import pytest

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Task, UnavailableError
from inhabit.envs.virtualhome.graph.library import simulation
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings


def _present() -> bool:
    try:
        simulation()
    except UnavailableError:
        return False
    return True


pytestmark = pytest.mark.skipif(
    not _present(), reason="VirtualHome is not on this machine: run `inhabit setup virtualhome`"
)


@functools.cache
def two_tasks() -> tuple[Task, ...]:
    """Sampled once: each is planned first."""
    return tuple(sample(2, seed=0))


class TestVirtualHome(EnvContract):
    steps = 8

    def make(self) -> Env:
        from inhabit.envs.virtualhome.env import make

        return make("embedded", VirtualHomeSettings(view="none"))

    def tasks(self) -> Sequence[Task]:
        return two_tasks()
