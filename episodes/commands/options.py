"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a recorded run.")]
EnvName = Annotated[
    str, typer.Argument(metavar="ENV", help="Name of an environment, from `inhabit envs`.")
]
Backend = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Simulator backend. [default: the first that `inhabit envs` lists]"
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="Endpoint of an openai:NAME model."),
]
OneEpisode = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Task id or number of one episode. [default: all]"),
]
Ray = Annotated[
    bool,
    typer.Option("--ray", help="Use a Ray cluster; --set ray_address=HOST:PORT names it."),
]
