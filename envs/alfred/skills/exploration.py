"""Looking around, and exploring what has not been looked at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from inhabit.envs.alfred.skills.episode_state import EpisodeState
from inhabit.envs.alfred.skills.memory import Cell
from inhabit.envs.alfred.skills.result import Result, done, failed
from inhabit.envs.alfred.skills.routes import STEP, ShortestPaths, Stand
from inhabit.envs.alfred.skills.walking import look, walk
from inhabit.envs.core import Reason

_SIGHT = (1.5, 0.75)
"""Metres around a place that count as searched once one has looked around there: at first, and
when all the room has been searched so, more closely."""
_LOOKING = 12
"""What looking around is worth in steps: one goes this much further to see twice as much."""
TILTS = (30.0, 0.0)
"""Degrees below the horizontal at which one looks around."""


def look_around(episode: EpisodeState) -> Result:
    """See all around, first a little downwards and then straight ahead."""
    horizon = episode.body.pose.horizon
    turn = turn_for(episode.field_of_view)
    for tilt in TILTS:
        look(episode, tilt)
        for _ in range(360 // turn):
            episode.body.step("RotateRight", blind=not episode.filming, degrees=turn)
            if episode.filming and episode.body.film is None:
                episode.film.append(episode.body.frame)
            episode.see()
    look(episode, horizon)
    episode.see()
    x, z, _ = episode.stand
    episode.memory.searched[x, z] = None
    return done("you look around.")


def turn_for(field_of_view: float) -> int:
    """Degrees to turn at a time, so that the pictures leave nothing out between them."""
    return next(turn for turn in (90, 72, 60, 45, 40, 36, 30) if turn <= field_of_view)


def explore(episode: EpisodeState) -> Result:
    """Walk to the nearest part of the room that was not looked at, and look around there."""
    while (goal := unsearched(episode)) is not None:
        if walk(episode, goal):
            look_around(episode)
            return done("you explore further and look around.")
        episode.memory.searched[goal[:2]] = None
    return failed(Reason.ALREADY, "you have looked at every part of the room.")


def unsearched(episode: EpisodeState) -> Stand | None:
    """Where to look around next: much that is new, and not far; None if nothing is new."""
    return choose(episode.grid.ways(episode.stand), episode.memory.searched)


def choose(ways: ShortestPaths, searched: Mapping[Cell, None]) -> Stand | None:
    """The same, for a walker whose ways are known and who looked around in `searched` places."""
    nearest: dict[Cell, tuple[int, Stand]] = {}
    for stand, cost in ways.cost.items():
        place = stand[:2]
        if place not in nearest or cost < nearest[place][0]:
            nearest[place] = cost, stand
    for sight in _SIGHT:
        new = [p for p in nearest if all(math.dist(p, s) * STEP > sight for s in searched)]
        if new:
            return nearest[max(sorted(new), key=lambda p: _worth(p, new, nearest[p][0], sight))][1]
    return None


def _worth(place: Cell, new: Sequence[Cell], cost: int, sight: float) -> tuple[float, Cell]:
    """How much that is new would be seen there, for the way there and the looking."""
    gain = sum(math.dist(place, other) * STEP <= sight for other in new)
    return gain / (cost + _LOOKING), place
