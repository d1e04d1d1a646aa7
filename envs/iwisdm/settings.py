"""Settings of iWISDM, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from typing import Literal

from inhabit.envs.settings import SettingsModel

Level = Literal["single", "low", "medium", "high"]
Join = Literal["none", "queue", "overlap", "interleave", "condition"]


class IwisdmSettings(SettingsModel):
    """What `--set` may say of iWISDM."""

    level: Level = "low"
    """Difficulty of sampled tasks; "single" tasks have one frame."""
    join: Join = "none"
    """How two tasks are combined: in sequence, overlapping or interleaved; "condition" makes a
    question depend on the answer to another."""
    showing: Literal["steps", "together"] = "steps"
    """"steps" shows one frame per step and takes an answer or "null" for each; "together" shows
    all frames at once and takes the due answers in turn, as the paper's models were asked."""
