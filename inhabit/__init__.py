"""Embodied agents in live simulators: observe, act, evolve.

`inhabit.open` opens an environment at a task, `inhabit.run` records episodes of an agent, and
`inhabit.read_run` and `inhabit.read_set` read what is on disk as tables. Nothing is imported before
it is asked for, so `import inhabit` costs next to nothing.

The four packages lie at the top of the repository and are links here, so that an installed
`inhabit` takes one import name: `inhabit.envs`, `inhabit.agents`, `inhabit.episodes`,
`inhabit.eie`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inhabit.api.playing import run
    from inhabit.api.reading import RunResults, SetResults, Table, read_run, read_set
    from inhabit.api.session import Session, open, tasks
    from inhabit.episodes.episode import Moment
    from inhabit.frameworks.factory import rollouts

if not (Path(__file__).parent / "envs").is_dir():
    raise ImportError(
        f"{Path(__file__).parent / 'envs'} is not a folder. In the repository it is a symbolic "
        "link to ../envs, and this checkout has none: clone it again on a file system that has "
        "symbolic links, with `git clone -c core.symlinks=true`, or install the wheel."
    )

__all__ = [
    "Moment",
    "RunResults",
    "Session",
    "SetResults",
    "Table",
    "open",
    "read_run",
    "read_set",
    "rollouts",
    "run",
    "tasks",
]

_EXPORTS = {
    "Moment": "inhabit.episodes.episode",
    "RunResults": "inhabit.api.reading",
    "Session": "inhabit.api.session",
    "SetResults": "inhabit.api.reading",
    "Table": "inhabit.api.reading",
    "open": "inhabit.api.session",
    "read_run": "inhabit.api.reading",
    "read_set": "inhabit.api.reading",
    "rollouts": "inhabit.frameworks.factory",
    "run": "inhabit.api.playing",
    "tasks": "inhabit.api.session",
}
_PACKAGES = ("agents", "eie", "envs", "episodes")


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    if name in _PACKAGES:
        return import_module(f"inhabit.{name}")
    if name == "__version__":
        return import_module("importlib.metadata").version("inhabit")
    raise AttributeError(f"The package 'inhabit' has no attribute {name!r}.")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES, "__version__"])
