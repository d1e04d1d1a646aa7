"""The settings and the scene parameters of the toy house."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inhabit.envs.settings import SettingsModel
from inhabit.envs.toy.goals import ToyGoal
from inhabit.envs.toy.house import CONTAINERS, HAND, ITEMS, OPENABLE, PLACES, ToyHouse


class ToySettings(SettingsModel):
    """What `--set` may say of the toy house."""

    pixels: int = Field(default=96, ge=16, le=1024)
    """Side of the square image, in pixels."""
    delay: float = Field(default=0.0, ge=0.0, le=60.0)
    """Seconds that every action takes, to imitate a slow simulator."""


class ToyScene(BaseModel):
    """A house and what is wanted of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    room: Literal["kitchen", "hall", "bedroom"] = "hall"
    """Where the agent starts."""
    items: Mapping[str, str] = Field(default_factory=lambda: {"cup": "kitchen"})
    """Item -> a room (on its floor), a container, or "hand" (one item at the most)."""
    open: tuple[str, ...] = ()
    """Containers that stand open: of fridge and chest."""
    inside: Mapping[str, str] = Field(default_factory=dict)
    """Goal: item -> container."""
    closed: tuple[str, ...] = ()
    """Goal: containers that must be closed."""

    @model_validator(mode="after")
    def _names_exist(self) -> ToyScene:
        for item, place in self.items.items():
            _known("item", item, ITEMS)
            _known("place", place, PLACES)
        for item, container in self.inside.items():
            _known("item of this house", item, self.items)
            _known("container", container, CONTAINERS)
        for container in (*self.open, *self.closed):
            _known("container that opens", container, OPENABLE)
        if sum(place == HAND for place in self.items.values()) > 1:
            raise ValueError("the hand holds one item at the most")
        if not self.inside and not self.closed:
            raise ValueError("the goal is empty: say what should be inside or closed")
        return self

    def house(self) -> ToyHouse:
        """The initial state of the house."""
        items = tuple(sorted(self.items))
        places = tuple(self.items[i] for i in items)
        return ToyHouse(self.room, items, places, frozenset(self.open))

    def goal(self) -> ToyGoal:
        """The goal."""
        return ToyGoal(tuple(sorted(self.inside.items())), tuple(sorted(set(self.closed))))


def _known(what: str, name: str, names: Iterable[str]) -> None:
    names = list(names)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=2) or names
        raise ValueError(f"there is no {what} {name!r}; nearest: {', '.join(near)}")
