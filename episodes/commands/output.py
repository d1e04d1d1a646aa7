"""Where commands print: results on stdout, progress and errors on stderr, texts unchanged."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Annotated

import typer
from pydantic import BaseModel, JsonValue
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from inhabit.envs.printable import printable
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.wording import counted

Json = Annotated[
    bool,
    typer.Option("--json", help="Print the result as a JSON object on the last line of stdout."),
]
"""The option that every command has."""

Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting; repeat for more. `inhabit envs NAME` and `inhabit agents NAME` "
        "list them, and so does --settings of synth and tune. "
        "Where two groups share a key, name the group: agent.width=3.",
    ),
]
"""The option for everything without an option of its own."""

Trust = Annotated[
    bool,
    typer.Option(
        "--trust-record",
        help="Use the programs, files and addresses that the recorded run names. Only for runs of "
        "your own.",
    ),
]
"""The option of every command that starts what a recorded run names."""


class PlainConsole(Console):
    """Writes texts as they are, and shows the control characters that records may hold."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is to be written, piece by piece; the styles are ours, the texts are anybody's."""
        for piece in super().render(renderable, options):
            text = piece.text if piece.control else printable(piece.text)
            yield piece if text == piece.text else Segment(text, piece.style)


def answers() -> Console:
    """A console for what was asked for. Square brackets in it are no markup."""
    return PlainConsole()


def remarks() -> Console:
    """A console for progress and errors."""
    return PlainConsole(stderr=True)


def print_json(answer: BaseModel | Mapping[str, JsonValue]) -> None:
    """Print one JSON object on a line of its own."""
    fields = (
        answer.model_dump(mode="json", by_alias=True) if isinstance(answer, BaseModel) else answer
    )
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def print_answer(sentence: str, fields: Mapping[str, JsonValue], *, as_json: bool) -> None:
    """Print `fields` as JSON where that is asked for, or else the sentence."""
    if as_json:
        print_json(fields)
    else:
        answers().print(sentence, soft_wrap=True)


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Names and values as a table for a terminal."""
    table = Table(box=None, show_header=False)
    for name, value in rows:
        table.add_row(Text(name, "bold"), Text(value, overflow="fold"))
    return table


def tell_unended(runs: Iterable[Run]) -> None:
    """Say how many episodes of `runs` are left out because they have not ended."""
    if unended := sum(end is None for run in runs for end in Index(run).ends()):
        remarks().print(f"Left out, as not ended: {counted(unended, 'episode')}.", soft_wrap=True)


def warn_of(problems: Iterable[Exception]) -> None:
    """Say what can't be used, a warning for each, and that the rest goes on."""
    for problem in problems:
        remarks().print(f"Warning: {problem}", style="yellow", soft_wrap=True)
