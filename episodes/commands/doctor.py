"""`inhabit doctor`: checks this machine, and prints a fix for each finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from inhabit.episodes.commands.options import BaseUrl
from inhabit.episodes.commands.output import Json, Set, answers, print_json
from inhabit.episodes.commands.probing import probe_model
from inhabit.episodes.machine import environments, programs, python, storage
from inhabit.episodes.machine.finding import Finding, Status

_CHECKS: Sequence[Callable[[], Iterable[Finding]]] = (
    python.python,
    python.packages,
    storage.caches,
    storage.room,
    programs.video_encoder,
    storage.weights,
    environments.environments,
    programs.gpu,
    programs.drawing,
    programs.programs,
)
_LOOKS = {
    Status.OK: ("ok", "green"),
    Status.LACKING: ("missing", "yellow"),
    Status.BROKEN: ("broken", "red"),
}


def doctor(
    model: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:NAME",
            help="Instead ask this model for each of its abilities, about one short request each.",
        ),
    ] = None,
    base_url: BaseUrl = None,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Check this machine or a model, and print fixes.

    Exit code 0; 1 if something is broken that the default environments and agents need, or if the
    model answers nothing.
    """
    if model is not None:
        works = probe_model(model, base_url, assignments or [], as_json=as_json)
        raise typer.Exit(0 if works else 1)
    if base_url is not None or assignments:
        raise typer.BadParameter("--base-url and --set belong to --model.")
    findings = [finding for check in _CHECKS for finding in check()]
    broken = [finding for finding in findings if finding.state is Status.BROKEN]
    _print(findings, len(broken))
    if as_json:
        print_json({"ready": not broken, "findings": [asdict(finding) for finding in findings]})
    raise typer.Exit(1 if broken else 0)


def _print(findings: Sequence[Finding], broken: int) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        word, colour = _LOOKS[finding.state]
        text = Text(finding.found)
        if finding.state is not Status.OK:
            text.append(f"\nneeded for {finding.matters_to}", "dim")
            text.append(f"\nfix: {finding.fix}", "bold")
        table.add_row(Text(word, colour), Text(finding.what), text)
    console = answers()
    console.print(table)
    missing = sum(finding.state is Status.LACKING for finding in findings)
    if broken:
        console.print(f"\n{broken} broken. Apply these fixes first: the defaults need them.")
    else:
        console.print(f"\nThe defaults are ready. {missing} optional items are missing.")
