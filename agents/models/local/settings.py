"""How a local model is run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from inhabit.envs.settings import SettingsModel


class LocalSettings(SettingsModel):
    """How a local model is run."""

    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Device to run on."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Floating-point type of the weights. auto takes the faster one in a short timing, so it may
    differ between machines; the record says which, and a continued run keeps it. bfloat16 changes
    log-probabilities by up to 0.4 nat."""
    batch: int = Field(default=8, ge=1)
    """Maximum number of questions, of several episodes, that are evaluated together. Batching
    changes log-probabilities: in float32 in the sixth digit, in bfloat16 by up to 0.4 nat. Use 1
    for bit-exact repetition with --workers."""
    threads: int | None = Field(default=None, ge=1)
    """CPU threads. By default torch decides."""
