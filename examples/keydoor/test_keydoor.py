from collections.abc import Sequence

from keydoor import REGISTRATION

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Task


class TestKeyDoor(EnvContract):
    def make(self) -> Env:
        return REGISTRATION.make("grid", REGISTRATION.settings())

    def tasks(self) -> Sequence[Task]:
        return list(REGISTRATION.sample(4, 0, REGISTRATION.settings()))
