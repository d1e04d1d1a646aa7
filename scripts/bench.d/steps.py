"""Steps a second through AI2-THOR's unmodified client, simulator and client on one core.

A navigation step is a step ahead or a turn, in rooms of every kind; images are 300x300 with
shadows, and where masks are asked for, that of every visible object is taken. What counts is the
median of all steps by the clock; beside it stands the rate by processor time alone, which other
work on the machine does not touch.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import sys
import time
from typing import Any

import psutil
from ai2thor.controller import Controller

from inhabit.envs.simulators.household.launcher import executable

ROOMS = ("FloorPlan1", "FloorPlan10", "FloorPlan205", "FloorPlan310", "FloorPlan420")
WALK = ("RotateRight", "MoveAhead", "MoveAhead", "RotateLeft", "MoveAhead", "RotateRight")
STEPS = 48


def main() -> None:
    """Print the figures."""
    # The simulator inherits it.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    figures = {
        "rgb": rate(">= 25", "navigation, RGB with shadow, one core", {}),
        "rgb_depth_ids": rate(
            ">= 18",
            "the same with depth and masks",
            {"renderDepthImage": True, "renderInstanceSegmentation": True},
        ),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def rate(bound: str, what: str, sensors: dict[str, bool]) -> dict[str, Any]:
    """Steps a second, by the clock and by processor time."""
    seconds, busy = [], 0.0
    with _client(sensors) as controller:
        simulator = psutil.Process(controller.unity_pid)
        for room in ROOMS:
            controller.reset(room)
            for action in WALK:  # a room's first looks, which prepare what is drawn
                controller.step(action)
            before = _busy(simulator)
            for number in range(STEPS):
                start = time.perf_counter()
                _take(controller.step(WALK[number % len(WALK)]))
                seconds.append(time.perf_counter() - start)
            busy += _busy(simulator) - before
    return {
        "value": 1 / statistics.median(seconds),
        "unit": "steps/s",
        "bound": bound,
        "what": what,
        "baseline": f"{len(seconds) / busy:.1f} by processor time",
    }


def _client(sensors: dict[str, bool]) -> Controller:
    return Controller(
        local_executable_path=shlex.quote(str(executable())),
        x_display=":0",
        server_timeout=None,
        scene=ROOMS[0],
        width=300,
        height=300,
        gridSize=0.25,
        **sensors,
    )


def _busy(simulator: psutil.Process) -> float:
    """Seconds of processor time that client and simulator have had."""
    times = simulator.cpu_times()
    return time.process_time() + times.user + times.system


def _take(event: Any) -> None:
    """Use the event as an environment does."""
    assert event.frame.shape == (300, 300, 3)
    if event.depth_frame is not None:
        assert event.depth_frame.shape == (300, 300)
        for thing in event.metadata["objects"]:
            if thing["visible"]:
                assert event.instance_masks[thing["objectId"]].any()


if __name__ == "__main__":
    main()
