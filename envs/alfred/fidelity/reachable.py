"""Where the household's own rule lets the agent stand, against where THOR's really could."""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.simulators.household.navigation import recorded_grids
from inhabit.envs.simulators.household.rooms.ithor import SCENES, load


def agreement() -> Mapping[str, float]:
    """For every room whose cells are known, intersection over union with the computed ones.

    Known are those of ALFRED's layouts, and those that its experts walked on. Empty where the
    layouts are not installed.
    """
    found = {}
    for scene in SCENES:
        real = recorded_grids.cells(scene)
        if real is not None:
            ours = load(scene).cells
            found[scene] = len(ours & real) / len(ours | real)
    return found
