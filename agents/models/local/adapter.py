"""The output of `inhabit tune`: LoRA adapters, and the name of their base model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from inhabit.agents.core import ModelError
from inhabit.agents.models.local import fingerprint
from inhabit.agents.models.local.folder import OpenedFolder, read_as
from inhabit.envs.cache import cache_home
from inhabit.envs.extras import require

FILE = "tuned.json"
_PLAIN = "adapter_config.json"
Name = Annotated[str, StringConstraints(max_length=300, pattern=r"^\^?[a-zA-Z0-9_.-]+$")]
"""The end of a module's name. peft takes it for a regular expression, which is harmless then."""
_UNUSED = frozenset({
    *("auto_mapping", "base_model_name_or_path", "ensure_weight_tying", "exclude_modules"),
    *("inference_mode", "layers_pattern", "layers_to_transform", "loftq_config", "lora_dropout"),
    *("megatron_core", "peft_version", "qalora_group_size", "revision", "runtime_config"),
    "task_type",
})  # fmt: skip
"""What has no effect on adapters that are used as they are: the weights say where they belong."""


class TunedModel(BaseModel, frozen=True, extra="forbid"):
    """The file next to the adapters."""

    version: Literal[1] = 1
    base: str
    """KIND:NAME of the model that was tuned."""


class _PlainAdapter(BaseModel, frozen=True, extra="ignore"):
    """What of `adapter_config.json` says where adapters belong."""

    base_model_name_or_path: str | None = None


class LoraFile(BaseModel, frozen=True, extra="forbid"):
    """`adapter_config.json`, as far as it is used. What else peft might do by it is refused."""

    peft_type: Literal["LORA"]
    r: int = Field(default=8, ge=1)
    lora_alpha: float = Field(default=8, allow_inf_nan=False)
    rank_pattern: Mapping[Name, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    alpha_pattern: Mapping[Name, float] = Field(default_factory=dict)
    target_modules: tuple[Name, ...] | str | None = None
    target_parameters: tuple[Name, ...] | None = None
    modules_to_save: tuple[Name, ...] | None = None
    trainable_token_indices: tuple[int, ...] | Mapping[Name, tuple[int, ...]] | None = None
    bias: Literal["none", "all", "lora_only"] = "none"
    fan_in_fan_out: bool = False
    lora_bias: bool = False
    use_dora: bool = False
    use_rslora: bool = False
    init_lora_weights: bool | Literal["gaussian", "orthogonal"] = True
    """Initialization of the adapters; other ways change the weights of the base as well."""

    @model_validator(mode="before")
    @classmethod
    def _without_unused(cls, said: Any) -> Any:
        if not isinstance(said, dict):
            return said
        known = cls.model_fields
        return {k: v for k, v in said.items() if k not in _UNUSED and (k in known or v)}


def base_of(folder: Path) -> str | None:
    """KIND:NAME of the base model of the adapters in `folder`; None if there are none, and empty if
    they name none.

    Adapters that PEFT saved by itself name their base in `adapter_config.json`.

    Raises:
        ModelError: the folder was left half written.
    """
    tuned = read_as(folder / FILE, TunedModel)
    if tuned is not None:
        return tuned.base
    if (folder / "config.json").is_file():
        return None
    plain = read_as(folder / _PLAIN, _PlainAdapter)
    if plain is None:
        return None
    return f"local:{plain.base_model_name_or_path}" if plain.base_model_name_or_path else ""


def remember(folder: Path) -> None:
    """Note that the adapters in `folder` were made on this machine, with the base they name."""
    note = _note(folder)
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()


def is_made_here(folder: Path) -> bool:
    """Whether the user of this machine made the adapters in `folder`, and so named their base."""
    return _note(folder).is_file()


def _note(folder: Path) -> Path:
    return cache_home() / "tuned" / fingerprint.of_folder(folder)


def apply_adapter(model: Any, folder: Path, *, merged: bool, pickles: bool) -> Any:
    """Add the adapters of `folder` to `model`: to its weights if `merged`, else as layers.

    Raises:
        ModelError: the adapters are not for this model, or cut short.
        UnavailableError: peft is not installed.
    """
    require("peft", "tune", "Tuned models")
    import peft

    said = read_as(folder / _PLAIN, LoraFile)
    if said is None:
        raise ModelError(f"The adapters in {folder} have no {_PLAIN}.")
    opened = OpenedFolder(folder, pickles=pickles)
    try:
        config = peft.LoraConfig(**_chosen(said, _ranks(opened.path)))
        wrapped = peft.PeftModel.from_pretrained(model, str(opened.path), config=config)
        return wrapped.merge_and_unload() if merged else wrapped.get_base_model()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = opened.named(str(error)).strip().partition("\n")[0]
        raise ModelError(f"The adapters in {folder} don't fit the base model: {reason}") from error


def _chosen(said: LoraFile, ranks: Mapping[str, int]) -> Mapping[str, Any]:
    """What peft is told: modules are those of the weights, and no rank is higher than theirs."""
    if max(said.r, *said.rank_pattern.values(), 0) > max(ranks.values(), default=0):
        raise ValueError("it has a higher rank than its weights")
    found = said.model_dump(exclude={"peft_type"})
    found["init_lora_weights"] = True
    if not isinstance(said.target_modules, tuple):
        found["target_modules"] = None if said.target_parameters else tuple(ranks)
    return {key: list(one) if isinstance(one, tuple) else one for key, one in found.items()}


def _ranks(folder: Path) -> Mapping[str, int]:
    """The names of the modules that have adapters in `folder`, and their ranks."""
    from safetensors import safe_open

    file = folder / "adapter_model.safetensors"
    if not file.exists():
        raise OSError(f"there is no {file.name}")
    with safe_open(file, "pt") as weights:
        shapes = {name: weights.get_slice(name).get_shape() for name in weights.keys()}  # noqa: SIM118
    return {
        name.partition(".lora_")[0].removeprefix("base_model.model."): shape[0]
        for name, shape in shapes.items()
        if ".lora_A." in name or ".lora_embedding_A" in name
    }
