"""Shortest paths over the grid: steps ahead and quarter turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Cell = tuple[int, int]
"""A grid cell: x and z in grid steps."""
_KEPT = 64
"""Number of start poses whose paths are cached."""
STEP = 0.25
"""Metres between neighbouring cells."""
HEADINGS: Mapping[int, Cell] = {0: (0, 1), 90: (1, 0), 180: (0, -1), 270: (-1, 0)}
"""Heading in degrees -> direction of a step ahead."""
Stand = tuple[int, int, int]
"""Cell and heading: (x, z, degrees), in grid steps."""


def cell(x: float, z: float) -> Cell:
    """The grid cell nearest to a point on the floor."""
    return round(x / STEP), round(z / STEP)


def heading(degrees: float) -> int:
    """The nearest multiple of 90 degrees."""
    return round(degrees / 90) % 4 * 90


@dataclass(frozen=True, slots=True)
class ShortestPaths:
    """Shortest paths from one start to all other poses."""

    start: Stand
    cost: Mapping[Stand, int]
    """Low-level steps."""
    before: Mapping[Stand, tuple[Stand, str]] = field(repr=False)

    def to(self, goal: Stand) -> Sequence[str]:
        """THOR's actions along a shortest path.

        Raises:
            KeyError: there is no way.
        """
        actions: list[str] = []
        while goal != self.start:
            goal, action = self.before[goal]
            actions.append(action)
        return actions[::-1]


class Grid:
    """The free cells, and the steps that turned out to be blocked."""

    def __init__(self, places: Iterable[Cell]) -> None:
        self.places = frozenset(places)
        self._blocked: set[tuple[Cell, Cell]] = set()
        self._paths: dict[Stand, ShortestPaths] = {}

    def block(self, stand: Stand) -> None:
        """Remember that the step ahead from there is blocked."""
        self._blocked.add(_ahead(stand))
        self._paths = {}

    def copy(self) -> Grid:
        """An independent copy."""
        twin = Grid(self.places)
        twin._blocked, twin._paths = set(self._blocked), dict(self._paths)
        return twin

    def ways(self, start: Stand) -> ShortestPaths:
        """Shortest paths from `start` by breadth-first search; ties are always resolved the same
        way.
        """
        if start not in self._paths:
            if len(self._paths) == _KEPT:
                self._paths.clear()
            self._paths[start] = self._search(start)
        return self._paths[start]

    def _search(self, start: Stand) -> ShortestPaths:
        cost = {start: 0}
        before: dict[Stand, tuple[Stand, str]] = {}
        ahead = deque([start])
        while ahead:
            stand = ahead.popleft()
            for action, there in self._next(stand):
                if there not in cost:
                    cost[there] = cost[stand] + 1
                    before[there] = stand, action
                    ahead.append(there)
        return ShortestPaths(start, cost, before)

    def _next(self, stand: Stand) -> Iterable[tuple[str, Stand]]:
        x, z, degrees = stand
        here, there = _ahead(stand)
        if there in self.places and (here, there) not in self._blocked:
            yield "MoveAhead", (*there, degrees)
        yield "RotateRight", (x, z, (degrees + 90) % 360)
        yield "RotateLeft", (x, z, (degrees - 90) % 360)


def _ahead(stand: Stand) -> tuple[Cell, Cell]:
    x, z, degrees = stand
    dx, dz = HEADINGS[degrees]
    return (x, z), (x + dx, z + dz)
