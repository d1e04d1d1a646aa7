"""A tiny house of three rooms in pure Python, for tests. It has every optional capability.

Everything an environment can do, it does: expert, forks, tools, privileged state.
"""

from __future__ import annotations

from inhabit.envs.entries import lazy
from inhabit.envs.registry import Registration, scene_field
from inhabit.envs.toy.house import ToySettings

REGISTRATION = Registration(
    name="toy",
    summary="a three-room house without a simulator, for tests",
    backends=("grid",),
    domain="Domestic Robot",
    settings=ToySettings,
    make=lazy("inhabit.envs.toy.env:make"),
    sample=lazy("inhabit.envs.toy.tasks:sample"),
    read=lazy("inhabit.envs.toy.tasks:read"),
    kinds=lazy("inhabit.envs.toy.tasks:kinds"),
    rooms=lazy("inhabit.envs.toy.tasks:rooms"),
    room_of=scene_field("room"),
    template=lazy("inhabit.envs.toy.tasks:ToyTemplate"),
)
