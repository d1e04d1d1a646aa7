"""Looking around, and exploring the unseen parts of a room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.skills.result import Result, done, failed
from inhabit.envs.alfred.skills.walking import look, walk
from inhabit.envs.alfred.thor.routes import STEP, Cell, ShortestPaths, Stand
from inhabit.envs.core import Reason

_SIGHT = (1.5, 0.75)
"""Metres around a cell that count as searched after looking around there: first coarse, then
fine once the whole room is searched."""
_LOOKING = 12
"""The value of a look around, in steps: one goes this many steps farther to see twice as much."""
TILTS = (30.0, 0.0)
"""Degrees below the horizontal to look around at."""


def look_around(episode: EpisodeState) -> Result:
    """Look in all directions, first a little downwards and then straight ahead."""
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
    """Degrees per turn, so that consecutive images leave no gap."""
    return next(turn for turn in (90, 72, 60, 45, 40, 36, 30) if turn <= field_of_view)


def explore(episode: EpisodeState) -> Result:
    """Go to the nearest unexplored part of the room and look around there."""
    while (goal := unsearched(episode)) is not None:
        if walk(episode, goal):
            look_around(episode)
            return done("you explore further and look around.")
        episode.memory.searched[goal[:2]] = None
    return failed(Reason.ALREADY, "you have looked at every part of the room.")


def unsearched(episode: EpisodeState) -> Stand | None:
    """The next place to look around: much new area for a short walk; None if nothing is new."""
    return choose(episode.grid.ways(episode.stand), episode.memory.searched)


def choose(ways: ShortestPaths, searched: Mapping[Cell, None]) -> Stand | None:
    """The same, for given paths and given `searched` cells."""
    nearest: dict[Cell, tuple[int, Stand]] = {}
    for stand, cost in ways.cost.items():
        place = stand[:2]
        if place not in nearest or cost < nearest[place][0]:
            nearest[place] = cost, stand
    for sight in _SIGHT:
        new = _farther(list(nearest), list(searched), sight)
        if new:
            gain = dict(zip(new, _around(new, sight), strict=True))
            worth = {place: gain[place] / (nearest[place][0] + _LOOKING) for place in new}
            return nearest[max(new, key=lambda place: (worth[place], place))][1]
    return None


def _farther(places: Sequence[Cell], searched: Sequence[Cell], sight: float) -> Sequence[Cell]:
    """The places that are farther than `sight` from every searched one."""
    if not searched:
        return places
    near = (_squares(places, searched) <= (sight / STEP) ** 2).any(axis=1)
    return [places[i] for i in np.flatnonzero(~near).tolist()]


def _around(places: Sequence[Cell], sight: float) -> Sequence[int]:
    """How many of the places are within `sight` of each: the new area that is seen from there."""
    found: Sequence[int] = (_squares(places, places) <= (sight / STEP) ** 2).sum(axis=1).tolist()
    return found


def _squares(places: Sequence[Cell], others: Sequence[Cell]) -> NDArray[np.int64]:
    """Squared distances in cells, (places, others)."""
    apart = np.array(places, np.int64)[:, None] - np.array(others, np.int64)[None]
    squares: NDArray[np.int64] = (apart**2).sum(axis=2)
    return squares
