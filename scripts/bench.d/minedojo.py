"""How fast the voxel world is: first sight of it, a tick with an image, memory.

A tick is low-level control with its image and MineDojo's whole observation, on one core. `pause`
is how far six ticks move after two seconds of thought, beside six ticks without.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from typing import Any

import numpy as np
import psutil

from inhabit.envs.core import Task
from inhabit.envs.minedojo.interface.gym import MineDojoGym
from inhabit.envs.minedojo.luanti.world import lacking

STEPS, STARTS = 150, 3
TASK = Task(
    id="bench", env="minedojo", kind="open-ended", goal="Walk.",
    scene={"specified_biome": "plains", "world_seed": 1},
)  # fmt: skip


def main() -> None:
    """Print the figures."""
    if missing := lacking():
        sys.exit(f"Needs the Debian packages {', '.join(missing)}: run `inhabit setup minedojo`.")
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    small, large = measure(160, 256), measure(480, 640)
    figures = {
        "first": figure(small["first"], "s", "<= 4", "from reset to the first observation"),
        "steps_256x160": figure(small["rate"], "1/s", ">= 25", "ticks with picture, 256x160"),
        "steps_640x480": figure(large["rate"], "1/s", ">= 18", "ticks with picture, 640x480"),
        "memory": figure(small["memory"], "MB", "<= 450", "Luanti and Xvfb, resident, 256x160"),
        "pause": figure(small["pause"], "", "<= 1.1", "way after a pause: way without one"),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(height: int, width: int) -> dict[str, float]:
    """Figures of one size of image."""
    firsts = []
    env = MineDojoGym(TASK, image_size=(height, width))
    for _ in range(STARTS):
        begin = time.perf_counter()
        env.reset(seed=0)
        firsts.append(time.perf_counter() - begin)
    walk = env.nothing.copy()
    walk[0] = 1
    times = []
    for step in range(STEPS):
        walk[4] = 13 if step % 6 == 0 else 12
        begin = time.perf_counter()
        env.step(walk)
        times.append(time.perf_counter() - begin)
    world = env._there()
    memory = sum(psutil.Process(pid).memory_info().rss for pid in world.pids) / 2**20
    found = {
        "first": statistics.median(firsts), "rate": len(times) / sum(times), "memory": memory,
        "pause": way(env, 2.0) / way(env, 0.0),
    }  # fmt: skip
    env.close()
    return found


def way(env: MineDojoGym, pause: float) -> float:
    """Blocks that six ticks of walking backwards and forwards make, after a pause in seconds."""
    ahead = env.nothing.copy()
    ahead[0] = 1
    gone = []
    for _ in range(5):
        before, *_ = env.step(env.nothing)
        time.sleep(pause)
        for _ in range(6):
            after, *_ = env.step(ahead)
        ahead[0] = 3 - ahead[0]
        gone.append(_far(before, after))
    return statistics.median(gone)


def _far(one: dict[str, Any], two: dict[str, Any]) -> float:
    moved = two["location_stats"]["pos"] - one["location_stats"]["pos"]
    return float(np.hypot(moved[0], moved[2]))


def figure(value: float, unit: str, bound: str, what: str) -> dict[str, object]:
    """One row."""
    return {"value": round(value, 3), "unit": unit, "bound": bound, "what": what}


if __name__ == "__main__":
    main()
