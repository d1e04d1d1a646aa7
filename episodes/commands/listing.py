"""`inhabit envs`, `inhabit agents` and `inhabit tasks`: what can be run."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated

import typer
from pydantic import BaseModel, JsonValue
from rich.table import Table
from rich.text import Text

from inhabit.agents import registry as known_agents
from inhabit.agents.core import RequestError
from inhabit.agents.custom import load_agent, names_file
from inhabit.agents.dialogue.template import source
from inhabit.agents.models import registry as models
from inhabit.agents.models.registry import ModelRegistration
from inhabit.agents.registry import AgentRegistration
from inhabit.envs import registry
from inhabit.envs.core import UnknownNameError
from inhabit.envs.registry import Need, Registration
from inhabit.episodes.commands.options import (
    EnvName,
    Kinds,
    Rooms,
    complete_agent,
    complete_env,
    names_in,
)
from inhabit.episodes.commands.output import Json, Set, answers, print_json, warn_of
from inhabit.episodes.commands.settings_table import settings_json, settings_table
from inhabit.episodes.playing.settings import RunSettings, divide
from inhabit.episodes.playing.tasks import gather


def agents(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="List the settings of this agent or kind of model instead.",
            autocompletion=complete_agent,
        ),
    ] = None,
    prompt: Annotated[
        bool,
        typer.Option(
            "--prompt",
            help="Print the prompt template of this agent, to copy and change: --set prompt=FILE.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """List agents and models, or the settings of one."""
    if prompt:
        if as_json:
            raise typer.BadParameter("--json has no effect with --prompt.")
        _print_prompt(name)
        return
    if name is not None:
        _print_settings(name, as_json)
        return
    found, broken = known_agents.usable()
    kinds, broken_kinds = models.usable()
    problems = [*broken, *broken_kinds]
    warn_of(problems)
    if as_json:
        of_agents: list[JsonValue] = [_agent(agent) for agent in found]
        of_models: list[JsonValue] = [
            {"kind": one.kind, "summary": one.summary, "settings": _defaults(one.settings)}
            for one in kinds
        ]
        print_json(
            {"agents": of_agents, "models": of_models, "broken": [str(one) for one in problems]}
        )
        return
    table = Table("agent", "default model", "description", box=None)
    for agent in found:
        needs = "".join(f"; uses the grant {grant}" for grant in sorted(agent.needs))
        table.add_row(Text(agent.name), Text(agent.model or "none"), Text(agent.summary + needs))
    answers().print(table)
    table = Table("--model", "description", box=None)
    for kind in kinds:
        table.add_row(Text(f"{kind.kind}:NAME"), Text(kind.summary))
    answers().print()
    answers().print(table)
    answers().print("\n`inhabit agents NAME` lists settings, such as those of rank or of local.")


def _print_prompt(name: str | None) -> None:
    templates = known_agents.find(name).templates if name else ()
    if not templates:
        names = [one.name for one in known_agents.usable()[0] if one.templates]
        raise RequestError(f"These agents have a prompt to print: {', '.join(names)}.")
    sys.stdout.write("\n".join(map(source, templates)))


def _print_settings(name: str, as_json: bool) -> None:
    registration: AgentRegistration | ModelRegistration
    kind = name.partition(":")[0]
    if name in known_agents.names():
        registration = known_agents.find(name)
    elif names_file(name):
        registration = load_agent(name)
    elif kind in models.kinds():
        registration = models.find(f"{kind}:NAME")[0]
    else:
        raise UnknownNameError(
            "agent or kind of model", name, [*known_agents.names(), *models.kinds()]
        )
    if as_json:
        print_json({"name": name, "settings": settings_json(registration.settings)})
        return
    answers().print(f"{name}: {registration.summary}")
    if isinstance(registration, AgentRegistration):
        needs = ", ".join(sorted(registration.needs)) or "none"
        answers().print(f"default model: {registration.model or 'none'}; grants: {needs}")
    answers().print()
    answers().print(settings_table("--set", registration.settings))


def _agent(agent: AgentRegistration) -> JsonValue:
    return {
        "name": agent.name,
        "summary": agent.summary,
        "model": agent.model,
        "needs": [grant.value for grant in sorted(agent.needs)],
        "settings": _defaults(agent.settings),
    }


def _defaults(settings: type[BaseModel]) -> JsonValue:
    """Every `--set` key with its default."""
    return settings().model_dump(mode="json")


_MOST_ROOMS = 12
"""Rooms that are listed by name."""
Needs = Mapping[tuple[str, str], Sequence[Need]]
"""(environment, backend) -> what is still missing on this machine."""


def envs(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="List the settings of this environment instead.",
            autocompletion=complete_env,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List environments, or the settings of one.

    The list says whether each backend is ready on this machine, and how to make it ready.
    """
    if name is not None:
        _print_one(registry.find(name), as_json)
        return
    found, problems = registry.usable()
    warn_of(problems)
    needs: Needs = {(r.name, b): registry.lacking(r, b) for r in found for b in r.backends}
    if as_json:
        rows: list[JsonValue] = [_row(r, needs) for r in found]
        print_json({"envs": rows, "broken": [str(problem) for problem in problems]})
        return
    table = Table(
        "environment", "backend", "ready", "description, or what is missing and the fix", box=None
    )
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
    env: EnvName,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of tasks.")] = 10,
    seed: Annotated[
        int, typer.Option(help="Seed of the sample: the same seed gives the same tasks.")
    ] = 0,
    kinds: Kinds = None,
    rooms: Rooms = None,
    assignments: Set = None,
    as_json: Json = False,
) -> None:
    """Sample tasks and print them as JSONL.

    Redirect stdout to a .jsonl file for `inhabit run ENV --tasks FILE`.
    """
    registration = registry.find(env)
    settings = divide(assignments or (), {"env": registration.settings})["env"]
    found = gather(
        registration,
        settings,
        n=n,
        seed=seed,
        source=None,
        kinds=names_in(kinds),
        rooms=names_in(rooms),
    )
    if as_json:
        print_json({"env": env, "seed": seed, "tasks": [t.model_dump(mode="json") for t in found]})
        return
    for task in found:
        sys.stdout.write(task.model_dump_json() + "\n")


def _print_one(registration: Registration, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "name": registration.name,
                "kinds": list(registration.kinds(registration.settings())),
                "rooms": list(registration.rooms(registration.settings())),
                "settings": settings_json(registration.settings),
                "run": settings_json(RunSettings),
            }
        )
        return
    answers().print(f"{registration.name}: {registration.summary}")
    backends = ", ".join(registration.backends)
    answers().print(f"backends: {backends}; default agent: {registration.agent or 'none'}")
    settings = registration.settings()
    if kinds := list(registration.kinds(settings)):
        answers().print(f"--kinds: {', '.join(kinds)}", soft_wrap=True)
    if rooms := registration.rooms(settings):
        answers().print(f"--rooms: {_room_names(rooms)}", soft_wrap=True)
    answers().print()
    answers().print(settings_table("--set", registration.settings))
    answers().print()
    answers().print(settings_table("--set, of every run", RunSettings))


def _room_names(rooms: Mapping[str, Collection[str]]) -> str:
    """The types of rooms, and the rooms, or where there are many, one of them."""
    types = [name for name, of in rooms.items() if set(of) != {name}]
    single = [name for name in rooms if name not in types]
    if len(single) <= _MOST_ROOMS:
        return ", ".join([*types, *single])
    return ", ".join([*types, f"or any of {len(single)} rooms, such as {single[0]}"])


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
