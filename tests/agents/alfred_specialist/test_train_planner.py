"""The script that makes the planner of the box goes through all of its stages."""

import subprocess
import sys
from pathlib import Path

import pytest

from inhabit.agents.alfred_specialist.ranker.model import load

SCRIPT = Path(__file__).parents[3] / "scripts" / "train_planner"


@pytest.mark.slow  # three minutes
@pytest.mark.timeout(3600)
def test_it_makes_a_box_and_does_nothing_twice(tmp_path: Path) -> None:
    command = [sys.executable, SCRIPT, "--share", "0.01", "--seed", "5", "--out", tmp_path]
    for _ in range(2):
        subprocess.run(command, check=True, cwd=SCRIPT.parents[1])
    said = (tmp_path / "log.txt").read_text()
    assert said.count("proof:") == 1
    assert load(tmp_path / "box", "x").eyes is not None
