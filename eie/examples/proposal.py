"""A task as an author writes it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, Field, JsonValue

from inhabit.envs.template import ActionKind


class ProposedEvent(BaseModel, frozen=True, extra="forbid"):
    """A node of an author's event graph; see `inhabit.envs.template.Event`.

    It has no `done`: an image could not refute a statement of the author about it.
    """

    name: str = Field(min_length=1, max_length=60)
    wish: str = Field(min_length=3, max_length=200)
    """As an instruction, without a full stop: "heat the apple"."""
    deed: ActionKind
    thing: str = Field(min_length=1, max_length=60)
    needs: tuple[str, ...] = Field(default=(), max_length=16)


class Proposal(BaseModel, frozen=True, extra="forbid"):
    """A task as an author writes it. Every field is checked before it is used."""

    goal: str = Field(min_length=3, max_length=300)
    """The instruction, as a person would say it."""
    scene: Mapping[str, JsonValue]
    """Parameters of the environment's template."""
    events: tuple[ProposedEvent, ...] = Field(default=(), max_length=16)
    """The event graph, instead of the environment's own."""
    question: str | None = Field(default=None, max_length=600)
    """Question of the first step, instead of the generated one."""
    reason: str | None = Field(default=None, max_length=900)
    """Reason of the first step, instead of the generated one."""
    key_concepts: tuple[str, ...] = Field(default=(), max_length=8)
    """Key concepts of the first step, instead of the generated ones."""
