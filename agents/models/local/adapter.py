"""The output of `inhabit tune`: LoRA adapters, and the name of their base model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from inhabit.agents.core import ModelError
from inhabit.envs.core import UnavailableError
from inhabit.envs.entries import first_problem

FILE = "tuned.json"


class TunedModel(BaseModel):
    """The file next to the adapters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    base: str
    """KIND:NAME of the model that was tuned."""


def base_of(folder: Path) -> str | None:
    """KIND:NAME of the base model of the adapters in `folder`; None if there are none.

    Raises:
        ModelError: the folder was left half written.
    """
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        return TunedModel.model_validate_json(file.read_bytes()).base
    except ValidationError as error:
        raise ModelError(f"{file} can't be read: {first_problem(error)}.") from error


def apply_adapter(model: Any, folder: Path) -> Any:
    """Merge the adapters of `folder` into the weights of `model`.

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
        return peft.PeftModel.from_pretrained(model, str(folder)).merge_and_unload()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"The adapters in {folder} don't fit the base model: {reason}") from error
