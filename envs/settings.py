"""The base of every group of settings: what `--set KEY=VALUE` may change."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SettingsModel(BaseModel):
    """Frozen settings. The docstring under a field is its description in `inhabit envs NAME`.

    A description says what the setting is, its unit, and where a default is taken from. Ranges and
    choices belong in the annotation, which also checks them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
