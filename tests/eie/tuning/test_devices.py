"""Several processes, as `accelerate launch` starts one for each GPU, take the same steps as one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from inhabit.eie.tuning.log import lines
from inhabit.eie.tuning.settings import TuneError
from tests.agents.models.local.tiny import save_llava
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import train, weights

PROGRAM = """
import os, pathlib, sys
from inhabit.cli import main
pathlib.Path(sys.argv[0]).with_suffix(".rank" + os.environ.get("RANK", "0")).touch()
main()
"""
SETTINGS = {"device": "cpu", "dtype": "float32", "batch": 6, "epochs": 1, "rate": 0.01}


LAUNCH = ("-m", "accelerate.commands.launch", "--num_processes", "2", "--num_machines", "1")
LAUNCH += ("--multi_gpu", "--mixed_precision", "no", "--dynamo_backend", "no")
"""`accelerate launch`; without GPUs and with ACCELERATE_USE_CPU it uses gloo on the CPU."""


def tune(made: Path, base: Path, out: Path, *launch: str, **more: object) -> None:
    program = out.with_suffix(".py")
    program.write_text(PROGRAM)
    arguments = ["tune", str(made), "--base", f"local:{base}", "--out", str(out), "--json"]
    said = {**SETTINGS, **more}.items()
    arguments += [word for key, value in said for word in ("--set", f"{key}={value}")]
    done = subprocess.run(
        [sys.executable, *launch, str(program), *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["steps"] == 2
    ranks = range(2 if launch else 1)
    assert all(program.with_suffix(f".rank{rank}").is_file() for rank in ranks)


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [{}, {"shard": True}, {"shard": True, "targets": "none", "whole": "all"}],
    ids=["replicated", "sharded", "sharded-whole"],
)
def test_two_processes(tmp_path: Path, more: dict[str, object]) -> None:
    pytest.importorskip("accelerate")
    made, base = write(tmp_path / "set", train=12, val=3), save_llava(tmp_path / "base")
    tune(made, base, tmp_path / "one", **{k: v for k, v in more.items() if k != "shard"})
    tune(made, base, tmp_path / "two", *LAUNCH, **more)
    one, two = (lines(tmp_path / name / "log.jsonl") for name in ("one", "two"))
    assert [line.examples for line in one] == [line.examples for line in two]
    assert [line.loss for line in one] == pytest.approx([line.loss for line in two], abs=1e-4)
    norms = [[line.norm for line in some if line.kind == "step"] for some in (one, two)]
    assert norms[0] == pytest.approx(norms[1], rel=1e-3)
    assert [line.accuracy for line in one] == [line.accuracy for line in two]
    trained, together = weights(tmp_path / "one"), weights(tmp_path / "two")
    for name, weight in trained.items():
        torch.testing.assert_close(weight, together[name], atol=1e-4, rtol=1e-3)
    kept = [load_file(file) for name in ("one", "two") for file in saved(tmp_path / name)]
    assert len(kept) == 2
    for name, weight in kept[0].items():
        torch.testing.assert_close(weight, kept[1][name], atol=1e-4, rtol=1e-3)


def saved(out: Path) -> list[Path]:
    """The files with the weights of a tuned model."""
    return sorted((out / "model").glob("*.safetensors"))


def test_sharding_needs_several_processes(tmp_path: Path) -> None:
    made, base = write(tmp_path / "set", train=2, val=0), save_llava(tmp_path / "base")
    with pytest.raises(TuneError, match="accelerate launch"):
        train(made, base, tmp_path / "out", shard=True)
