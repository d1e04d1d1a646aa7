"""Which environments there are. A folder says what it offers in a light `REGISTRATION`.

Packages of others join through the entry-point group `inhabit.envs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from inhabit.envs.core import Env, Task
from inhabit.envs.entries import Entries, PluginError, raised, settings_problem
from inhabit.envs.template import Template


@dataclass(frozen=True, slots=True)
class Need:
    """Something that a backend lacks on this machine, and the command that brings it."""

    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class Registration:
    """An environment by name. Its functions import what is heavy only when they are called."""

    name: str
    summary: str
    backends: tuple[str, ...]
    """The default first."""
    settings: type[BaseModel]
    """What `--set KEY=VALUE` may say of it; every field has a default."""
    make: Callable[[str, Any], Env]
    """(backend, settings) -> an environment in this process.

    Raises:
        UnavailableError: the backend lacks something on this machine.
    """
    sample: Callable[[int, int, Any], Iterable[Task]]
    """(n, seed, settings) -> n tasks; the first k of n are those of k."""
    read: Callable[[str, Any], Iterable[Task]]
    """(source, settings) -> tasks from a folder in a benchmark's form or a documented name.

    Raises:
        TaskError: there is no such source, or it can't be read.
    """
    needs: Callable[[str], Sequence[Need]] = lambda backend: ()
    """backend -> what this machine still lacks for it; empty when ready, as it is where there is
    nothing to bring."""
    lacking_tasks: Callable[[], Sequence[Need]] = lambda: ()
    """What this machine lacks to read the tasks of others that `read` knows by name."""
    agent: str | None = None
    """Name of the planner that acts where none is named; None where one has to be named."""
    domain: str = ""
    """PCA-Bench's name for this field (such as "Domestic Robot"); empty where it has none."""
    packages: tuple[str, ...] = ()
    """Distributions whose versions a record should name, such as a simulator's client."""
    prepare: Callable[[str, Callable[[str], None]], None] | None = None
    """(backend, tell) -> bring what pip alone can't, as `inhabit setup` asks; None where there is
    nothing to bring. `tell` takes a sentence for each thing that is done. Can be run twice.

    Raises:
        UnavailableError: it can't be brought; says why, and what to do.
    """
    quickest: Callable[[str, Any], Any] = lambda backend, settings: settings
    """(backend, settings) -> the same for those who try much and show little, such as EIE: whatever
    was not set takes least time, and comes to the same."""
    filmed: Callable[[Any], Any] = lambda settings: settings
    """settings -> the same, but that the clips of an observation show what was seen on foot from
    the last action's beginning to its end; as they are where there is nothing to show."""
    scene_places: tuple[str, ...] = ()
    """Fields of a task's scene that name files of this machine. Where the tasks stand in a record,
    these are opened only if the user names the folder that they lie in."""
    template: Callable[[Any], Template] | None = None
    """settings -> what EIE fills to write tasks and training data; None where there is none."""


def _problem(registration: Registration) -> str | None:
    backends = registration.backends
    if not (isinstance(backends, tuple) and backends and all(isinstance(b, str) for b in backends)):
        return f"its backends are {backends!r}, not a tuple of at least one name"
    return settings_problem(registration.settings)


_ENTRIES = Entries(
    "environment",
    Registration,
    "inhabit.envs",
    {
        "toy": "inhabit.envs.toy:REGISTRATION",
        "alfred": "inhabit.envs.alfred:REGISTRATION",
        "virtualhome": "inhabit.envs.virtualhome:REGISTRATION",
        "minedojo": "inhabit.envs.minedojo:REGISTRATION",
        "pca_bench": "inhabit.envs.pca_bench:REGISTRATION",
        "egoplan": "inhabit.envs.egoplan:REGISTRATION",
        "thor_nav": "inhabit.envs.thor_nav:REGISTRATION",
        "iwisdm": "inhabit.envs.iwisdm:REGISTRATION",
    },
    check=_problem,
)


def names() -> Sequence[str]:
    """Every registered environment, ours first."""
    return _ENTRIES.names()


def find(name: str) -> Registration:
    """The environment of that name.

    Raises:
        UnknownNameError: nothing is registered under it.
        PluginError: the package that brings it is broken.
    """
    return _ENTRIES.find(name)


def usable() -> tuple[Sequence[Registration], Sequence[PluginError]]:
    """Every environment that can be used, and what is wrong with each of the others."""
    return _ENTRIES.usable()


def lacking(registration: Registration, backend: str) -> Sequence[Need]:
    """What this machine lacks for `backend`; a check that fails is something to mend too."""
    try:
        return list(registration.needs(backend))
    except Exception as error:  # noqa: BLE001 - code of others may raise anything
        what = f"its own check of what it needs {raised(error)}"
        return [Need(what, "mend or reinstall the package that it comes from")]
