"""Runs anybody's environment in a separate process: its own interpreter, deadlines, and no orphans.

To the episode runner a worker is just an `Env`:

    with WorkerEnv("toy", "grid", {"pixels": 96}, deadline=10) as env:
        env.reset(task, seed=0)
"""

from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.host.link import WorkerError

__all__ = ["WorkerEnv", "WorkerError"]
