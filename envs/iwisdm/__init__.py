"""iWISDM: instructions about images in a sequence of frames (Lei et al. 2024)."""

from __future__ import annotations

from typing import Literal

from inhabit.envs.entries import lazy
from inhabit.envs.registry import Registration
from inhabit.envs.settings import SettingsModel
from inhabit.envs.simulators import render

Level = Literal["single", "low", "medium", "high"]
Join = Literal["none", "queue", "overlap", "interleave", "condition"]


class IwisdmSettings(SettingsModel):
    """What `--set` may say of iWISDM."""

    level: Level = "low"
    """Difficulty of sampled tasks; single ones have one frame."""
    join: Join = "none"
    """How two tasks are combined: one after the other (queue), overlapping, interleaved, or as a
    question whose turn depends on the answer to another (condition)."""
    showing: Literal["steps", "together"] = "steps"
    """One frame per step, each answered (steps); or all frames in one prompt with all answers in
    order, as in the paper (together)."""


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
