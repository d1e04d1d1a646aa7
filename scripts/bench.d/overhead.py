"""What a step costs that is neither simulator nor model, with everything recorded.

The toy house with pictures of 300x300, in a worker as always, one episode at a time; and eight at
once, where the wait for a turn of the processor is counted too.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

INHABIT = Path(sys.executable).with_name("inhabit")


def main() -> None:
    """Print the figures."""
    alone, crowd = measure(workers=1), measure(workers=8)
    figures = {
        "step_ms": {
            "value": alone["overhead_ms_p50"],
            "unit": "ms",
            "bound": "<= 3",
            "what": f"median overhead of {alone['steps']} steps, recording on",
        },
        "step_ms_8_workers": {
            "value": crowd["overhead_ms_p50"],
            "unit": "ms",
            "bound": "",
            "what": f"the same with 8 episodes at once, {crowd['steps']} steps",
        },
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(*, workers: int) -> dict[str, float]:
    """The figures of a run of 40 episodes."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "toy", "--agent", "random", "--n", "40", "--workers", str(workers)]
        words += ["--set", "pixels=300", "--set", "max_invalid=20", "--json", "--out", folder]
        ran = subprocess.run(
            [str(INHABIT), *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    found: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
