"""The mutable state of a room: objects and agent, with cheap snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from inhabit.envs.simulators.household.geometry.boxes import (
    Array,
    Box,
    Cell,
    Solid,
    angles,
    box_metadata,
    vector,
    xyz,
)
from inhabit.envs.simulators.household.rooms.ithor import Metadata, Room
from inhabit.envs.simulators.household.state.agent import AgentState
from inhabit.envs.simulators.household.state.rules import RuleSet
from inhabit.envs.simulators.household.types.things import ENCLOSING


@dataclass(frozen=True, slots=True, eq=False)
class SimObject:
    """One object. Immutable: a change replaces it in the world."""

    metadata: Metadata
    """Metadata as in AI2-THOR, without `distance`, `visible` and `isInteractable`, which belong to
    a frame."""
    box: Box
    """Pose of the object; +z is its front."""
    pivot: Array
    """Offset, (3,), from the box's center to THOR's `position`, along the box's own axes."""
    revision: int
    """Number that is unique for the object's contents within a simulator."""
    present: bool = True
    """False after slicing: THOR still lists the object, but it has no place."""
    away: Mapping[str, Box] | None = None
    """None unless the object is disabled, as by Unity's SetActive: it is on no list then. Else the
    boxes that objects linked to it had, by id."""
    posed: bool = False
    """Whether SetObjectPoses has placed it and it was not put down since: its pose is then a
    recorded one, in furniture that differs from ours."""

    @property
    def id(self) -> str:
        """THOR's objectId."""
        return str(self.metadata["objectId"])

    @property
    def kind(self) -> str:
        """THOR's objectType."""
        return str(self.metadata["objectType"])

    @property
    def parents(self) -> list[str]:
        """Ids of the receptacles it is on or in."""
        return self.metadata["parentReceptacles"] or []

    @property
    def contents(self) -> list[str]:
        """Ids of the objects on or in it."""
        return self.metadata["receptacleObjectIds"] or []

    def __getitem__(self, key: str) -> Any:
        return self.metadata[key]


@dataclass(frozen=True, slots=True, eq=False)
class WorldSnapshot:
    """A snapshot of a world."""

    things: Mapping[str, SimObject]
    agents: tuple[AgentState, ...]
    cells: frozenset[Cell]
    version: int


