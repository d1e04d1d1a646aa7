"""What `inhabit tune` leaves: adapters that a base takes on, and the name of that base."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from inhabit.agents.core import ModelError
from inhabit.envs.core import UnavailableError
from inhabit.envs.entries import first_problem

FILE = "tuned.json"


class TunedModel(BaseModel):
    """The file beside the adapters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    base: str
    """KIND:NAME of the model that was tuned."""


def base_of(folder: Path) -> str | None:
    """KIND:NAME of what the adapters in `folder` were trained on; None if there are none.

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
    """`model` with the adapters of `folder` worked into its weights.

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
        raise ModelError(f"The adapters in {folder} can't be put on: {reason}") from error
