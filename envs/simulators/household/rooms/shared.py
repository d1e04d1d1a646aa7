"""What the simulators of one process have in common: rooms, meshes, and memory for images."""

from __future__ import annotations

from threading import Lock
from weakref import WeakValueDictionary

from inhabit.envs.simulators.household.rooms.ithor import Room
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
from inhabit.envs.simulators.render.kernel import Scratch
from inhabit.envs.simulators.render.mesh import Mesh

_KEPT = 128
"""Number of rooms that are kept: more than iTHOR has."""


class Shared:
    """Rooms and meshes by room, each loaded or built once. Simulators in several threads may
    share one.
    """

    def __init__(self, catalog: Catalog | None = None) -> None:
        """Start empty.

        Args:
            catalog: the rooms that there are; None for iTHOR's.
        """
        self.catalog = catalog or Catalog()
        self.scratch = Scratch()
        self._rooms: dict[str, Room] = {}
        self._meshes: dict[str, tuple[Room, dict[object, Mesh]]] = {}
        self._lock = Lock()

    @classmethod
    def of(cls, catalog: Catalog) -> Shared:
        """What the simulators of iTHOR's rooms that are alive in this process have in common.

        It lives as long as one of them does. Simulators with rooms of the user's own, whose files
        may change, get something of their own, and so do those with rooms as in AI2-THOR.
        """
        if catalog.own or catalog.as_thor:
            return cls(catalog)
        with _OPENING:
            found = _ALIVE.get(catalog.recorded)
            if found is None:
                found = _ALIVE[catalog.recorded] = cls(catalog)
        return found

    def load(self, scene: str) -> Room:
        """A room by its name. A file of the user's own is read again each time.

        Raises:
            SceneError: there is no such room, or its file cannot be read.
            UnavailableError: the rooms' package is missing, or the recorded cells.
        """
        name = scene.removesuffix("_physics")
        with self._lock:
            room = self._rooms.get(name)
        if room is None:
            room = self.catalog.load(scene)
            if room.name in self.catalog.own or room.name not in self.catalog.names:
                return room
            with self._lock:
                room = self._rooms.setdefault(name, room)
        return room

    def meshes(self, room: Room) -> dict[object, Mesh]:
        """The meshes of a room's objects as it comes, which is the same for all simulators."""
        with self._lock:
            kept = self._meshes.get(room.name)
            if kept is None or kept[0] is not room:
                if len(self._meshes) >= _KEPT:
                    self._meshes.pop(next(iter(self._meshes)))
                kept = self._meshes[room.name] = room, {}
            return kept[1]


_OPENING = Lock()
_ALIVE: WeakValueDictionary[bool, Shared] = WeakValueDictionary()
"""A cache, by whether reachable positions are the recorded ones. What is found in it equals what
would be made anew."""
