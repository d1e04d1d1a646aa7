"""The registry of environments. Each environment package defines a light `REGISTRATION`.

Third-party packages register through the entry-point group `inhabit.envs`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from inhabit.envs.core import Env, Task, UnknownNameError
from inhabit.envs.entries import Entries, PluginError, raised, settings_problem
from inhabit.envs.scene_plan import ScenePlan
from inhabit.envs.template import Template


@dataclass(frozen=True, slots=True)
class Need:
    """A requirement of a backend that is not installed, and the command that installs it."""

    what: str
    fix: str


@dataclass(frozen=True, slots=True)
class Registration:
    """An environment by name. Its functions import what is heavy only when they are called."""

    name: str
    summary: str
    backends: tuple[str, ...]
    """Names of the backends, the default first."""
    settings: type[BaseModel]
    """The options of `--set KEY=VALUE`; every field has a default."""
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
    """backend -> requirements of the backend that are not installed; empty when it is ready."""
    missing_task_data: Callable[[], Sequence[Need]] = lambda: ()
    """-> data that is not installed and that `read` needs for its named task sources."""
    agent: str | None = None
    """Name of the default agent; None if the user has to name one."""
    domain: str = ""
    """PCA-Bench's name for this domain (such as "Domestic Robot"); empty if it has none."""
    packages: tuple[str, ...] = ()
    """Distributions whose versions a record should name, such as a simulator's client."""
    renderer: str = ""
    """Version of the renderer that draws the observations; empty if they are not rendered. A record
    names it. Images of a record that names another version are not compared."""
    prepare: Callable[[str, Callable[[str], None]], None] | None = None
    """(backend, tell) -> install what pip alone can't; called by `inhabit setup`. None if there is
    nothing to install. `tell` is called with one sentence per step. Safe to run twice.

    Raises:
        UnavailableError: the installation failed; the message says why, and what to do.
    """
    fastest_settings: Callable[[str, Any], Any] = lambda backend, settings: settings
    """(backend, settings) -> settings for synthesis, which runs many episodes: options that were
    not set take the value that runs fastest, or that fits the backend. Results are the same."""
    recording_settings: Callable[[Any], Any] = lambda settings: settings
    """settings -> settings for exporting video: the clips of an observation cover the whole last
    action. Unchanged if the environment has no clips."""
    video_settings: Callable[[str, Any, int, int], Any] | None = None
    """(backend, settings, width, height) -> settings for rendering a recorded episode again:
    states are as before, and images have this size in pixels. Where an observation has clips, they
    have it, and begin with the first step of the last action. None if nothing can be rendered;
    None in place of the function if the environment never can."""
    scene_places: tuple[str, ...] = ()
    """Fields of a task's scene that name files of this machine. Where the tasks stand in a record,
    these are opened only if the user names the folder that they lie in."""
    kinds: Callable[[Any], Sequence[str]] = lambda settings: ()
    """settings -> every `Task.kind` that `sample` gives, for `--kinds`; empty if they are known
    only from the tasks themselves."""
    rooms: Callable[[Any], Mapping[str, Collection[str]]] = lambda settings: {}
    """settings -> names for `--rooms`, and the rooms that each stands for: one, as in
    {"FloorPlan1": ["FloorPlan1"]}, or several, as in {"kitchen": ["FloorPlan1", "FloorPlan2"]}."""
    room_of: Callable[[Task], str | None] = lambda task: None
    """task -> the room that it is in; None if its scene names none. See `scene_field`."""
    scene_plan: Callable[[Task, Sequence[str | None]], ScenePlan | None] = lambda task, actions: (
        None
    )
    """(task, its executed actions, None where a step executed nothing) -> the scene from above, for
    maps; None if the environment has none. It starts no simulator process and opens no file that
    the task names.

    Raises:
        UserError: the scene cannot be built here.
    """
    sample_where: (
        Callable[[int, int, Any, Collection[str], Collection[str]], Iterable[Task]] | None
    ) = None
    """(n, seed, settings, kinds, rooms) -> those of `sample`'s n tasks that are of these kinds and
    in these rooms; no names mean any. None samples all and leaves out the others."""
    template: Callable[[Any], Template] | None = None
    """settings -> the template for task and data synthesis (EIE); None if there is none."""


def scene_field(name: str, default: str | None = None) -> Callable[[Task], str | None]:
    """A `Registration.room_of` that reads the field `name` of a task's scene."""

    def room_of(task: Task) -> str | None:
        found = task.scene.get(name, default)
        return found if isinstance(found, str) else None

    return room_of


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
        "alfworld": "inhabit.envs.alfred.alfworld:REGISTRATION",
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
    if ".py:" in str(name):
        hint = "Only `inhabit validate` takes a file. Package yours: see docs/extending.md."
        raise UnknownNameError("environment", name, (), hint)
    return _ENTRIES.find(name)


def usable() -> tuple[Sequence[Registration], Sequence[PluginError]]:
    """Every environment that can be used, and what is wrong with each of the others."""
    return _ENTRIES.usable()


def lacking(registration: Registration, backend: str) -> Sequence[Need]:
    """Requirements of `backend` that are not installed; a check that fails counts as one."""
    return _needs(lambda: registration.needs(backend), "needs")


def missing_task_data(registration: Registration) -> Sequence[Need]:
    """Task files of others that are missing here; a check that fails counts as one."""
    return _needs(registration.missing_task_data, "missing_task_data")


def _needs(ask: Callable[[], Sequence[Need]], name: str) -> Sequence[Need]:
    fix = "fix or reinstall its package"
    try:
        found = list(ask())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - third-party code
        return [Need(f"its check {name}() {raised(error)}", fix)]
    for need in found:
        good = isinstance(need, Need) and isinstance(need.what, str) and isinstance(need.fix, str)
        if not good:
            return [Need(f"its check {name}() gave a {type(need).__name__}, not a Need", fix)]
    return found
