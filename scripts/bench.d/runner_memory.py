"""Memory of the runner from the 10th episode to the 1,000th: it should stay where it is."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

INHABIT = Path(sys.executable).with_name("inhabit")
EPISODES = 1000


def main() -> None:
    """Print the figure."""
    early, late = measure()
    figure = {
        "value": round(late - early, 1),
        "unit": "MB",
        "bound": "<= 20",
        "what": f"growth of the runner from episode 10 ({early:.0f} MB) to {EPISODES}",
    }
    sys.stdout.write(json.dumps({"growth": figure}) + "\n")


def measure() -> tuple[float, float]:
    """Resident memory in MB after 10 episodes and after nearly all."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "toy", "--agent", "random", "--n", str(EPISODES), "--out", folder]
        words += ["--set", "frames=false"]
        running = subprocess.Popen(
            [str(INHABIT), *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        runner = psutil.Process(running.pid)
        early = late = 0.0
        while running.poll() is None:
            ended = _ended(Path(folder))
            memory = runner.memory_info().rss / 2**20 if ended else 0.0
            early = early or (memory if ended >= 10 else 0.0)
            # Not once all have ended: then the runner reads the whole run to score it.
            late = memory if EPISODES - 50 <= ended < EPISODES else late
            time.sleep(0.1)
        if running.returncode != 0:
            raise RuntimeError(f"The run ended with {running.returncode}.")
        return early, late


def _ended(folder: Path) -> int:
    index = folder / "index.jsonl"
    return index.read_bytes().count(b"\n") if index.exists() else 0


if __name__ == "__main__":
    main()
