"""Settings of `inhabit tune`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from inhabit.eie.examples.example import Kind
from inhabit.envs.errors import UserError
from inhabit.envs.settings import SettingsModel


def _words(value: object) -> object:
    """The words of a text from the command line; anything else unchanged."""
    return value.replace(",", " ").split() if isinstance(value, str) else value


class Objective(StrEnum):
    """The loss. Each adds to the previous one."""

    SFT = "sft"
    """Negative mean log-probability per token of the answer."""
    CONTRAST = "contrast"
    """SFT plus EgoPlan-Bench's hinge (Chen et al., 2023, section 4) against another random
    candidate."""
    RANKING = "ranking"
    """SFT plus the negative log-share of the answer among the candidates."""


class TuneError(UserError, RuntimeError):
    """A model can't be tuned, or its training had to stop."""


class TuneSettings(SettingsModel):
    """Defaults are those of PCA-Bench's fine-tuning (Chen et al., 2024, table 6)."""

    objective: Objective = Objective.RANKING
    """Loss: negative log-likelihood of the answer (sft); sft plus EgoPlan-Bench's hinge against a
    random other candidate (contrast); or sft plus the negative log-share of the answer among the
    candidates (ranking)."""
    negatives: int | None = Field(default=None, ge=1)
    """Wrong candidates of an example that the ranking objective compares with, picked uniformly at
    random in each step. By default all."""
    other_answers: int = Field(default=0, ge=0)
    """Answers of other examples that the ranking objective adds as wrong candidates. Those that are
    candidates of the example already are left out."""
    reasons: bool = False
    """Train on the reasoning followed by the action; objective sft only."""
    end: bool = False
    """Also train the token that ends a reply, for models that write replies; objective sft only."""
    pictures: bool = True
    """Give the model the images, if it accepts images."""
    kinds: Annotated[tuple[Kind, ...], BeforeValidator(_words)] = ()
    """Kinds of examples to use, separated by commas. By default all."""
    limit: int | None = Field(default=None, ge=1)
    """Number of training examples: the first of a seeded shuffle. By default all."""
    history: Annotated[int, Field(ge=0)] | Literal["whole"] | None = None
    """Past steps in the prompt, as for agents; with "whole", their images as well. By default what
    the model recommends, or 8."""
    keyframes: int | None = Field(default=None, ge=1)
    """Frames taken from each video clip, as for agents. By default what the model recommends, or
    all."""
    prompt: Path | None = None
    """Template file of the prompt, as for agents. By default the model's or the package's."""

    rank: int = Field(default=8, ge=1)
    """Rank of the LoRA adapters."""
    alpha: int = Field(default=32, ge=1)
    """Scale (alpha) of the LoRA adapters."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout of the LoRA adapters."""
    targets: Literal["none", "language", "all"] = "language"
    """Linear layers that get LoRA adapters: those of the language model, or also those of the
    vision encoder. none trains what `whole` names and nothing else, and saves a whole model."""
    last_layers: int | None = Field(default=None, ge=1)
    """Only this many layers of the language model, the last ones, get LoRA adapters. Gradients need
    not go further down, which is faster. By default all layers."""
    whole: Annotated[tuple[str, ...], BeforeValidator(_words)] = ()
    """Modules that are trained without LoRA, separated by commas: language, projector, vision, all
    (with targets=none), or names of modules such as "multi_modal_projector"."""

    epochs: float = Field(default=5.0, gt=0)
    """Passes over the training examples."""
    batch: int = Field(default=20, ge=1)
    """Examples per optimizer step, over all devices."""
    episodes: bool = False
    """Take whole episodes in each step, at least `batch` examples, and read what the prompts of an
    episode have in common once. Several times faster where prompts hold many past steps."""
    micro_batch: int = Field(default=4, ge=1)
    """Examples per forward and backward pass. Gradients are accumulated over the passes of a step.
    More are faster and need more memory."""
    rate: float = Field(default=2e-4, gt=0)
    """Peak learning rate."""
    warmup: float = Field(default=0.03, ge=0, lt=1)
    """Share of the steps over which the learning rate rises; after it, cosine decay."""
    decay: float = Field(default=0.0, ge=0)
    """Weight decay."""
    clip: float = Field(default=1.0, gt=0)
    """Maximum gradient norm."""

    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Device to train on."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Floating-point type of the frozen weights, and of matrix products. Trained weights are always
    kept in float32."""
    attention: Literal["", "eager", "sdpa", "flash_attention_2"] = ""
    """Attention implementation; by default that of transformers. flash_attention_2 takes no tree
    masks: every candidate is then read with the whole prompt."""
    quantization: Literal["", "bnb-8bit", "bnb-4bit"] = ""
    """Quantize the frozen weights while they are loaded, by bitsandbytes: QLoRA."""
    shard: bool = False
    """Split weights, gradients and moments over the processes of `accelerate launch` (FSDP), for
    models that do not fit one GPU."""
    checkpointing: bool = False
    """Compute activations again in the backward pass instead of keeping them: less memory, and
    about a third more time."""
    cache: float = Field(default=4.0, ge=0)
    """Memory for encoded prompts with their images, in GB, and as much again for what a frozen
    vision encoder makes of them. What does not fit is read and encoded again in each epoch."""
    save_every: int = Field(default=50, ge=1)
    """Optimizer steps between checkpoints."""
    judge_every: int = Field(default=50, ge=1)
    """Optimizer steps between evaluations on the validation split; it is also evaluated before the
    first and after the last step."""
    judge: int = Field(default=200, ge=0)
    """Validation examples per evaluation: the first of a seeded shuffle."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.reasons and self.objective is not Objective.SFT:
            raise ValueError("reasons=true needs objective=sft: reasons are no candidates")
        if self.end and self.objective is not Objective.SFT:
            raise ValueError("end=true needs objective=sft: a ranked candidate does not end")
        if (self.negatives or self.other_answers) and self.objective is not Objective.RANKING:
            raise ValueError("negatives and other_answers need objective=ranking")
        if self.targets == "none" and self.last_layers is not None:
            raise ValueError("last_layers= needs LoRA, and targets=none has none")
        if self.targets == "none" and not self.whole:
            raise ValueError("targets=none needs whole=, the names of what is trained")
        if "all" in self.whole and self.targets != "none":
            raise ValueError("whole=all needs targets=none: nothing is left for LoRA")
        if self.quantization and self.shard:
            raise ValueError("quantized weights can't be split: leave shard or quantization out")
        if self.quantization and self.whole:
            raise ValueError("quantized weights can't be trained themselves: leave whole= out")
        return self
