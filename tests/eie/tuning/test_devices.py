"""Several processes, as `accelerate launch` starts one for each GPU, take the same steps as one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inhabit.eie.tuning.log import lines
from tests.agents.models.local.tiny import save_llava
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import weights

PROGRAM = """
import os, pathlib, sys
from inhabit.cli import main
pathlib.Path(sys.argv[0]).with_suffix(".rank" + os.environ.get("RANK", "0")).touch()
main()
"""
SETTINGS = {"device": "cpu", "dtype": "float32", "batch": 6, "epochs": 1, "rate": 0.01}


def tune(made: Path, base: Path, out: Path, *launch: str, processes: int = 1) -> None:
    program = out.with_suffix(".py")
    program.write_text(PROGRAM)
    arguments = ["tune", str(made), "--base", f"local:{base}", "--out", str(out), "--json"]
    arguments += [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    done = subprocess.run(
        [sys.executable, *launch, str(program), *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["steps"] == 2
    assert all(program.with_suffix(f".rank{rank}").is_file() for rank in range(processes))


@pytest.mark.slow
def test_two_processes(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    made, base = write(tmp_path / "set", train=12, val=3), save_llava(tmp_path / "base")
    tune(made, base, tmp_path / "one")
    # `accelerate launch` starts several processes on GPUs alone; this is what it calls for them.
    launch = ("-m", "torch.distributed.run", "--nproc_per_node", "2")
    tune(made, base, tmp_path / "two", *launch, processes=2)
    one, two = (lines(tmp_path / name / "log.jsonl") for name in ("one", "two"))
    assert [line.examples for line in one] == [line.examples for line in two]
    assert [line.loss for line in one] == pytest.approx([line.loss for line in two], abs=1e-4)
    assert [line.accuracy for line in one] == [line.accuracy for line in two]
    trained, together = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name, weight in trained.items():
        torch.testing.assert_close(weight, together[name], atol=1e-4, rtol=1e-3)
