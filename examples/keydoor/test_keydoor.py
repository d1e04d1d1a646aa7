from collections.abc import Sequence

from keydoor import KeyDoor, Settings, sample

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Task


class TestKeyDoor(EnvContract):
    def make(self) -> Env:
        return KeyDoor(Settings())

    def tasks(self) -> Sequence[Task]:
        return list(sample(4, 0, Settings()))
