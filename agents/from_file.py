"""An agent class in a file of one's own: `--agent FILE.py:Class`.

The file is run, so that only a person who types its name may choose it: a record never does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from inhabit.agents.core import Agent, Grant, ModelError
from inhabit.agents.models.core import Model
from inhabit.agents.registry import AgentRegistration, needs_problem
from inhabit.envs.entries import is_interrupt, raised, same_folder, settings_problem

_NAMED = re.compile(r"(?P<file>.+\.py):(?P<kind>[^\W\d]\w*)", re.DOTALL)


class NoSettings(BaseModel):
    """Of an agent that declares none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def names_file(agent: str) -> bool:
    """Whether `agent` is a FILE.py:Class, and no registered name."""
    return _NAMED.fullmatch(agent) is not None


def load_agent(agent: str) -> AgentRegistration:
    """The registration of the class that `agent`, a FILE.py:Class, names.

    The class may declare `Settings` (a pydantic model, given to it as its only argument), `needs`
    (a set of `Grant`) and `summary`.

    Raises:
        ModelError: there is no such file or class, it fails to load, or is no agent.
    """
    named = _NAMED.fullmatch(agent)
    assert named is not None, "see names_file"
    file, kind = Path(named["file"]), named["kind"]
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelError(f"The agent's file {file} can't be read: {error.strerror}.") from error
    found = getattr(_module(file), kind, None)
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise ModelError(f"{file} has no class {kind!r} derived from inhabit.agents.core.Agent.")
    settings = getattr(found, "Settings", NoSettings)
    needs = _grants(getattr(found, "needs", ()))
    if problem := settings_problem(settings) or needs_problem(needs):
        raise ModelError(f"The agent {kind!r} in {file} can't be used: {problem}.")

    factory: Callable[..., Agent] = found

    def make(chosen: Any, model: Model | None) -> Agent:
        return factory() if settings is NoSettings else factory(chosen)

    return AgentRegistration(
        name=f"{file.name}:{kind}",
        summary=str(getattr(found, "summary", "an agent in a file")),
        settings=settings,
        make=make,
        needs=frozenset(needs),
        source={file.name: f"sha256 {hashlib.sha256(content).hexdigest()}"},
    )


def _grants(needs: Any) -> Any:
    """Grants for their names, such as ("lookahead",); anything else as it is."""
    values = {grant.value: grant for grant in Grant}
    if isinstance(needs, str) or not isinstance(needs, Collection):
        return needs
    return tuple(values.get(one, one) if isinstance(one, str) else one for one in needs)


def _module(file: Path) -> object:
    spec = spec_from_file_location(f"inhabit_agent_{file.stem}", file)
    assert spec is not None and spec.loader is not None, "a name that ends in .py has a loader"
    module = module_from_spec(spec)
    try:
        with same_folder():
            spec.loader.exec_module(module)
    # The file of somebody may raise anything, or leave, while it is loaded.
    except BaseException as error:
        if is_interrupt(error):
            raise
        raise ModelError(f"The agent's file {file} {raised(error)}.") from error
    return module
