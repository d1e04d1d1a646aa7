"""Settings of iWISDM, as `--set KEY=VALUE` changes them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Level = Literal["single", "low", "medium", "high"]
Join = Literal["none", "queue", "overlap", "interleave", "condition"]


class IwisdmSettings(BaseModel):
    """What `--set` may say of iWISDM."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Level = "low"
    """Of the tasks that are sampled; "single" ones have one frame."""
    join: Join = "none"
    """How two tasks are joined: one after the other, overlapping or interleaved; "condition" is a
    question that hangs on the answer to another."""
    showing: Literal["steps", "together"] = "steps"
    """One frame a step, and an answer or "null" to each; or all frames in one prompt, and the due
    answers one after the other, as the paper's models were asked."""
