"""Steps per second in the embedded household with one, two and eight workers.

Counted while all workers are at work: starting simulators takes seconds, and is not what is asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from inhabit.episodes.recording.reader import Run, read_lines
from inhabit.episodes.recording.schema import ActLine, EndLine, SeeLine

INHABIT = Path(sys.executable).with_name("inhabit")
EPISODES = {1: 4, 2: 8, 8: 24}
"""Workers -> episodes, so that all of them are at work for a while."""


def main() -> None:
    """Print the figures."""
    rates = {workers: measure(workers) for workers in EPISODES}
    cores = len(os.sched_getaffinity(0))
    load = f"load {os.getloadavg()[0]:.1f} on {cores} cores"
    figures = {
        "steps_per_s": {
            "value": round(rates[1], 2),
            "unit": "steps/s",
            "bound": "",
            "what": "one worker, random agent, household at 300x300",
            "baseline": load,
        },
        "two_workers": {
            "value": round(rates[2] / rates[1], 2),
            "unit": "x",
            "bound": ">= 1.5",
            "what": "throughput of 2 workers over that of one",
            "baseline": load,
        },
        "eight_workers": {
            "value": round(rates[8] / rates[2], 2),
            "unit": "x",
            "bound": ">= 0.9",
            "what": "throughput of 8 workers over that of two",
            "baseline": load,
        },
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(workers: int) -> float:
    """Steps per second while `workers` episodes are being played."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "alfred", "--agent", "random", "--n", str(EPISODES[workers])]
        words += ["--workers", str(workers), "--max-steps", "25", "--set", "max_invalid=25"]
        ran = [str(INHABIT), *words, "--out", folder]
        subprocess.run(ran, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return rate(Run.open(folder), workers)


def rate(run: Run, workers: int) -> float:
    """Steps per second between the first sight of the last worker and the end of the first."""
    lines = [line for episode in run.episodes() for line in read_lines(episode.file, run.folder)]
    begun = sorted(line.time for line in lines if isinstance(line, SeeLine) and line.step == 0)
    ended = sorted(line.time for line in lines if isinstance(line, EndLine))
    # From then on an episode less than there are workers may be under way.
    first, last = begun[workers - 1], ended[-workers]
    steps = sum(isinstance(line, ActLine) and first < line.time <= last for line in lines)
    return steps / (last - first)


if __name__ == "__main__":
    main()
