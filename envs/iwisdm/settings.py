"""What `--set` may say of it. The registration reads this without the environment itself."""

from __future__ import annotations

from typing import Literal

from inhabit.envs.settings import SettingsModel

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
