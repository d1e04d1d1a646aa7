"""How a local model is run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from inhabit.envs.settings import SettingsModel


class LocalSettings(SettingsModel):
    """How a local model is run."""

    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """bfloat16 moves scores by up to 0.4 nat; what is to be compared to the digit asks for
    float32. `auto` is whatever a short timing finds faster: it may be another on another machine.
    The record says which it was, and a run that goes on goes on with that."""
    batch: int = Field(default=8, ge=1)
    """Questions of several episodes that are read together at most. What is read together moves
    scores: in float32 in the sixth digit, in bfloat16 by up to 0.4 nat. Where several episodes are
    played at once and each bit is to come again, 1."""
    threads: int | None = Field(default=None, ge=1)
    """Of the processor; as many as torch takes where it is not set."""
