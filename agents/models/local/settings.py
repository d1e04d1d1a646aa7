"""How a local model is run."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from inhabit.envs.marks import Device, Trust
from inhabit.envs.settings import SettingsModel


class LocalSettings(SettingsModel):
    """How a local model is run."""

    device: Annotated[Literal["auto", "cpu", "cuda", "mps"], Device()] = "auto"
    """Device to run on."""
    dtype: Literal["auto", "checkpoint", "float32", "bfloat16", "float16"] = "auto"
    """Floating-point type of the weights. checkpoint takes that of the saved weights. auto takes
    bfloat16 or float32, whichever is faster in a short timing, so it may differ between machines;
    the record says which, and a continued run keeps it. bfloat16 changes log-probabilities by up to
    0.3 nat."""
    device_map: Annotated[Literal["", "auto", "balanced", "sequential"], Device()] = ""
    """Spread the layers over several devices, as accelerate does it; by default one device."""
    quantization: Literal["", "bnb-8bit", "bnb-4bit"] = ""
    """Quantize the weights while they are loaded, by bitsandbytes. A checkpoint that is quantized
    already (AWQ, GPTQ, bitsandbytes, ...) is loaded as it is, without this."""
    attention: Literal["", "eager", "sdpa", "flash_attention_2"] = ""
    """Attention implementation; by default that of transformers. flash_attention_2 takes no tree
    masks: candidates are then ranked as a batch."""
    scoring: Literal["auto", "tree", "tree_alone", "batch", "single"] = "auto"
    """How candidates are scored: in one forward pass by tree masks, for several prompts or for one
    at a time; as a batch over copies of the prompt's cache; or by one forward pass each. auto takes
    the first that agrees with plain forward passes on this model. One that is named and does not
    agree is refused."""
    batch: Annotated[int, Device()] = Field(default=8, ge=1)
    """Maximum number of questions, of several episodes, that are evaluated together. Batching
    changes log-probabilities: in float32 in the sixth digit, in bfloat16 by up to 0.4 nat. Use 1
    for bit-exact repetition with --workers."""
    max_tokens: int = Field(default=256, ge=1)
    """Maximum number of tokens of a reply, unless the agent sets its own."""
    temperature: float | None = Field(default=None, gt=0)
    """Sample replies at this temperature, by the seed of the episode; by default the likeliest
    token is taken. Ranking and beams are not affected."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Sample from the likeliest tokens that together have this probability."""
    top_k: int = Field(default=0, ge=0)
    """Sample from this many likeliest tokens; 0 for all."""
    json_schema: bool = False
    """Hold replies to the agent's JSON schema while they are decoded; needs llguidance."""
    min_pixels: int | None = Field(default=None, ge=1)
    """Enlarge smaller images to this number of pixels before the model's own processor."""
    max_pixels: int | None = Field(default=None, ge=1)
    """Shrink larger images to this number of pixels, which saves image tokens."""
    picture_cache: Annotated[int, Device()] = Field(default=256, ge=0)
    """Mebibytes of features of images that are kept on the device, so that an image which comes
    again is not encoded again."""
    prompt_cache: Annotated[int, Device()] = Field(default=1024, ge=0)
    """Mebibytes of keys and values of prompts that are kept on the device, so that each token of an
    episode is read once. No score depends on it."""
    trust_remote_code: Annotated[bool, Trust()] = False
    """Run Python code that comes with the model. Only for models that you trust as you trust a
    program: it runs with your rights, without the API keys in your environment."""
    pickles: Annotated[bool, Trust()] = False
    """Read weights that are pickles (pytorch_model.bin), as far as torch's weights_only does. By
    default weights are safetensors."""
    threads: Annotated[int | None, Device()] = Field(default=None, ge=1)
    """CPU threads. By default torch decides."""
