"""`inhabit validate`: whether an environment can be trusted to train or to measure with."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from inhabit.episodes.commands.options import Backend, complete_env, names_in
from inhabit.episodes.commands.output import Json, Set, answers, print_json, remarks
from inhabit.episodes.recording.disk import write_text
from inhabit.episodes.validating.check import CheckFinding, CheckVerdict
from inhabit.episodes.validating.report import ValidationReport, chosen
from inhabit.episodes.validating.report import validate as run_checks
from inhabit.episodes.validating.subject import Subject

_LOOKS = {CheckVerdict.OK: "green", CheckVerdict.FAILED: "red", CheckVerdict.NOT_APPLICABLE: "dim"}
_WORDS = {CheckVerdict.OK: "ok", CheckVerdict.FAILED: "failed", CheckVerdict.NOT_APPLICABLE: "-"}


def validate(
    env: Annotated[
        str,
        typer.Argument(
            metavar="ENV",
            help="Name of an environment, FILE.py:REGISTRATION, gymnasium:ID, or the address of an "
            "OpenEnv server.",
            autocompletion=complete_env,
        ),
    ],
    only: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Checks or groups to run. [default: all]")
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="For CI: half the tasks, 200 steps, no second process.")
    ] = False,
    n: Annotated[
        int | None,
        typer.Option("--n", min=2, help="Number of tasks. [default: 12, or 6 with --fast]"),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE", help="Where tasks come from, as for `run`. [default: sampled]"
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="Also write an HTML page to this file."),
    ] = None,
    backend: Backend = None,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Check whether an environment can be trusted.

    Runs the tests of the contract, and checks what the expert and agents that do not look solve,
    leaks, reproduction, images, time and memory. Exit code 0; 1 if a check failed.
    """
    checks = chosen(names_in(only))
    # With --json stdout is for the report, which is there at the end alone.
    console = remarks() if as_json else answers()

    def tell(one: CheckFinding) -> None:
        figure = "" if one.figure is None else f"  {one.figure:.4g} ({one.bound})"
        line = Text(f"{_WORDS[one.verdict]:7}", _LOOKS[one.verdict]).append(
            f"{one.name}{figure}", "default"
        )
        if one.verdict is not CheckVerdict.OK and one.evidence:
            line.append(f"\n         {one.evidence}", "dim")
        if one.verdict is CheckVerdict.FAILED:
            line.append(f"\n         {one.what}; {one.see}", "dim")
        console.print(line, soft_wrap=True)

    with Subject.open(
        env, n=n, backend=backend, assignments=assignments or (), fast=fast, source=tasks
    ) as subject:
        report = run_checks(subject, checks, tell)
    if page is not None:
        _write_page(page, report)
    if as_json:
        print_json(report)
    else:
        told = ", ".join(f"{verdict.value} {report.counts[verdict]}" for verdict in CheckVerdict)
        console.print(f"{report.env}: {told}.")
    raise typer.Exit(1 if report.failed else 0)


def _write_page(file: Path, report: ValidationReport) -> None:
    """A table of checks for each group, and for those that failed."""
    from inhabit.episodes.reports.page.document import render

    by_group = sorted(report.findings, key=lambda one: one.group)
    groups = {"failed": report.failed} if report.failed else {}
    groups |= {name: list(found) for name, found in groupby(by_group, lambda one: one.group)}
    facts = {verdict.value: report.counts[verdict] for verdict in CheckVerdict}
    facts |= {"tasks": report.tasks}
    text = render("validation.html", report=report, groups=groups, facts=facts)
    write_text(file, file.parent, text)