class World:
    """The objects of a room by id, in THOR's order, and the agent."""

    def __init__(
        self, room: Room, agent: AgentState, revisions: Iterator[int], rules: RuleSet
    ) -> None:
        self.room = room
        self.rules = rules
        self._revisions = revisions
        self._version = next(revisions)
        self.things: dict[str, SimObject] = {}
        self.cells = room.cells
        self.rises = _rises(room)
        for metadata, box in zip(room.objects, room.boxes, strict=True):
            self.add(metadata, box)
        if rules.drawn_as_measured:
            self.open_forwards()
        self.agents: tuple[AgentState, ...] = (agent,)
        self.active = 0
        """Number of the agent that acts and sees."""

    @property
    def agent(self) -> AgentState:
        """The agent that acts and sees."""
        return self.agents[self.active]

    @agent.setter
    def agent(self, agent: AgentState) -> None:
        self.agents = (*self.agents[: self.active], agent, *self.agents[self.active + 1 :])

    @property
    def others(self) -> Mapping[int, AgentState]:
        """The other agents, by number."""
        return {i: agent for i, agent in enumerate(self.agents) if i != self.active}

    @property
    def in_hands(self) -> frozenset[str]:
        """Ids of what the agents hold."""
        return frozenset(id for agent in self.agents for id in agent.holds)

    def solids(self) -> Iterator[Solid]:
        """What may be in an agent's way now: the room's objects, and added furniture."""
        there = {thing.id: thing.box for thing in self.things.values() if thing.present}
        yield from self.room.solids(there)
        first = {o["objectId"] for o in self.room.objects}
        for id in there.keys() - first:
            if not self.things[id]["pickupable"]:
                yield Solid(self.things[id].kind, there[id])

    @property
    def version(self) -> int:
        """Changes whenever anything but the agent may have changed, and is never reused: a
        restored world has its old number.
        """
        return self._version

    def add(self, metadata: Metadata, box: Box, *, present: bool = True) -> SimObject:
        """Add an object to the room.

        Raises:
            ValueError: an object with this id exists.
        """
        if metadata["objectId"] in self.things:
            raise ValueError(f"Object {metadata['objectId']!r} already exists.")
        pivot = box.to_own(vector(metadata["position"]))
        thing = SimObject(metadata, box, pivot, self._next(), present)
        self.things[thing.id] = thing
        return thing

    def change(self, thing: str | SimObject, **changes: Any) -> SimObject:
        """Change an object's metadata. Without a change the revision stays."""
        now = self.things[thing if isinstance(thing, str) else thing.id]
        if all(now.metadata[key] == value for key, value in changes.items()):
            return now
        return self._put(now, metadata={**now.metadata, **changes})

    def move(self, thing: str | SimObject, box: Box, *, posed: bool = False) -> SimObject:
        """Move an object. Its contents stay behind: see `placing.carry`."""
        now = self.things[thing if isinstance(thing, str) else thing.id]
        oriented = now.metadata["objectOrientedBoundingBox"] is not None
        moved = {
            "position": xyz(box.to_world(now.pivot)),
            **box_metadata(box, oriented),
        }
        if oriented:  # The rotation of other objects is not that of their box.
            moved["rotation"] = angles(box.axes)
        return self._put(now, metadata={**now.metadata, **moved}, box=box, posed=posed)

    def open_forwards(self) -> None:
        """Turn doors and drawers to the side to which AI2-THOR opens them."""
        for id, box in self.room.forwards.items():
            now = self.things.get(id)
            if now is not None and now.box is not box:
                self._put(now, box=box, pivot=box.to_own(vector(now["position"])))

    def resize(self, thing: SimObject, box: Box) -> SimObject:
        """Give an object another box, and its position the same place in it."""
        pivot = thing.pivot * (box.half / np.maximum(thing.box.half, 1e-9))
        self._put(self.things[thing.id], pivot=pivot)
        return self.move(thing, box)

    def stir(self, thing: str) -> None:
        """Say that an object is moving, until the next action; see `rules.tells_motion`."""
        if self.rules.tells_motion:
            self.change(thing, isMoving=True)

    def settle(self) -> None:
        """Say that nothing is moving any more."""
        if self.rules.tells_motion:
            for thing in [id for id, thing in self.things.items() if thing["isMoving"]]:
                self.change(thing, isMoving=False)

    def vanish(self, thing: SimObject) -> SimObject:
        """Remove an object from the room; it stays in the list."""
        return self._put(self.things[thing.id], present=False)

    def reappear(self, thing: SimObject) -> SimObject:
        """Return a removed object to the room."""
        return self._put(self.things[thing.id], present=True)

    def listed(self) -> Mapping[str, SimObject]:
        """All objects but those that are disabled."""
        return {id: thing for id, thing in self.things.items() if thing.away is None}

    def apart(self) -> frozenset[str]:
        """Ids that no object has on its lists of parents and contents, though they are linked.

        In AI2-THOR: what is disabled, and what is held with its contents.
        """
        gone = frozenset(id for id, thing in self.things.items() if thing.away is not None)
        return gone | self.in_hands if self.rules.hands_hold_contents else gone

    def disable(self, thing: SimObject) -> None:
        """Take an object out of the room and off every list, until it is enabled."""
        linked = {*thing.parents, *thing.contents} & self.things.keys()
        away = {id: self.things[id].box for id in linked}
        self._put(self.things[thing.id], present=False, away=away)

    def enable(self, thing: SimObject) -> None:
        """Bring a disabled object back. It stays linked to what has not moved in the meantime."""
        moved = {
            id
            for id, box in (thing.away or {}).items()
            if id not in self.things or self.things[id].box is not box
        }
        now = self._put(self.things[thing.id], present=True, away=None)
        self.link(now.id, [id for id in now.parents if id not in moved])
        for inner in moved.intersection(now.contents) & self.things.keys():
            self.link(inner, [id for id in self.things[inner].parents if id != now.id])

    def remove(self, thing: str) -> None:
        """Delete an object from the list. Its contents stay where they are."""
        for other in list(self.things.values()):
            if thing in other.parents:
                self.link(other.id, [parent for parent in other.parents if parent != thing])
            if thing in other.contents:
                left = [inner for inner in other.contents if inner != thing]
                self.change(other.id, receptacleObjectIds=left)
        del self.things[thing]
        self._next()

    def link(self, child: str, parents: Iterable[str]) -> None:
        """Set what an object is on or in, in both directions. Empty if it is held."""
        old, new = self.things[child].parents, list(parents)
        for parent in old:
            if parent not in new:
                left = [other for other in self.things[parent].contents if other != child]
                self.change(parent, receptacleObjectIds=left)
        for parent in new:
            if child not in self.things[parent].contents:
                grown = [*self.things[parent].contents, child]
                self.change(parent, receptacleObjectIds=grown)
        self.change(child, parentReceptacles=new or None)

    def put_in(self, thing: str) -> list[str]:
        """The pickupable objects directly on or in an object."""
        inner = (self.things[i] for i in self.things[thing].contents)
        return [other.id for other in inner if other["pickupable"] and other.away is None]

    def within(self, thing: str) -> Iterator[str]:
        """Everything on or in an object, at any depth, each once.

        Furniture has no parent: THOR's boxes overlap, so its metadata has counters inside cups.
        """
        seen, queue = {thing}, list(self.things[thing].contents)
        while queue:
            inner = queue.pop(0)
            there = self.things[inner].away is None and self.things[inner]["pickupable"]
            if inner not in seen and there:
                seen.add(inner)
                yield inner
                queue += self.things[inner].contents

    def hidden(self, thing: str) -> bool:
        """Whether it is enclosed or has no place."""
        if not self.things[thing].present:
            return True
        seen, queue = {thing}, [thing]
        while queue:
            inner = self.things[queue.pop()]
            for outer in inner.parents if inner["pickupable"] else ():
                if self.things[outer].away is None and shut(self.things[outer]):
                    return True
                if outer not in seen:
                    seen.add(outer)
                    queue.append(outer)
        return False

    def snapshot(self) -> WorldSnapshot:
        """A snapshot of the current state. It takes no time, since objects are immutable."""
        return WorldSnapshot(dict(self.things), self.agents, self.cells, self._version)

    def restore(self, snapshot: WorldSnapshot) -> None:
        """Restore a snapshot."""
        self.things, self.agents, self.cells = (
            dict(snapshot.things),
            snapshot.agents,
            snapshot.cells,
        )
        self._version = snapshot.version

    def _put(self, now: SimObject, **changes: Any) -> SimObject:
        thing = replace(now, **changes, revision=self._next())
        self.things[thing.id] = thing
        return thing

    def _next(self) -> int:
        self._version = next(self._revisions)
        return self._version


def shut(thing: SimObject) -> bool:
    """Whether it encloses its contents."""
    return thing.kind in ENCLOSING and not thing["isOpen"]


def _rises(room: Room) -> Mapping[str, float]:
    """Height of the initial contents above the bottom of a receptacle's box.

    The median over what can be picked up, in metres, by the receptacle's id.
    """
    boxes = {o["objectId"]: b for o, b in zip(room.objects, room.boxes, strict=True)}
    standing: dict[str, list[float]] = {}
    for thing in room.objects:
        for parent in thing["parentReceptacles"] or [] if thing["pickupable"] else []:
            rise = float(boxes[thing["objectId"]].low[1] - boxes[parent].low[1])
            standing.setdefault(parent, []).append(rise)
    return {parent: sorted(rises)[len(rises) // 2] for parent, rises in standing.items()}
