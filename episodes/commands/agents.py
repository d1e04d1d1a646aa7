"""`inhabit agents`: who can decide, what models there are, and what can be said of them."""

from __future__ import annotations

from pydantic import BaseModel, JsonValue
from rich.table import Table
from rich.text import Text

from inhabit.agents import registry
from inhabit.agents.models import registry as models
from inhabit.agents.registry import AgentRegistration
from inhabit.episodes.commands.output import Json, answers, print_json, warn_of


def agents(as_json: Json = False) -> None:
    """Agents, the models that they may ask, and the settings of both."""
    found, broken = registry.usable()
    kinds, broken_kinds = models.usable()
    problems = [*broken, *broken_kinds]
    warn_of(problems)
    if as_json:
        rows: list[JsonValue] = [_row(agent) for agent in found]
        shown: list[JsonValue] = [
            {"kind": kind.kind, "summary": kind.summary, "settings": _settings(kind.settings)}
            for kind in kinds
        ]
        broken_ones: list[JsonValue] = [str(problem) for problem in problems]
        print_json({"agents": rows, "models": shown, "broken": broken_ones})
        return
    table = Table("agent", "asks", "what it does", "--set, and the defaults", box=None)
    for agent in found:
        needs = "".join(f"\nneeds the grant {grant}" for grant in sorted(agent.needs))
        asks = Text(agent.model or "no model")
        table.add_row(agent.name, asks, Text(agent.summary + needs), _keys(agent.settings))
    answers().print(table)
    table = Table("--model", "what it is", "--set, and the defaults", box=None)
    for kind in kinds:
        table.add_row(f"{kind.kind}:NAME", Text(kind.summary), _keys(kind.settings))
    answers().print()
    answers().print(table)


def _settings(kind: type[BaseModel]) -> dict[str, JsonValue]:
    """Every `--set` key with its default."""
    return kind().model_dump(mode="json")


def _keys(kind: type[BaseModel]) -> Text:
    return Text(" ".join(f"{key}={_plain(value)}" for key, value in _settings(kind).items()))


def _plain(value: JsonValue) -> str:
    """A value as it is typed."""
    if value is None or value == [] or value == {}:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _row(agent: AgentRegistration) -> JsonValue:
    return {
        "name": agent.name,
        "summary": agent.summary,
        "model": agent.model,
        "needs": [grant.value for grant in sorted(agent.needs)],
        "settings": _settings(agent.settings),
    }
