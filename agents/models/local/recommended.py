"""Settings that a model folder recommends: `inhabit.json` beside the weights.

    {"version": 1, "agent": {"prompt": "prompt.jinja", "history": 60}, "env": {"clips": true}}

A run takes them as defaults where its agent, environment or model has such settings that anybody
may set (`inhabit.envs.marks.portable`), and records them like any others. A prompt is a template
file in the same folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, Field, JsonValue

from inhabit.agents.core import ModelError
from inhabit.agents.models.local.folder import read_as
from inhabit.envs.files import is_regular, read_whole

FILE = "inhabit.json"
_PROMPT = "prompt"


class RecommendedSettings(BaseModel, frozen=True, extra="forbid"):
    """The file. Values are of settings by name."""

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
    if (found := read_as(file, RecommendedSettings)) is None:
        return {}
    agent: dict[str, object] = dict(found.agent)
    if _PROMPT in agent:
        prompt = folder / str(agent[_PROMPT])
        if prompt.parent != folder or not is_regular(prompt, folder):
            raise ModelError(
                f"{file} names the prompt {agent[_PROMPT]!r}: it must be a file in the same folder."
            )
        agent[_PROMPT] = prompt
    return {"agent": agent, "env": found.env, "model": found.model}


def copy_recommended(source: Path, target: Path) -> None:
    """Copy the file and its prompt, if `source` has them."""
    found = recommended_by(source)
    prompt = found.get("agent", {}).get(_PROMPT)
    for file in ((source / FILE,) if found else ()) + (
        (prompt,) if isinstance(prompt, Path) else ()
    ):
        (target / file.name).write_bytes(read_whole(file, source))
