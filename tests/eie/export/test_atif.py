"""Runs in ATIF, read by the models of the package `atif`."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
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


def played(folder: Path, env: str = "toy", n: int = N, **settings: Any) -> None:
    for agent in ("expert", "random"):
        told = {"in_process": True, **settings}
        inhabit.run(env, agent, folder / f"{env}-{agent}", n=n, max_steps=6, settings=told)


def call(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


def exported(folder: Path, env: str = "toy") -> list[Path]:
    played(folder / "runs", env)
    assert call("export", folder / "runs", "--format", "atif", "--out", folder / "out") == 0
    return sorted((folder / "out").glob("*.json"))


def content(folder: Path) -> Mapping[Path, bytes]:
    """Every file below a folder, but for the list that is made anew from the records."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "index.jsonl"]
    return {file.relative_to(folder): file.read_bytes() for file in files}


def test_each_episode_is_a_file_with_its_images_by_digest(tmp_path: Path) -> None:
    files = exported(tmp_path)
    assert len(files) == 2 * N
    told: dict[str, Any] = json.loads(files[0].read_text())
    attempt = Run.open(tmp_path / "runs" / "toy-expert").episode(0).last()
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


def test_an_import_is_the_run_that_was_exported(tmp_path: Path) -> None:
    files = exported(tmp_path)
    assert call("import", tmp_path / "out", "--out", tmp_path / "back") == 0
    assert content(tmp_path / "back") == content(tmp_path / "runs")
    assert call("replay", tmp_path / "back" / "toy-expert") == 0
    files[0].write_text(files[0].read_text().replace(".jpg", ".png"))
    assert call("import", tmp_path / "out", "--out", tmp_path / "broken") == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("session_id", "../elsewhere"),
        ("steps", []),
        ("final_metrics", {"extra": {"ending": "success"}}),
        ("extra", {}),
    ],
)
def test_what_is_no_episode_of_ours_is_refused(
    tmp_path: Path, field: str, value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    file, *others = exported(tmp_path)
    told = json.loads(file.read_text())
    file.write_text(json.dumps({**told, field: value}))
    assert call("import", tmp_path / "out", "--out", tmp_path / "back") == 2
    assert file.name in capsys.readouterr().err
    assert len(others) == 2 * N - 1 and not (tmp_path / "elsewhere").exists()


def test_an_image_that_was_changed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exported(tmp_path)
    first, second, *_ = sorted((tmp_path / "out" / "images").iterdir())
    shutil.copy(second, first)
    assert call("import", tmp_path / "out", "--out", tmp_path / "back") == 2
    assert first.name in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("env", ["toy", "alfred", "virtualhome", "thor_nav", "alfworld"])
def test_twelve_episodes_of_each_environment_come_back(tmp_path: Path, env: str) -> None:
    small = {} if env == "toy" else {"width": 96, "height": 96}
    direct = {"wire": "none"} if env in ("alfred", "alfworld") else {}
    played(tmp_path / "runs", env, 6, **small, **direct)
    for name in ("out", "again"):
        source = tmp_path / ("runs" if name == "out" else "back")
        assert call("export", source, "--format", "atif", "--out", tmp_path / name) == 0
        if name == "out":
            assert call("import", tmp_path / "out", "--out", tmp_path / "back") == 0
    assert content(tmp_path / "again") == content(tmp_path / "out")
    assert content(tmp_path / "back") == content(tmp_path / "runs")


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
