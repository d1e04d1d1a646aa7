"""Shortest walks to a target, by the simulator's own rule of where a step can be made."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import dist
from typing import NamedTuple

from inhabit.envs.simulators.household.simulator import Simulator

MOVES: Mapping[str, str] = {
    "move forward": "MoveAhead",
    "move backward": "MoveBack",
    "move right": "MoveRight",
    "move left": "MoveLeft",
}
_MOST = 4000
"""Positions that a search visits, at most."""

Place = tuple[float, float]


class _Open(NamedTuple):
    """A position that is reached, ordered by the length of a walk through it, at least."""

    length: float
    order: int
    place: Place
    moves: tuple[str, ...]


@contextmanager
def restored(simulator: Simulator) -> Iterator[None]:
    """Restore the simulator's state at the end of the block."""
    token = simulator.act({"action": "Snapshot"}).value
    try:
        yield
    finally:
        for action in ("Restore", "Forget"):
            simulator.act({"action": action, "snapshot": token})


def shortest(
    simulator: Simulator, target: Place, *, step: float, within: float
) -> Sequence[str] | None:
    """The moves of a shortest walk to within some metres of a target; None if there is none.

    A* over the positions that steps reach, without turns: the agent also walks sideways.
    """

    def left(place: Place) -> float:
        return max(0.0, dist(place, target) - within) / step

    start = (simulator.agent.x, simulator.agent.z)
    queue, done, order = [_Open(left(start), 0, start, ())], set[Place](), 0
    with restored(simulator):
        while queue and len(done) < _MOST:
            here = heapq.heappop(queue)
            if dist(here.place, target) <= within:
                return here.moves
            if _key(here.place) in done:
                continue
            done.add(_key(here.place))
            for word, action in MOVES.items():
                there = _moved(simulator, here.place, action, step)
                if there is not None and _key(there) not in done:
                    order += 1
                    moves = (*here.moves, word)
                    heapq.heappush(queue, _Open(len(moves) + left(there), order, there, moves))
    return None


def _key(place: Place) -> Place:
    return round(place[0], 3), round(place[1], 3)


def _moved(simulator: Simulator, place: Place, action: str, step: float) -> Place | None:
    """Where a move from a place leads; None if it is blocked."""
    x, z = place
    simulator.act({"action": "Teleport", "x": x, "z": z, "forceAction": True})
    if not simulator.act({"action": action, "moveMagnitude": step}).success:
        return None
    return simulator.agent.x, simulator.agent.z
