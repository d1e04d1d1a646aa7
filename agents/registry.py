"""Which planners there are. A file says what it offers in a light `REGISTRATION`.

Packages of others join through the entry-point group `inhabit.agents`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from agents.core import Agent, Grant
from agents.models.core import Model
from envs.entries import Entries


@dataclass(frozen=True, slots=True)
class AgentRegistration:
    """A planner by name. Nothing heavy is imported before `make` is called."""

    name: str
    summary: str
    settings: type[BaseModel]
    """What `--set KEY=VALUE` may say of it; every field has a default."""
    make: Callable[[Any, Model | None], Agent]
    """(settings, model) -> a planner; the model is None exactly where `model` is.

    Raises:
        ModelError: the model lacks an ability that this planner asks for.
    """
    model: str | None = None
    """KIND:NAME of the model that it asks unless another is named; None if it asks no model."""
    needs: frozenset[Grant] = frozenset()
    """Grants that it can't work without."""
    wants: Mapping[str, str] = field(default_factory=dict)
    """Settings of the environment that hold for it unless said otherwise, where it has them."""


_ENTRIES = Entries(
    "agent",
    AgentRegistration,
    "inhabit.agents",
    {
        "random": "agents.random:REGISTRATION",
        "expert": "agents.expert:REGISTRATION",
        "gold": "agents.expert:GOLD",
        "human": "agents.human:REGISTRATION",
        "planner": "agents.planner:REGISTRATION",
        "rank": "agents.rank:REGISTRATION",
        "beam": "agents.beam:REGISTRATION",
        "chat": "agents.chat:REGISTRATION",
        "holmes": "agents.holmes:REGISTRATION",
        "llm": "agents.llm:REGISTRATION",
        "scripted": "agents.scripted:REGISTRATION",
        "replay": "agents.replay:REGISTRATION",
    },
)

_DEFAULTS = {"alfred": "planner"}
"""Who decides where nobody is named: the planner that comes in the box, in what it was taught."""


def default(env: str) -> str | None:
    """Who decides in an environment unless another is named; None where somebody has to be."""
    return _DEFAULTS.get(env)


def names() -> Sequence[str]:
    """Every registered planner, ours first."""
    return _ENTRIES.names()


def find(name: str) -> AgentRegistration:
    """The planner of that name.

    Raises:
        UnknownNameError: nothing is registered under it.
    """
    return _ENTRIES.find(name)
