"""Runs anybody's environment in a separate process: its own interpreter, deadlines, and no orphans.

To the episode runner a worker (`env.py`) is just an `Env`:

    with WorkerEnv("toy", "grid", {"pixels": 96}, deadline=10) as env:
        env.reset(task, seed=0)
"""
