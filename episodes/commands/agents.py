"""`inhabit agents`: agents, kinds of models, and the settings of both."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from pydantic import BaseModel, JsonValue
from rich.table import Table
from rich.text import Text

from inhabit.agents import registry
from inhabit.agents.core import RequestError
from inhabit.agents.dialogue.template import source
from inhabit.agents.models import registry as models
from inhabit.agents.models.registry import ModelRegistration
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.core import UnknownNameError
from inhabit.episodes.commands.options import complete_agent
from inhabit.episodes.commands.output import Json, answers, print_json, warn_of
from inhabit.episodes.commands.settings_table import settings_json, settings_table


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
        _print_prompt(name)
        return
    if name is not None:
        _print_one(name, as_json)
        return
    found, broken = registry.usable()
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
    templates = registry.find(name).templates if name else ()
    if not templates:
        names = [one for one in registry.names() if registry.find(one).templates]
        raise RequestError(f"These agents have a prompt to print: {', '.join(names)}.")
    sys.stdout.write("\n".join(map(source, templates)))


def _print_one(name: str, as_json: bool) -> None:
    registration: AgentRegistration | ModelRegistration
    kind = name.partition(":")[0]
    if name in registry.names():
        registration = registry.find(name)
    elif kind in models.kinds():
        registration = models.find(f"{kind}:NAME")[0]
    else:
        raise UnknownNameError("agent or kind of model", name, [*registry.names(), *models.kinds()])
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
