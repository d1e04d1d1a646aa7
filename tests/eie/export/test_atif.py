"""Runs in ATIF, read by the models of the package `atif`."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

import inhabit
from inhabit.cli import main
from inhabit.episodes.recording.reader import Run

N = 2
READ = """
import json, sys
from pathlib import Path
from atif import Trajectory
for file in sys.argv[1:]:
    told = json.loads(Path(file).read_text())
    assert Trajectory.model_validate(told).has_multimodal_content()
    assert len(told["steps"]) > 1
"""


def exported(folder: Path, env: str = "toy") -> list[Path]:
    for agent in ("expert", "random"):
        settings = {"in_process": True}
        inhabit.run(env, agent, folder / "runs" / agent, n=N, max_steps=6, settings=settings)
    with pytest.raises(SystemExit) as left:
        main(["export", str(folder / "runs"), "--format", "atif", "--out", str(folder / "out")])
    assert left.value.code == 0
    return sorted((folder / "out").glob("*.json"))


def test_each_episode_is_a_file_with_its_images_by_digest(tmp_path: Path) -> None:
    files = exported(tmp_path)
    assert len(files) == 2 * N
    told: dict[str, Any] = json.loads(files[0].read_text())
    attempt = Run.open(tmp_path / "runs" / "expert").episode(0).last()
    assert attempt is not None and attempt.end is not None
    acted = [step.act for step in attempt.steps if step.act]
    results = [s["observation"]["results"][0] for s in told["steps"] if s["source"] == "agent"]
    assert [one["content"][0]["text"] for one in results] == [one.feedback for one in acted]
    assert told["final_metrics"]["extra"]["success"] is attempt.end.success is True
    contents = [told["steps"][0]["message"], *(one["content"] for one in results)]
    shown = [p["source"]["path"] for parts in contents for p in parts if p["type"] == "image"]
    assert len(shown) == len(attempt.steps)
    for path in shown:
        content = (tmp_path / "out" / path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == Path(path).stem


@pytest.mark.slow
def test_the_package_reads_them(tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(site),
        "atif==1.8.0",
    ]
    subprocess.run(pip, check=True, timeout=PATIENCE)
    files = [str(file) for env in ("toy", "thor_nav") for file in exported(tmp_path / env, env)]
    subprocess.run([sys.executable, "-c", READ, *files], check=True, env={"PYTHONPATH": str(site)})
