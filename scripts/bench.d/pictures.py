"""Images and steps of the embedded household on one core, beside an older commit's.

With INHABIT_BENCH_OLD=FOLDER, a checkout of an older commit, both are measured in turns, and what
is printed beside a figure is the older one's median and the median of the rounds' ratios. Times are
processor time of one thread, medians within a round and over the rounds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from statistics import median
from time import thread_time

from render import VIEWS, initial_room

from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.wire.packing import MessagePack
from inhabit.envs.simulators.household.wire.session import ClientSession

ROUNDS = 3
HERE = Path(__file__).resolve().parents[2]
ROOMS = ("FloorPlan1", "FloorPlan10", "FloorPlan205", "FloorPlan310", "FloorPlan420")
WALK = ("RotateRight", "MoveAhead", "MoveAhead", "RotateLeft", "MoveAhead", "RotateRight")
SENSORS = {"renderDepthImage": True, "renderInstanceSegmentation": True}
FIGURES = {
    "picture_300": ("ms", "<= 7", "one picture of 20,000 triangles, 300x300, shadows"),
    "picture_128": ("ms", "", "the same, 128x128"),
    "picture_84": ("ms", "", "the same, 84x84"),
    "steps_300": ("steps/s", ">= 120", "navigation in process, 300x300 RGB with shadow"),
    "steps_128": ("steps/s", ">= 300", "the same, 128x128"),
    "sensors_300": ("steps/s", ">= 80", "RGB, depth and masks, packed for the client"),
    "reset": ("ms", "<= 15", "reset to a room seen before, and its first picture, 300x300"),
}


def main() -> None:
    """Print the figures."""
    trees = {"here": HERE}
    if old := os.environ.get("INHABIT_BENCH_OLD"):
        trees["old"] = Path(old).resolve()
    rounds = [{name: measured(tree) for name, tree in trees.items()} for _ in range(ROUNDS)]
    figures = {}
    for key, (unit, bound, what) in FIGURES.items():
        value = median(one["here"][key] for one in rounds)
        figures[key] = {"value": round(value, 2), "unit": unit, "bound": bound, "what": what}
        if "old" in trees:
            before = median(one["old"][key] for one in rounds)
            ratio = median(one["here"][key] / one["old"][key] for one in rounds)
            figures[key]["baseline"] = f"{before:.2f}, x {ratio:.2f}"
    sys.stdout.write(json.dumps(figures) + "\n")


def measured(tree: Path) -> dict[str, float]:
    """One round in a checkout."""
    python = str(HERE / ".venv" / "bin" / "python")
    program = [python, str(Path(__file__).resolve()), "--round"]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(program, env=environment, cwd=tree, capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def one_round() -> dict[str, float]:
    """All figures of the code that is imported."""
    stage, _ = initial_room()
    views = cycle(VIEWS)
    found = {
        f"picture_{side}": 1e3 * seconds(lambda s=side: stage.render(next(views), s, s), 24)
        for side in (300, 128, 84)
    }
    for side in (300, 128):
        found[f"steps_{side}"] = 1 / walk(side)
    simulator = Simulator(ROOMS[0])
    session = ClientSession(simulator, MessagePack())
    session.answer({"action": "Initialize", "gridSize": 0.25, "sequenceId": 0, **SENSORS})
    steps = cycle(WALK)
    found["sensors_300"] = 1 / seconds(
        lambda: session.answer({"action": next(steps), "sequenceId": 1}), 48
    )
    found["reset"] = 1e3 * resets()
    return found


def walk(side: int) -> float:
    """Seconds of a step with its image, over rooms of every kind."""
    times = []
    for room in ROOMS:
        simulator = Simulator(room, width=side, height=side)
        simulator.frame()
        for action in WALK * 6:
            start = thread_time()
            simulator.act({"action": action})
            simulator.frame()
            times.append(thread_time() - start)
    return median(times)


def resets() -> float:
    """Seconds of a reset between two rooms that were seen before, with the first image."""
    simulator = Simulator(ROOMS[0])

    def reset(room: str) -> float:
        start = thread_time()
        simulator.act({"action": "Reset", "sceneName": room})
        simulator.act({"action": "Initialize", "gridSize": 0.25})
        simulator.frame()
        return thread_time() - start

    times = [reset(room) for _ in range(8) for room in ROOMS[:2]]
    return median(times[2:])


def seconds(act: Callable[[], object], count: int) -> float:
    """The median of `count` goes, after four to warm up."""
    times = []
    for _ in range(count + 4):
        start = thread_time()
        act()
        times.append(thread_time() - start)
    return median(times[4:])


if __name__ == "__main__":
    if sys.argv[1:] == ["--round"]:
        sys.stdout.write(json.dumps(one_round()))
    else:
        main()
