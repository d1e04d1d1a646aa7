"""The output of `inhabit tune`: LoRA adapters, and the name of their base model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from inhabit.agents.core import ModelError
from inhabit.envs.core import UnavailableError
from inhabit.envs.entries import first_problem

FILE = "tuned.json"
_PLAIN = "adapter_config.json"


class TunedModel(BaseModel):
    """The file next to the adapters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    base: str
    """KIND:NAME of the model that was tuned."""


class _PlainAdapter(BaseModel):
    """What of `adapter_config.json` says where adapters belong."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    base_model_name_or_path: str | None = None


def base_of(folder: Path) -> str | None:
    """KIND:NAME of the base model of the adapters in `folder`; None if there are none.

    Adapters that PEFT saved by itself name their base in `adapter_config.json`.

    Raises:
        ModelError: the folder was left half written, or plain adapters name no base.
    """
    file = folder / FILE
    if not file.is_file():
        return _plain_base(folder)
    try:
        return TunedModel.model_validate_json(file.read_bytes()).base
    except ValidationError as error:
        raise ModelError(f"{file} can't be read: {first_problem(error)}.") from error


def _plain_base(folder: Path) -> str | None:
    file = folder / _PLAIN
    if not file.is_file() or (folder / "config.json").is_file():
        return None
    try:
        base = _PlainAdapter.model_validate_json(file.read_bytes()).base_model_name_or_path
    except ValidationError as error:
        raise ModelError(f"{file} can't be read: {first_problem(error)}.") from error
    if not base:
        raise ModelError(
            f"{file} names no base model. Put a file {FILE} beside it that does: "
            '{"version": 1, "base": "local:FOLDER"}.'
        )
    return f"local:{base}"


def apply_adapter(model: Any, folder: Path, *, merged: bool) -> Any:
    """Add the adapters of `folder` to `model`: to its weights if `merged`, else as layers.

    Raises:
        ModelError: the adapters are not for this model, or cut short.
        UnavailableError: peft is not installed.
    """
    try:
        import peft
    except ImportError as error:
        raise UnavailableError(
            "A tuned model needs the package 'peft': pip install 'inhabit[tune]'"
        ) from error
    try:
        wrapped = peft.PeftModel.from_pretrained(model, str(folder))
        return wrapped.merge_and_unload() if merged else wrapped.get_base_model()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"The adapters in {folder} don't fit the base model: {reason}") from error
