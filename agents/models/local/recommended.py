"""Settings that a model folder recommends: `inhabit.json` beside the weights.

    {"version": 1, "agent": {"prompt": "prompt.jinja", "history": 60}, "env": {"clips": true}}

A run takes them as defaults where its agent, environment or model has such settings, and records
them like any others. A prompt is a template file in the same folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from inhabit.agents.core import ModelError
from inhabit.envs.entries import first_problem

FILE = "inhabit.json"
_PROMPT = "prompt"


class RecommendedSettings(BaseModel):
    """The file. Values are of settings by name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = Field(default=1, ge=1, le=1)
    agent: Mapping[str, JsonValue] = Field(default_factory=dict)
    env: Mapping[str, JsonValue] = Field(default_factory=dict)
    model: Mapping[str, JsonValue] = Field(default_factory=dict)


def recommended_by(folder: Path) -> Mapping[str, Mapping[str, object]]:
    """The settings of agent, env and model that `folder` recommends; empty without a file.

    Raises:
        ModelError: the file can't be read, or names a prompt outside of the folder.
    """
    file = folder / FILE
    if not file.is_file():
        return {}
    try:
        read = RecommendedSettings.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise ModelError(f"{file} can't be read: {first_problem(error)}.") from error
    agent: dict[str, object] = dict(read.agent)
    if _PROMPT in agent:
        name = str(agent[_PROMPT])
        if Path(name).name != name:
            raise ModelError(f"{file} names the prompt {name!r}: it must lie in the same folder.")
        agent[_PROMPT] = str(folder / name)
    return {"agent": agent, "env": read.env, "model": read.model}


def copy_recommended(source: Path, target: Path) -> None:
    """Copy the file and its prompt, if `source` has them."""
    found = recommended_by(source)
    if not found:
        return
    shutil.copyfile(source / FILE, target / FILE)
    if prompt := found["agent"].get(_PROMPT):
        shutil.copyfile(str(prompt), target / Path(str(prompt)).name)
