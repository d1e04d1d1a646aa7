"""How a model is tuned."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from inhabit.envs.errors import UserError
from inhabit.envs.settings import SettingsModel

Kind = Literal["decision", "trajectory", "recognition", "recovery", "photograph"]


class Objective(StrEnum):
    """What is made small. Each adds to the one before it."""

    SFT = "sft"
    """How unlikely the answer is: minus its mean log-probability per token."""
    CONTRAST = "contrast"
    """SFT, and EgoPlan-Bench's hinge (Chen et al., 2023, section 4): how much likelier one other
    candidate of the same moment, drawn by lot, is than the answer."""
    RANKING = "ranking"
    """SFT, and minus the log of the answer's share among ALL candidates, read in one forward."""


class TuneError(UserError, RuntimeError):
    """A model can't be tuned, or its training had to stop. Says why, and what is kept."""


class TuneSettings(SettingsModel):
    """Defaults are those of PCA-Bench's fine-tuning (Chen et al., 2024, table 6)."""

    objective: Objective = Objective.RANKING
    margin: float = Field(default=0.0, ge=0)
    """Of the hinge, in nats per token."""
    reasons: bool = False
    """Whether the answer is the reason and then the action; sft alone can be had so."""
    pictures: bool = True
    """Whether the model is shown them. It takes none where it can't see."""
    kinds: tuple[Kind, ...] = ()
    """Of examples; empty for all that the set has."""
    limit: int | None = Field(default=None, ge=1)
    """How many training examples are used: the first so many of a shuffle by the seed."""
    history: int = Field(default=8, ge=0)
    """How many past steps a prompt tells of, as planners have it."""

    rank: int = Field(default=8, ge=1)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: Literal["language", "all"] = "language"
    """Which linear layers LoRA is put on: those of the language model, or those of the eyes too."""
    whole: tuple[str, ...] = ()
    """Names of modules that are trained whole, such as "multi_modal_projector"."""

    epochs: float = Field(default=5.0, gt=0)
    batch: int = Field(default=20, ge=1)
    """Examples per step, over all devices; they are read one after the other."""
    rate: float = Field(default=2e-4, gt=0)
    warmup: float = Field(default=0.03, ge=0, lt=1)
    """Share of the steps over which the rate rises; then it falls as a cosine."""
    decay: float = Field(default=0.0, ge=0)
    clip: float = Field(default=1.0, gt=0)
    """Norm that gradients are cut to."""

    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Of the base; what is trained is float32 always."""
    save_every: int = Field(default=50, ge=1)
    """Steps between checkpoints."""
    judge_every: int = Field(default=50, ge=1)
    """Steps between measurements on the validation split, before the first and after the last."""
    judge: int = Field(default=200, ge=0)
    """Validation examples that are measured; the first so many of the shuffle."""
