"""The state of one episode outside the simulator: names, grid, memory and history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.episode.memory import Memory
from inhabit.envs.alfred.episode.reference import Reference
from inhabit.envs.alfred.language.naming import ObjectNames
from inhabit.envs.alfred.scenes.goals import History
from inhabit.envs.alfred.scenes.scene import AlfredGoal, Disturbance, RecordedThing
from inhabit.envs.alfred.thor.body import AgentBody
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.thor.routes import Grid, Stand, cell, heading
from inhabit.envs.alfred.thor.views import Views


@dataclass(slots=True)
class EpisodeState:
    """The state of one episode. The simulator holds the room; everything else is here."""

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
    """Whether navigation teleports instead of walking."""
    unobserved: bool = False
    """Whether images along the way are ignored, when only the result of an action matters."""
    filming: bool = False
    """Whether images along the way are kept."""
    recorded_ids: Mapping[RecordedThing, str] = field(default_factory=dict)
    """Object of a recorded plan -> THOR's id here."""
    film: list[NDArray[np.uint8]] = field(default_factory=list)
    """Images of the last action along the way, (H, W, 3) each."""
    just_seen: dict[str, None] = field(default_factory=dict)
    """Ids of all objects that the last action showed."""
    also: tuple[AlfredGoal, ...] = ()
    """Further goals."""
    in_order: bool = False
    """Whether the goals have to be reached one after the other."""
    reached: tuple[int, ...] = ()
    """Numbers of the goals that have held, in the order in which they came to hold."""
    disturbances: tuple[Disturbance, ...] = ()
    """Those that are still to come."""
    actions: int = 0
    """Number of actions so far."""

    @property
    def goals(self) -> tuple[AlfredGoal, ...]:
        """All goals."""
        return (self.goal, *self.also)

    @property
    def world(self) -> ThorObjects:
        """All objects now."""
        return self.body.world

    @property
    def held(self) -> ThorObject | None:
        """The held object."""
        return self.world.held

    @property
    def stand(self) -> Stand:
        """The agent's grid cell and heading."""
        pose = self.body.pose
        return (*cell(pose.x, pose.z), heading(pose.rotation))

    def reference(self) -> Reference:
        """The meaning of names now."""
        pose = self.body.pose
        return Reference(self.world, self.names, self.memory, pose.x, pose.z)

    def name(self, thing: ThorObject) -> str:
        """The name of an object in feedback."""
        return f"the {self.names.of(thing.id)}"

    def see(self) -> None:
        """Remember the objects in the image, and name new ones."""
        if self.unobserved:
            return
        self.names.add(self.world)
        self.notice(self.body.noticed())

    def notice(self, ids: Iterable[str]) -> None:
        """Remember objects that have names."""
        known = [id for id in ids if id in self.names]
        self.memory.see(known)
        self.just_seen.update(dict.fromkeys(known))

    def do(self, action: str, thing: ThorObject, **arguments: Any) -> bool:
        """Interact with an object, and update the history for ALFRED's goals."""
        done = self.body.step(action, blind=True, masks=True, objectId=thing.id, **arguments)
        self.views.forget()
        if done:
            self.history = self.history.after(action, thing.id, self.world)
        return done

    def copy(self) -> EpisodeState:
        """An independent copy that shares the body."""
        return replace(
            self,
            names=self.names.copy(),
            grid=self.grid.copy(),
            views=self.views.copy(),
            memory=self.memory.copy(),
            film=list(self.film),
            just_seen=dict(self.just_seen),
        )
