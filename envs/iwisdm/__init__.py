"""iWISDM: instructions about images in a sequence of frames (Lei et al. 2024)."""

from __future__ import annotations

from inhabit.envs.iwisdm.settings import IwisdmSettings
from inhabit.envs.lazy import lazy
from inhabit.envs.registry import Registration
from inhabit.envs.simulators import render

REGISTRATION = Registration(
    name="iwisdm",
    summary="iWISDM: instructions about objects in a sequence of frames",
    backends=("library",),
    settings=IwisdmSettings,
    make=lazy("inhabit.envs.iwisdm.env:make"),
    sample=lazy("inhabit.envs.iwisdm.env:sample"),
    read=lazy("inhabit.envs.iwisdm.env:read"),
    needs=lazy("inhabit.envs.iwisdm.library:needs"),
    packages=("numba",),
    renderer=render.VERSION,
    prepare=lazy("inhabit.envs.iwisdm.library:prepare"),
)
