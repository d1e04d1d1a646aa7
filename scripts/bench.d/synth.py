"""Examples that EIE keeps a second of processor time, and the memory that it grows by meanwhile.

Usage beside `scripts/bench synth`: scripts/bench.d/synth.py [N]   (300 examples by default)
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

INHABIT = Path(sys.executable).with_name("inhabit")
EXAMPLES = 300
EARLY = 100
"""Examples after which the memory is first looked at."""


def main() -> None:
    """Print the figures."""
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES
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
        spent: dict[int, float] = {}
        early = late = 0.0
        while running.poll() is None:
            memory = _look(psutil.Process(running.pid), spent)
            if EARLY <= _count(out) < examples:
                early, late = early or memory, memory
            time.sleep(0.2)
        assert running.stdout is not None
        answer = running.stdout.read().splitlines()
        if running.returncode != 0:
            raise RuntimeError(f"The set ended with {running.returncode}.")
        return json.loads(answer[-1])["kept"], sum(spent.values()), early, late


def _look(top: psutil.Process, spent: dict[int, float]) -> float:
    """Note what each process has spent, by its id; the MB that they hold together."""
    memory = 0.0
    for one in (top, *_children(top)):
        try:
            times = one.cpu_times()
            spent[one.pid] = times.user + times.system
            memory += one.memory_info().rss / 2**20
        except psutil.NoSuchProcess:  # It has ended meanwhile; what it spent is noted.
            continue
    return memory


def _children(top: psutil.Process) -> list[psutil.Process]:
    try:
        return top.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _count(out: Path) -> int:
    lines = out / "examples.jsonl"
    return lines.read_bytes().count(b"\n") if lines.exists() else 0


if __name__ == "__main__":
    main()
