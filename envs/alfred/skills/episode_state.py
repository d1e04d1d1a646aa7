"""What an agent is in the midst of: its body, what it remembers, and what has been done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.language.naming import ObjectNames
from inhabit.envs.alfred.language.reference import Reference
from inhabit.envs.alfred.scenes.scene import AlfredGoal, RecordedThing
from inhabit.envs.alfred.skills.memory import Memory
from inhabit.envs.alfred.skills.routes import Grid, Stand, cell, heading
from inhabit.envs.alfred.tasks.goals import History
from inhabit.envs.alfred.thor.body import AgentBody
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.thor.views import Views


@dataclass(slots=True)
class EpisodeState:
    """One episode so far. The simulator holds the world; all the rest is here."""

    body: AgentBody
    goal: AlfredGoal
    names: ObjectNames
    grid: Grid
    views: Views
    memory: Memory = field(default_factory=Memory)
    history: History = field(default_factory=History)
    field_of_view: float = 60
    """Degrees."""
    teleport: bool = False
    """Whether the agent is moved to where it wants to be instead of walking there."""
    unobserved: bool = False
    """Whether nothing is noticed on the way: for who asks no more than whether an action works."""
    filming: bool = False
    """Whether what is seen on the way is kept."""
    recorded_ids: Mapping[RecordedThing, str] = field(default_factory=dict)
    """What a recorded plan speaks of, and THOR's id of it here."""
    film: list[NDArray[np.uint8]] = field(default_factory=list)
    """What the last action showed on its way, pictures (H, W, 3)."""
    just_seen: dict[str, None] = field(default_factory=dict)
    """Ids of all that the last action showed, on its way or at its end."""

    @property
    def world(self) -> ThorObjects:
        """All things as they are now."""
        return self.body.world

    @property
    def held(self) -> ThorObject | None:
        """What is in the hand."""
        return self.world.held

    @property
    def stand(self) -> Stand:
        """Where the agent stands and which way it faces."""
        pose = self.body.pose
        return (*cell(pose.x, pose.z), heading(pose.rotation))

    def reference(self) -> Reference:
        """What names mean now."""
        pose = self.body.pose
        return Reference(self.world, self.names, self.memory, pose.x, pose.z)

    def name(self, thing: ThorObject) -> str:
        """What a thing is called when the agent is told of it."""
        return f"the {self.names.of(thing.id)}"

    def see(self) -> None:
        """Remember what the picture shows, and give a name to what is new."""
        if self.unobserved:
            return
        self.names.add(self.world)
        self.notice(self.body.noticed())

    def notice(self, ids: Iterable[str]) -> None:
        """Remember things, if they are such as one speaks of."""
        known = [id for id in ids if id in self.names]
        self.memory.see(known)
        self.just_seen.update(dict.fromkeys(known))

    def do(self, action: str, thing: ThorObject, **arguments: Any) -> bool:
        """Act on a thing, and keep the history that ALFRED's goals ask for."""
        done = self.body.step(action, blind=True, masks=True, objectId=thing.id, **arguments)
        self.views.forget()
        if done:
            self.history = self.history.after(action, thing.id, self.world)
        return done

    def copy(self) -> EpisodeState:
        """The same moment, to go on apart; the body is shared."""
        return replace(
            self,
            names=self.names.copy(),
            grid=self.grid.copy(),
            views=self.views.copy(),
            memory=self.memory.copy(),
            film=list(self.film),
            just_seen=dict(self.just_seen),
        )
