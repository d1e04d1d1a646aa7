"""Sixty-four rooms in one process: memory, and what a second core adds."""

from __future__ import annotations

import json
import os
import sys
import time
from statistics import median

import psutil

from inhabit.envs.simulators.household.batch import Batch
from inhabit.envs.simulators.household.rooms.ithor import SCENES

ROOMS, ROUNDS = 64, 5
TURN = {"action": "RotateRight", "degrees": 10}


def main() -> None:
    """Print the figures."""
    scenes = SCENES[: ROOMS // 2] + SCENES[-ROOMS // 2 :]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with Batch(scenes, threads=2) as batch:
        batch.observe()
        rates = [(in_turn(batch), together(batch)) for _ in range(ROUNDS)]
    memory = psutil.Process().memory_info().rss / 1e9
    figures = {
        "memory": figure(memory, "GB", "<= 3", f"{ROOMS} rooms in one process, 300x300"),
        "rate": figure(median(both for _, both in rates), "steps/s", "", "on two cores"),
        "gain": figure(
            median(both / alone for alone, both in rates),
            "x",
            ">= 1.8",
            "two threads over one core",
        ),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def together(batch: Batch) -> float:
    """Steps a second by the clock, each with a new image."""
    start = time.perf_counter()
    batch.act([TURN] * ROOMS)
    batch.observe()
    return ROOMS / (time.perf_counter() - start)


def in_turn(batch: Batch) -> float:
    """The same, one room after the other in this thread."""
    start = time.perf_counter()
    for simulator in batch.simulators:
        simulator.act(TURN)
        simulator.frame()
    return ROOMS / (time.perf_counter() - start)


def figure(value: float, unit: str, bound: str, what: str) -> dict[str, object]:
    """One figure as scripts/bench reads it."""
    return {"value": round(value, 2), "unit": unit, "bound": bound, "what": what}


if __name__ == "__main__":
    main()
