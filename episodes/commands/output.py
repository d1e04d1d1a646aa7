"""How commands speak: answers on stdout, everything else on stderr, names and texts as they are."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Annotated

import typer
from pydantic import BaseModel, JsonValue
from rich.console import Console

Json = Annotated[bool, typer.Option("--json", help="The last line on stdout is one JSON object.")]
"""The option that every command has."""

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the environment, the agent, its model or the run. Repeat for more.",
    ),
]
"""The option for all that has no option of its own."""

Trust = Annotated[
    bool,
    typer.Option(
        "--trust-record",
        help="The record is your own: use the programs, files and addresses that it names.",
    ),
]
"""The option of all commands that go by a record."""


def answers() -> Console:
    """For what was asked for. Square brackets in it are no markup."""
    return Console(markup=False, highlight=False, emoji=False)


def remarks() -> Console:
    """For progress and errors."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def print_json(answer: BaseModel | Mapping[str, JsonValue]) -> None:
    """Print one JSON object on a line of its own."""
    fields = (
        answer.model_dump(mode="json", by_alias=True) if isinstance(answer, BaseModel) else answer
    )
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def warn_of(problems: Iterable[Exception]) -> None:
    """Say what can't be used, a warning for each, and that the rest goes on."""
    for problem in problems:
        remarks().print(f"Warning: {problem}", style="yellow", soft_wrap=True)
