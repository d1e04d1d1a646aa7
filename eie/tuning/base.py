"""The base model with the weights that are trained: LoRA adapters, whole modules, or both.

`merge` adds adapters to the weights of their base.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from inhabit.agents.models.core import Ability
from inhabit.agents.models.local.adapter import FILE, TunedModel, remember
from inhabit.agents.models.local.recommended import copy_recommended, recommended_by
from inhabit.agents.models.local.registration import resolve
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.eie.tuning.devices import gathered, split_as
from inhabit.eie.tuning.parts import lora_targets, module_names, vision_encoder
from inhabit.eie.tuning.settings import TuneError, TuneSettings
from inhabit.envs.extras import require


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A model and the weights of it that are trained. Only `trained` changes."""

    name: str
    """KIND:NAME as given."""
    model: Any
    """The transformers model, with adapters in its layers if there are any."""
    wrapped: Any
    """The same model, wrapped by peft; `model` itself where there are no adapters."""
    encoder: Any
    """The model's `inhabit.agents.models.local.encoder.Encoder`."""
    sees: bool

    @property
    def adapted(self) -> bool:
        """Whether it has adapters."""
        return self.wrapped is not self.model

    @property
    def trained(self) -> Mapping[str, nn.Parameter]:
        """The trained parameters by name, in a fixed order."""
        return {n: p for n, p in self.wrapped.named_parameters() if p.requires_grad}

    def to_training(self) -> None:
        """Turn dropout on where weights are trained. Statistics of batch norms stay as they are."""
        self.wrapped.train()
        encoder = vision_encoder(self.model)
        if encoder is not None and not any(p.requires_grad for p in encoder.parameters()):
            encoder.eval()
        for module in self.model.modules():
            if isinstance(module, _BatchNorm):
                module.eval()

    def to_evaluation(self) -> None:
        """Turn dropout off."""
        self.wrapped.eval()

    def precision(self) -> AbstractContextManager[Any]:
        """The context of forward passes: matrix products in the dtype of the frozen weights."""
        dtype = self.model.config.dtype
        if dtype is None or dtype == torch.float32:
            return nullcontext()
        return torch.autocast(self.model.device.type, dtype)

    @torch.no_grad()
    def take(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Set the trained parameters to `tensors`.

        Raises:
            TuneError: names or shapes do not match.
        """
        trained = self.trained
        shapes = {n: tuple(t.shape) for n, t in tensors.items()}
        if shapes != {n: tuple(p.shape) for n, p in trained.items()}:
            raise TuneError("The checkpoint is of another base, or of other trained parts.")
        for name, parameter in trained.items():
            parameter.copy_(split_as(tensors[name], parameter))

    def state(self) -> dict[str, torch.Tensor]:
        """What `save` writes. Every process has to ask for it where weights are split."""
        found = self.trained if self.adapted else self.model.state_dict()
        return {name: gathered(tensor.detach()) for name, tensor in found.items()}

    def save(self, folder: Path, state: Mapping[str, torch.Tensor]) -> None:
        """Write what `--model local:FOLDER` can load, of weights `state`, to an empty `folder`."""
        self.wrapped.save_pretrained(folder, state_dict=dict(state))
        if not self.adapted:
            self.encoder.save(folder)
            _recommend_the_same(self.name, folder)
            return
        # peft records a path of this machine, which is useless elsewhere.
        config = folder / "adapter_config.json"
        noted = json.loads(config.read_text())
        config.write_text(json.dumps(noted | {"base_model_name_or_path": None}, indent=2) + "\n")
        (folder / FILE).write_text(TunedModel(base=self.name).model_dump_json(indent=2) + "\n")
        remember(folder)


def _recommend_the_same(name: str, folder: Path) -> None:
    """Have a model in `folder` recommend the settings that the local model `name` does."""
    source, adapters = resolve(name.removeprefix("local:"))
    for place in (*reversed(adapters), Path(source)):
        if recommended_by(place):
            copy_recommended(place, folder)
            return


def prepare(name: str, settings: TuneSettings, seed: int) -> Base:
    """Load the local model `name` and choose what is trained; adapters start from `seed`.

    Raises:
        TuneError: it is not a local model, has no chat template, or lacks a part to train.
        ModelError: it can't be loaded.
        UnavailableError: a package is missing.
    """
    if not name.startswith("local:"):
        raise TuneError(f"Only a local model can be tuned (--base local:PATH), not {name!r}.")
    chosen = settings.model_dump(include={"device", "dtype", "attention", "quantization"})
    loaded: Any = load(name, LocalSettings.model_validate(chosen))
    if Ability.RANK not in loaded.abilities or not hasattr(loaded, "network"):
        raise TuneError(
            f"{name} is no transformer whose candidates can be scored, which tuning needs: choose "
            "another model with --base local:PATH."
        )
    if loaded.encoder.plain:
        raise TuneError(
            f"{name} has no chat template, so it can't be asked in turns. Save one into "
            "its tokenizer's folder as chat_template.jinja."
        )
    torch.manual_seed(seed)
    network = loaded.network
    if getattr(network, "is_quantized", False):
        if settings.whole:
            raise TuneError(
                f"The weights of {name} are quantized, which can't be trained themselves: "
                "use LoRA alone (targets=language, no whole=)."
            )
        _unpack(network)
    if settings.targets == "none":
        wrapped = _chosen_parts(network, settings)
    else:
        wrapped = _adapted(network, settings, name)
    for parameter in wrapped.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.float()
    _leave_casts_to_autocast(wrapped)
    if settings.checkpointing:
        network.gradient_checkpointing_enable({"use_reentrant": False})
    base = Base(name, network, wrapped, loaded.encoder, Ability.IMAGES in loaded.abilities)
    base.to_training()
    return base


def _leave_casts_to_autocast(wrapped: Any) -> None:
    """Stop adapters from casting what they read to their own float32.

    `precision` casts it back at once, so the numbers are the same and only time is lost.
    """
    for module in wrapped.modules():
        if hasattr(module, "lora_A"):
            module.cast_input_dtype_enabled = False


def _unpack(network: Any) -> None:
    """Keep four-bit weights in the layout that has gradients.

    At the first forward pass on a CPU, bitsandbytes packs them for a kernel without a backward
    pass; gradients of earlier layers would then be wrong without an error.
    """
    network.state_dict()  # unpacks them
    for module in network.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


def _chosen_parts(network: Any, settings: TuneSettings) -> Any:
    """The network, of which only the modules of `settings.whole` are trained."""
    names = module_names(network, settings.whole)
    network.requires_grad_(False)
    for name in names:
        network.get_submodule(name).requires_grad_(True)
    return network


def _adapted(network: Any, settings: TuneSettings, name: str) -> Any:
    """The network with LoRA adapters, wrapped by peft."""
    require("peft", "tune", "LoRA adapters")
    import peft

    config = peft.LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=lora_targets(network, settings),
        modules_to_save=list(module_names(network, settings.whole)) or None,
    )
    try:
        return peft.get_peft_model(network, config)
    except ValueError as error:
        raise TuneError(f"{name} can't take LoRA: {error}") from error


def merge(name: str, out: Path) -> None:
    """Write the tuned model `name` to the folder `out` as a model of its own.

    The weights stay in the dtype of the base's checkpoint. Each adapter is added in float32 to one
    layer at a time, and the sum is rounded once.

    Args:
        name: KIND:NAME of a local model with adapters.
        out: a folder that does not exist yet, or is empty.

    Raises:
        TuneError: `name` has no adapters, or `out` is not empty.
        ModelError: the model can't be loaded, or its merged scores can't be trusted.
        UnavailableError: a package is missing.
    """
    if not name.startswith("local:"):
        raise TuneError(f"Only a local model can be merged (local:PATH), not {name!r}.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TuneError(f"{out} is not empty: name another folder.")
    loaded: Any = load(name, LocalSettings(device="cpu", dtype="checkpoint"))
    if "adapters" not in loaded.details:
        raise TuneError(f"{name} has no adapters: there is nothing to merge.")
    if getattr(loaded.network, "is_quantized", False):
        raise TuneError(f"The base of {name} is quantized: merge into full precision instead.")
    out = out.resolve()
    here = out == Path.cwd()  # It can't be replaced: the user stands in it.
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f"{out.name}.", dir=out if here else out.parent) as beside:
        (half := Path(beside, "model")).mkdir()
        loaded.network.save_pretrained(half)
        loaded.encoder.save(half)
        _recommend_the_same(name, half)
        if not here:
            half.replace(out)
            return
        for file in half.iterdir():
            file.rename(out / file.name)
