"""The base of every group of settings: what `--set KEY=VALUE` may change."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator


class SettingsModel(BaseModel):
    """Frozen settings. The docstring under a field is its description in `inhabit envs NAME`.

    A description says what the setting is, its unit, and where a default is taken from. Ranges and
    choices belong in the annotation, which also checks them.
    """

    # JSON has no infinite numbers: a record could not be compared with the command that made it.
    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False
    )

    gone: ClassVar[Mapping[str, object]] = MappingProxyType({})
    """Settings of earlier versions -> the value that holds now. A record that has it is played as
    it was; one that has another value is refused."""

    @model_validator(mode="before")
    @classmethod
    def _of_earlier_records(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {k: v for k, v in given.items() if k not in cls.gone or v != cls.gone[k]}


class NoSettings(SettingsModel):
    """Nothing to set."""
