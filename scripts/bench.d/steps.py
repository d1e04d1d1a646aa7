"""Steps a second through AI2-THOR's unmodified client, simulator and client on one core.

A navigation step is MoveAhead or a turn, in rooms of every kind; the pictures are 300x300 with
shadows, and each is taken out of its event. The median over all steps is what is told: other work
on the machine shows in the tail.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

ROOMS = ("FloorPlan1", "FloorPlan10", "FloorPlan205", "FloorPlan310", "FloorPlan420")
WALK = ("RotateRight", "MoveAhead", "MoveAhead", "RotateLeft", "MoveAhead", "RotateRight")
STEPS = 48


def main() -> None:
    """Print one JSON object."""
    # The simulator inherits it.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rgb = [*steps({})]
    every = [*steps({"renderDepthImage": True, "renderInstanceSegmentation": True})]
    figures = {
        "rgb_per_second": figure(rgb, ">= 25", "navigation steps with RGB and shadow, one core"),
        "all_per_second": figure(every, ">= 18", "the same with depth and instance masks too"),
    }
    print(json.dumps(figures))  # noqa: T201


def figure(seconds: list[float], bound: str, what: str) -> dict[str, Any]:
    """One row of the table."""
    return {
        "value": 1 / statistics.median(seconds),
        "unit": "steps/s",
        "bound": bound,
        "what": what,
    }


def steps(sensors: dict[str, bool]) -> Iterator[float]:
    """Seconds of each step."""
    from ai2thor.controller import Controller

    from envs.household.launcher import executable

    controller = Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_timeout=None,
        scene=ROOMS[0],
        width=300,
        height=300,
        gridSize=0.25,
        **sensors,
    )
    with closing(_Stopping(controller)):
        for room in ROOMS:
            controller.reset(room)
            for number in range(STEPS):
                start = time.perf_counter()
                event = controller.step(WALK[number % len(WALK)])
                _take(event)
                if number >= len(WALK):  # those before are the room's first looks
                    yield time.perf_counter() - start


def _take(event: Any) -> None:
    assert event.frame.shape == (300, 300, 3)
    if event.depth_frame is not None:
        for thing in event.metadata["objects"]:
            if thing["visible"]:
                event.instance_masks[thing["objectId"]].sum()


class _Stopping:
    def __init__(self, controller: Any) -> None:
        self.close = controller.stop


if __name__ == "__main__":
    main()
