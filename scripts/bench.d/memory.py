"""Memory of a worker with one room: the environment, the client and the simulator together."""

from __future__ import annotations

import json
import os

import psutil

from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.registry import find

LIMIT_MB = 600


def main() -> None:
    """Play a few steps in a kitchen, then add up what the worker and its children hold."""
    registration = find("alfred")
    task = next(iter(registration.sample(1, 0, registration.settings())))
    before = {p.pid for p in psutil.Process(os.getpid()).children(recursive=True)}
    with WorkerEnv("alfred", "embedded", {}) as env:
        env.reset(task, seed=0)
        for action in list(env.actions())[:5]:
            env.act(action)
            env.observe()
        family = [
            p for p in psutil.Process(os.getpid()).children(recursive=True) if p.pid not in before
        ]
        # Proportional: what two processes share counts once.
        total = sum(p.memory_full_info().pss for p in family) / 2**20
    figure = {
        "value": round(total, 1),
        "unit": "MB",
        "bound": f"<= {LIMIT_MB}",
        "what": f"a worker with one room, {len(family)} processes",
    }
    print(json.dumps({"worker": figure}))


if __name__ == "__main__":
    main()
