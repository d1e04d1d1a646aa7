"""An agent of one's own, from a function, a class or an object; or from a file: `FILE.py:NAME`.

The file is run, so that only a person who types its name may choose it: a record never does.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Protocol

from inhabit.agents.core import Agent, Decision, Grant, ModelError, View
from inhabit.agents.models.core import Model
from inhabit.agents.registry import AgentRegistration, needs_problem
from inhabit.envs.core import Action
from inhabit.envs.entries import is_interrupt, raised, same_folder, settings_problem
from inhabit.envs.errors import UserError, did_you_mean
from inhabit.envs.settings import NoSettings

Said = Decision | Action | str | None
"""What an agent may answer: a decision, an action, the text of one, or None to stop."""
Decide = Callable[[View], Said | Awaitable[Said]]


class Decides(Protocol):
    """Anything with a `decide`, which may be a coroutine."""

    def decide(self, view: View) -> Said | Awaitable[Said]:
        """What to do next."""
        ...


class CustomAgent(Agent):
    """Asks a function. A function that is not a coroutine blocks other episodes while it runs."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self.name: str = getattr(decide, "__qualname__", type(decide).__qualname__)
        """Name of the function, for error texts."""

    async def decide(self, view: View) -> Decision:
        """What the function says of `view`.

        Raises:
            TypeError: it is neither a decision, an action, a text nor None.
        """
        said = self._decide(view)
        if inspect.isawaitable(said):
            said = await said
        match said:
            case Decision():
                return said
            case Action():
                return Decision(said)
            case str():
                return Decision(await view.parse(said), raw=said)
            case None:
                return Decision(None, stop=True)
        raise TypeError(
            f"The agent answered {said!r}. Return a Decision, an Action, its text, or None to stop."
        )


Source = Agent | Decides | Decide | type[Decides] | Callable[[], Agent | Decides | Decide]
"""What an agent can be made from: itself, or what returns it without arguments."""


def adapt(agent: Any, *arguments: object) -> Agent:
    """The `Agent` that `agent` is or makes.

    Args:
        agent: a function of a `View`, an object with such a method `decide`, or a class or a
            function without parameters that returns one of these.
        arguments: of the class.

    Raises:
        TypeError: it is none of these.
    """
    factory = inspect.isfunction(agent) and not inspect.signature(agent).parameters
    made = agent(*arguments) if inspect.isclass(agent) or factory else agent
    if isinstance(made, Agent):
        return made
    decide = getattr(made, "decide", made)
    if not callable(decide):
        raise TypeError(f"{made!r} is not an agent: it is not callable and has no method 'decide'")
    return CustomAgent(decide)


def register(agent: Source, *, grants: Iterable[Grant] = ()) -> AgentRegistration:
    """What the runner needs to know of an agent of one's own.

    Args:
        agent: as for `adapt`. It is made once, serves all episodes of a run, and is closed with it
            if it is an `Agent`; what it should remember of an episode stands in `View.history`.
        grants: what it can't work without.

    Raises:
        TypeError: it is not an agent.
    """
    kind = agent if hasattr(agent, "__qualname__") else type(agent)
    ready = adapt(agent)
    return AgentRegistration(
        name=f"{kind.__module__}:{kind.__qualname__}",
        summary="an agent of one's own",
        settings=NoSettings,
        make=lambda settings, model: ready,
        needs=frozenset(grants),
    )


_NAMED = re.compile(r"(?P<file>.+\.py):(?P<name>[^\W\d]\w*)", re.DOTALL)


def names_file(agent: str) -> bool:
    """Whether `agent` is a FILE.py:NAME, and no registered name."""
    return _NAMED.fullmatch(agent) is not None


def load_agent(agent: str) -> AgentRegistration:
    """The registration of what `agent`, a FILE.py:NAME, names: whatever `inhabit.run` takes.

    All may declare `needs` (grants) and `summary`; a class `Settings`, too: a pydantic model, its
    only argument.

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
    settings = getattr(found, "Settings", NoSettings) if inspect.isclass(found) else NoSettings
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
    """Run a file of Python that defines `what`, a word for people, and return its module."""
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
