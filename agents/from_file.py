"""An agent in a file of one's own: `--agent FILE.py:NAME`.

The file is run, so that only a person who types its name may choose it: a record never does.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Collection
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from inhabit.agents.core import Agent, Grant, ModelError
from inhabit.agents.custom import NoSettings, adapt
from inhabit.agents.models.core import Model
from inhabit.agents.registry import AgentRegistration, needs_problem
from inhabit.envs.entries import is_interrupt, raised, same_folder, settings_problem
from inhabit.envs.errors import UserError, did_you_mean

_NAMED = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*)", re.DOTALL)


def names_file(agent: str) -> bool:
    """Whether `agent` is a FILE.py:NAME, and no registered name."""
    return _NAMED.fullmatch(agent) is not None


def load_agent(agent: str) -> AgentRegistration:
    """The registration of what `agent`, a FILE.py:NAME, names: whatever `inhabit.run` takes.

    A class or a function may declare `Settings` (a pydantic model, given to a class as its only
    argument), `needs` (grants) and `summary`.

    Raises:
        ModelError: there is no such file or name, it fails to load, or is not an agent.
    """
    named = _NAMED.fullmatch(agent)
    assert named is not None, "see names_file"
    file, name = Path(named["file"]), named["name"]
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelError(f"The agent's file {file} can't be read: {error.strerror}.") from error
    found = _attribute(file, name)
    settings = getattr(found, "Settings", NoSettings)
    needs = _grants(getattr(found, "needs", ()))
    if problem := settings_problem(settings) or needs_problem(needs):
        raise ModelError(f"The agent {name!r} in {file} can't be used: {problem}.")

    def make(chosen: Any, model: Model | None) -> Agent:
        return adapt(found) if settings is NoSettings else adapt(found, chosen)

    return AgentRegistration(
        name=f"{file.name}:{name}",
        summary=str(getattr(found, "summary", "an agent in a file")),
        settings=settings,
        make=make,
        needs=frozenset(needs),
        source={file.name: f"sha256 {hashlib.sha256(content).hexdigest()}"},
    )


def _attribute(file: Path, name: str) -> Any:
    """What the file calls `name`, which decides or makes what decides."""
    module = module_in(file, "agent", ModelError)
    if not hasattr(module, name):
        known = [key for key in vars(module) if not key.startswith("_")]
        raise ModelError(f"{file} defines no {name!r}. {did_you_mean(name, known)}")
    found = getattr(module, name)
    decides = hasattr(found, "decide") or (callable(found) and not inspect.isclass(found))
    if not decides:
        raise ModelError(
            f"{name!r} in {file} is not an agent. Name a class or an object with a method "
            "decide(view), or a function of a view."
        )
    return found


def _grants(needs: Any) -> Any:
    """Grants for their names, such as ("lookahead",); anything else as it is."""
    values = {grant.value: grant for grant in Grant}
    if isinstance(needs, str) or not isinstance(needs, Collection):
        return needs
    return tuple(values.get(one, one) if isinstance(one, str) else one for one in needs)


def module_in(file: Path, what: str, failure: type[UserError]) -> object:
    """Run a file of Python, and return its module.

    Args:
        file: a name that ends in `.py`.
        what: it defines, in a word for people.
        failure: raised where it can't be loaded.
    """
    spec = spec_from_file_location(f"inhabit_{what}_{file.stem}", file)
    assert spec is not None and spec.loader is not None, "a name that ends in .py has a loader"
    # Dataclasses look for the module of a class among those that are loaded.
    module = sys.modules[spec.name] = module_from_spec(spec)
    try:
        with same_folder():
            spec.loader.exec_module(module)
    # The file of somebody may raise anything, or leave, while it is loaded.
    except BaseException as error:
        del sys.modules[spec.name]
        if is_interrupt(error):
            raise
        raise failure(f"The {what}'s file {file} {raised(error)}.") from error
    return module
