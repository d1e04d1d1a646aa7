"""Examples that EIE keeps a second of processor time, and the memory that it grows by meanwhile.

Usage beside `scripts/bench synth`: scripts/bench.d/synth.py [N]   (300 examples by default)
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil

INHABIT = Path(sys.executable).with_name("inhabit")
EXAMPLES = 300
EARLY = 100
"""Examples after which the memory is first looked at."""


def main() -> None:
    """Print the figures."""
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
    if examples < 2 * EARLY:
        sys.exit(f"{examples} examples are too few to tell the growth: say {2 * EARLY} or more.")
    kept, seconds, early, late = measure(examples)
    figures = {
        "kept_per_second": {
            "value": round(kept / seconds, 2),
            "unit": "1/s",
            "bound": ">= 8",
            "what": f"{kept} examples of alfred, 300x300, by processor time of all processes",
        },
        "growth": {
            "value": round(late - early, 1),
            "unit": "MB",
            "bound": "<= 50",
            "what": f"of all processes from example {EARLY} ({early:.0f} MB) to the last",
        },
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(examples: int) -> tuple[int, float, float, float]:
    """Make a set.

    Returns:
        Examples kept, seconds of processor time, and MB of memory early and late.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "set"
        words = ["synth", "alfred", "--n", str(examples), "--seed", "11", "--out", str(out)]
        running = subprocess.Popen(
            [str(INHABIT), *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        early = late = 0.0
        while running.poll() is None:
            memory = _memory(running.pid)
            if EARLY <= _count(out) < examples:
                early, late = early or memory, memory
            time.sleep(0.2)
        assert running.stdout is not None
        answer = running.stdout.read().splitlines()
        if running.returncode != 0:
            raise RuntimeError(f"The set ended with {running.returncode}.")
        if not early:
            raise RuntimeError("It was over before the memory was looked at.")
        # All that it started, and waited for in its turn.
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return json.loads(answer[-1])["kept"], used.ru_utime + used.ru_stime, early, late


def _memory(pid: int) -> float:
    """MB of a process and all below it; of those that have ended meanwhile nothing."""
    memory = 0.0
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        for one in (top, *top.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                memory += one.memory_info().rss / 2**20
    return memory


def _count(out: Path) -> int:
    lines = out / "examples.jsonl"
    return lines.read_bytes().count(b"\n") if lines.exists() else 0


if __name__ == "__main__":
    main()
