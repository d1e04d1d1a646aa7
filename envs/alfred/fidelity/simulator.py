"""Measures of the embedded household itself: where one can stand in it, and its speed."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from time import process_time

from inhabit.envs.simulators.household.navigation import recorded_grids
from inhabit.envs.simulators.household.rooms.ithor import SCENES, load
from inhabit.envs.simulators.household.simulator import Simulator


def grid_agreement() -> Mapping[str, float]:
    """Intersection over union of computed and recorded grid cells, by room.

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


_ROOM = "FloorPlan1"
_OBJECTS = 90
_FRAMES, _RESETS = 60, 8


def frame_ms() -> float:
    """Median milliseconds to render a 300x300 image with shadows, each from another pose."""
    simulator = Simulator(_ROOM)
    times = []
    for i in range(_FRAMES):
        simulator.act({"action": "RotateRight", "degrees": 30})
        if i % 12 == 11:
            simulator.act({"action": "MoveAhead"})
        begin = process_time()
        simulator.frame()
        times.append(process_time() - begin)
    return 1000 * median(times[5:])


def reset_ms() -> float:
    """Median milliseconds of a reset including visibility, in rooms of about 90 objects."""
    rooms = sorted(SCENES, key=lambda scene: abs(len(load(scene).objects) - _OBJECTS))[:2]
    simulator = Simulator(rooms[0])
    times = []
    for i in range(_RESETS):
        begin = process_time()
        simulator.act({"action": "Reset", "sceneName": rooms[(i + 1) % 2]})
        simulator.visibility()
        times.append(process_time() - begin)
    return 1000 * median(times[2:])
