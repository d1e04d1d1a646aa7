"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from inhabit.agents import registry as agents
from inhabit.envs import registry


def complete_env(incomplete: str) -> list[str]:
    """The environments whose names begin like this, for the shell."""
    return [name for name in registry.names() if name.startswith(incomplete)]


def complete_agent(incomplete: str) -> list[str]:
    """The agents whose names begin like this, for the shell."""
    return [name for name in agents.names() if name.startswith(incomplete)]


RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a recorded run.")]
EnvName = Annotated[
    str,
    typer.Argument(
        metavar="ENV",
        help="Name of an environment, from `inhabit envs`.",
        autocompletion=complete_env,
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Simulator backend. [default: the first that `inhabit envs` lists]"
    ),
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Endpoint of an openai:NAME model.")
]
Kinds = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        help="Task kinds to take, separated by commas; `inhabit envs ENV` lists them. [default: "
        "all]",
    ),
]
Rooms = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        help="Rooms, or room types, to take tasks of, separated by commas; `inhabit envs ENV` "
        "lists them. [default: all]",
    ),
]
OneEpisode = Annotated[
    str | None, typer.Option(metavar="ID", help="Task id or number of one episode. [default: all]")
]
PageFile = Annotated[
    Path | None,
    typer.Option(
        "--page",
        metavar="FILE",
        help="Also write an HTML page of both sides, step by step, to this file.",
    ),
]
Ray = Annotated[
    bool, typer.Option("--ray", help="Use a Ray cluster; --set ray_address=HOST:PORT names it.")
]


def names_in(given: str | None) -> Sequence[str]:
    """The names in an option whose values are separated by commas."""
    return [name.strip() for name in (given or "").split(",") if name.strip()]
