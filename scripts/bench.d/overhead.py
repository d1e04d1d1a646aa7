"""What a step costs that is neither simulator nor model, with everything recorded.

The toy house with images of 300x300 and the embedded household, in a worker as always, one
episode at a time; and the toy eight at once, where the wait for a turn of the processor is counted
too. The planner sees twelve images a look; its own time is the model's. Beside the time stands the
runner's own processor time per step, which says the same on a machine that others keep busy:
simulators are other programs, and nobody is asked. With the planner it holds the model's too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

INHABIT = Path(sys.executable).with_name("inhabit")
TOY = ("toy", "--n", "60", "--set", "pixels=300", "--set", "max_invalid=20")
HOUSEHOLD = ("alfred", "--n", "10", "--max-steps", "20", "--set", "max_invalid=20")
PLANNER = ("alfred", "--agent", "planner", "--n", "7", "--set", "split=test")


@dataclass(frozen=True, slots=True)
class Measured:
    """Of one run."""

    steps: int
    overhead_ms: float
    """Median, by the clock."""
    processor_ms: float
    """Mean of the runner's own, over all threads: images are packed and written on some."""


def main() -> None:
    """Print the figures."""
    figures = {
        **told("step_ms", "the toy", measure(*TOY)),
        **told("household_step_ms", "the household", measure(*HOUSEHOLD)),
        **told("planner_step_ms", "the planner in the household", measure(*PLANNER), bound="<= 4"),
        **told("step_ms_8_workers", "8 toys at once", measure(*TOY, "--workers", "8"), bound=""),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def told(name: str, where: str, found: Measured, bound: str = "<= 3") -> dict[str, object]:
    """Both figures of a run."""
    return {
        name: {
            "value": round(found.overhead_ms, 2),
            "unit": "ms",
            "bound": bound,
            "what": f"median overhead of {found.steps} steps of {where}, recording on",
        },
        f"{name}_processor": {
            "value": round(found.processor_ms, 2),
            "unit": "ms",
            # With the planner it holds the model's, which is not overhead.
            "bound": "" if "planner" in where else bound,
            "what": "the runner's processor time for a step of these",
        },
    }


def measure(*words: str) -> Measured:
    """Run `inhabit run` with these words."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(INHABIT), "run", "--agent", "random", *words, "--json", "--out", folder]
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        runner = psutil.Process(running.pid)
        first = last = (0, 0.0)
        while running.poll() is None:
            now = (_steps(Path(folder)), sum(runner.cpu_times()[:2]))
            if now[0] > last[0]:  # an episode has ended
                first, last = (first if first[0] else now), now
            time.sleep(0.01)
        assert running.stdout is not None
        said = running.stdout.read()
    if running.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {running.returncode}.")
    figures = json.loads(said.splitlines()[-1])
    processor = 1000 * (last[1] - first[1]) / (last[0] - first[0])
    return Measured(figures["steps"], figures["overhead_ms_p50"], processor)


def _steps(folder: Path) -> int:
    """Of the episodes that have ended."""
    index = folder / "index.jsonl"
    lines = index.read_bytes().splitlines(keepends=True) if index.exists() else []
    return sum(json.loads(line)["end"]["steps"] for line in lines if line.endswith(b"\n"))


if __name__ == "__main__":
    main()
