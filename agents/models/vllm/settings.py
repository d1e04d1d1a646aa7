"""How vLLM is run in this process."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from inhabit.envs.marks import Device
from inhabit.envs.settings import SettingsModel


class VLLMSettings(SettingsModel):
    """How vLLM is run in this process."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Floating-point type of the weights; auto takes that of the saved ones. In bfloat16 scores
    move by up to 0.4 nat with what else is computed at the same time."""
    tensor_parallel: Annotated[int, Device()] = Field(default=1, ge=1)
    """Number of GPUs over which each layer is split."""
    memory: Annotated[float, Device()] = Field(default=0.9, gt=0, le=1)
    """Share of a GPU's memory for weights and prompts."""
    max_length: Annotated[int | None, Device()] = Field(default=None, ge=1)
    """Tokens of a prompt and its answer, at most; by default what the model was made for."""
    block: Annotated[int | None, Device()] = Field(default=None, ge=1)
    """Tokens of a block of the prefix cache; by default vLLM's choice. Each node of the candidates
    reads an unfinished block again, so small blocks save tokens."""
    eager: Annotated[bool, Device()] = False
    """Start without compiling the model, which then computes more slowly."""
    images: Annotated[int, Device()] = Field(default=64, ge=1)
    """Images in one prompt, at most."""
    batch: Annotated[int, Device()] = Field(default=32, ge=1)
    """Maximum number of questions, of several episodes, that are handed over together."""
    max_tokens: int = Field(default=256, ge=1)
    """Maximum number of tokens of a reply, unless the agent sets its own."""
    temperature: float | None = Field(default=None, gt=0)
    """Sample replies at this temperature, by the seed of the episode; by default the likeliest
    token is taken. Ranking and beams are not affected."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Sample from the likeliest tokens that together have this probability."""
    top_k: int = Field(default=0, ge=0)
    """Sample from this many likeliest tokens; 0 for all."""
    min_pixels: int | None = Field(default=None, ge=1)
    """Enlarge smaller images to this number of pixels before the model's own processor."""
    max_pixels: int | None = Field(default=None, ge=1)
    """Shrink larger images to this number of pixels, which saves image tokens."""
