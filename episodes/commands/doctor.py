"""`inhabit doctor`: what this machine has and lacks, and the fix for each finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict

import typer
from rich.table import Table
from rich.text import Text

from inhabit.episodes.commands.output import Json, answers, print_json
from inhabit.episodes.machine.finding import Finding, Status

_LOOKS = {
    Status.OK: ("ok", "green"),
    Status.LACKING: ("lacks", "yellow"),
    Status.BROKEN: ("broken", "red"),
}


def doctor(as_json: Json = False) -> None:
    """Check this machine, and print the fix for each finding.

    Exit code 0, or 1 where something is missing that the defaults need.
    """
    findings = [finding for check in _checks() for finding in check()]
    broken = [finding for finding in findings if finding.state is Status.BROKEN]
    _print(findings, len(broken))
    if as_json:
        print_json({"ready": not broken, "findings": [asdict(finding) for finding in findings]})
    raise typer.Exit(1 if broken else 0)


def _checks() -> Sequence[Callable[[], Iterable[Finding]]]:
    from inhabit.episodes.machine import environments, graphics, programs, python, storage

    return (
        python.python,
        python.packages,
        storage.caches,
        storage.room,
        programs.films,
        storage.weights,
        environments.environments,
        graphics.gpu,
        graphics.drawing,
        programs.programs,
    )


def _print(findings: Sequence[Finding], broken: int) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in findings:
        word, colour = _LOOKS[finding.state]
        told = Text(finding.found)
        if finding.state is not Status.OK:
            told.append(f"\nfor {finding.matters_to}", "dim").append(f"\n{finding.fix}", "bold")
        table.add_row(Text(word, colour), Text(finding.what), told)
    console = answers()
    console.print(table)
    lacking = sum(finding.state is Status.LACKING for finding in findings)
    if broken:
        console.print(f"\n{broken} broken: the defaults don't work before that is put right.")
    else:
        console.print(f"\nThe defaults have all they need; {lacking} lacking for other uses.")
