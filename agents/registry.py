"""The registered agents. Each module has a `REGISTRATION`, which imports nothing heavy.

Packages of others join through the entry-point group `inhabit.agents`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from inhabit.agents.core import Agent, Grant
from inhabit.agents.models.core import Model
from inhabit.envs.core import UnknownNameError
from inhabit.envs.entries import Entries, settings_problem


@dataclass(frozen=True, slots=True)
class AgentRegistration:
    """An agent by name. Nothing heavy is imported before `make` is called."""

    name: str
    summary: str
    settings: type[BaseModel]
    """Settings that `--set KEY=VALUE` may give the agent; every field has a default."""
    make: Callable[[Any, Model | None], Agent]
    """(settings, model) -> an agent; the model is None exactly where `model` is.

    Raises:
        ModelError: the model lacks an ability that this agent asks for.
    """
    model: str | None = None
    """KIND:NAME of the agent's default model; None if it uses no model."""
    earlier_models: Mapping[str, str] = field(default_factory=dict)
    """KIND:NAME in earlier records -> what that model is called today."""
    needs: frozenset[Grant] = frozenset()
    """Grants that the agent requires."""
    wants: Mapping[str, str] = field(default_factory=dict)
    """Defaults for settings of the environment, where it has them."""
    candidates: str = "vocabulary"
    """What the agent chooses from unless `--candidates` says otherwise: "seen", "vocabulary" or
    "oracle"."""
    templates: tuple[str, ...] = ()
    """Prompt templates whose blocks the agent's setting `prompt` may replace."""
    source: Mapping[str, str] = field(default_factory=dict)
    """File -> digest, of an agent that comes from a file; kept in every record."""


_ENTRIES = Entries(
    "agent",
    AgentRegistration,
    "inhabit.agents",
    {
        "random": "inhabit.agents.planners.plain:RANDOM",
        "expert": "inhabit.agents.planners.plain:EXPERT",
        "gold": "inhabit.agents.planners.plain:GOLD",
        "human": "inhabit.agents.planners.human:REGISTRATION",
        "rank": "inhabit.agents.planners.rank:REGISTRATION",
        "beam": "inhabit.agents.planners.beam:REGISTRATION",
        "chat": "inhabit.agents.planners.chat:REGISTRATION",
        "holmes": "inhabit.agents.planners.holmes:REGISTRATION",
        "llm": "inhabit.agents.planners.chat:LLM",
        "scripted": "inhabit.agents.planners.plain:SCRIPTED",
        "replay": "inhabit.agents.planners.plain:REPLAY",
    },
    check=lambda one: needs_problem(one.needs) or settings_problem(one.settings),
)


def needs_problem(needs: object) -> str | None:
    """What is wrong with the `needs` of an agent, in a clause; None if nothing is."""
    if isinstance(needs, Collection) and all(isinstance(one, Grant) for one in needs):
        return None
    return f"its needs are {needs!r}, not a tuple of grants such as (Grant.LOOKAHEAD,)"


names = _ENTRIES.names
"""Every registered agent, ours first."""
usable = _ENTRIES.usable
"""Every agent that can be used, and what is wrong with each of the others."""


def find(name: str) -> AgentRegistration:
    """The agent of a name; raises UnknownNameError or PluginError."""
    own = any(mark in str(name) for mark in (":", "/", ".py"))
    hint = "Name one of your own by its file, as FILE.py:NAME: agents/mine.py:Mine."
    if own and name not in names():
        raise UnknownNameError("agent", name, (), hint)
    return _ENTRIES.find(name)
