"""`inhabit envs` and `inhabit tasks`: what there is to run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.table import Table
from rich.text import Text

from inhabit.envs import registry
from inhabit.envs.registry import Need, Registration
from inhabit.episodes.commands.output import Json, Set, answers, print_json, warn_of
from inhabit.episodes.running.settings import divide
from inhabit.episodes.running.tasks import gather

Needs = Mapping[tuple[str, str], Sequence[Need]]
"""(environment, backend) -> what this machine still lacks for it."""


def envs(as_json: Json = False) -> None:
    """Environments, their backends, and what each still needs here."""
    found, problems = registry.usable()
    warn_of(problems)
    needs: Needs = {(r.name, b): registry.lacking(r, b) for r in found for b in r.backends}
    if as_json:
        rows: list[JsonValue] = [_row(r, needs) for r in found]
        print_json({"envs": rows, "broken": [str(problem) for problem in problems]})
        return
    table = Table("environment", "backend", "ready", "what it is, or still needs", box=None)
    for registration in found:
        for backend in registration.backends:
            lacking = needs[registration.name, backend]
            says = [f"{need.what}: {need.fix}" for need in lacking] or [registration.summary]
            table.add_row(
                Text(registration.name),
                Text(backend),
                Text("no", "red") if lacking else Text("yes", "green"),
                Text("\n".join(says)),
            )
    answers().print(table)


def tasks(
    env: Annotated[str, typer.Argument(help="An environment that `inhabit envs` names.")],
    n: Annotated[int, typer.Option("--n", min=1, help="How many.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed, the same tasks.")] = 0,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Sample tasks as JSONL: one a line, for `inhabit run --tasks`."""
    registration = registry.find(env)
    settings = divide(assignments or (), {"env": registration.settings})["env"]
    found = gather(registration, settings, n=n, seed=seed, source=None)
    if as_json:
        print_json({"env": env, "seed": seed, "tasks": [t.model_dump(mode="json") for t in found]})
        return
    for task in found:
        sys.stdout.write(task.model_dump_json() + "\n")


def _row(registration: Registration, needs: Needs) -> JsonValue:
    return {
        "name": registration.name,
        "summary": registration.summary,
        "backends": [
            {
                "name": backend,
                "ready": not needs[registration.name, backend],
                "needs": [
                    {"what": need.what, "fix": need.fix}
                    for need in needs[registration.name, backend]
                ],
            }
            for backend in registration.backends
        ],
    }
