"""The packages in `examples/` are built, installed and run as a stranger would."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

pytestmark = pytest.mark.slow  # installing four packages takes ten seconds
EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("keydoor", "keydoor_planner", "export_csv", "keydoor_benchmark")
INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all of them installed, without a network."""
    built = tmp_path_factory.mktemp("sources")
    target = tmp_path_factory.mktemp("site")
    sources = [shutil.copytree(EXAMPLES / name, built / name) for name in NAMES]
    flags = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--target", str(target))
    command = [sys.executable, "-m", "pip", "install", *flags, *map(str, sources)]
    subprocess.run(command, check=True, timeout=PATIENCE)
    return target


@pytest.fixture(scope="module")
def played(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the benchmark by the example planner."""
    folder = tmp_path_factory.mktemp("runs")
    words = ("run", "keydoor", "--agent", "keydoor_planner", "--tasks", "keydoor-v1")
    said = inhabit(site, folder, *words, "--out", "run", "--json")
    (folder / "scores.json").write_text(json.dumps(said))
    return folder


def python(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path}
    said = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        timeout=PATIENCE,
    )
    assert said.returncode == 0, said.stderr + said.stdout
    return said


def inhabit(site: Path, folder: Path, *words: str) -> Any:
    said = python(site, folder, *INHABIT[1:], *words)
    return json.loads(said.stdout.splitlines()[-1]) if "--json" in words else said.stdout


def names(rows: Sequence[Any]) -> set[str]:
    return {row["name"] for row in rows}


def test_they_are_listed(site: Path, tmp_path: Path) -> None:
    listed = inhabit(site, tmp_path, "envs", "--json")
    assert "keydoor" in names(listed["envs"]) and listed["broken"] == []
    assert "keydoor_planner" in names(inhabit(site, tmp_path, "agents", "--json")["agents"])


def test_the_environment_keeps_its_contract(site: Path, tmp_path: Path) -> None:
    test = str(EXAMPLES / "keydoor" / "test_keydoor.py")
    said = python(
        site, tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, test
    )
    assert "passed" in said.stdout and "failed" not in said.stdout


def test_the_expert_solves_it_in_the_least_steps(site: Path, tmp_path: Path) -> None:
    words = ("run", "keydoor", "--agent", "expert", "--n", "6", "--out", "expert", "--json")
    scores = inhabit(site, tmp_path, *words)
    assert scores["success_rate"] == 1.0 and scores["plw_success_rate"] == 1.0


def test_the_planner_plays_the_benchmark(played: Path) -> None:
    scores = json.loads((played / "scores.json").read_text())
    assert scores["success_rate"] == 1.0 and scores["episodes"] == 12
    assert scores["benchmark"]["name"] == "keydoor-v1"
    assert scores["benchmark"]["metrics"] == {"keys taken": 1.0}


def test_pages_are_made(site: Path, played: Path) -> None:
    inhabit(site, played, "show", "run")
    assert "keydoor" in (played / "run" / "index.html").read_text()


def test_it_is_exported_as_a_table(site: Path, played: Path) -> None:
    inhabit(site, played, "export", "run", "--format", "csv", "--out", "table")
    with (played / "table" / "steps.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["episode"] for row in rows} == {str(number) for number in range(12)}
    assert rows[-1]["action"] == "unlock the door"


def test_examples_are_made_of_moves_in_directions(site: Path, tmp_path: Path) -> None:
    words = ("synth", "keydoor", "--n", "3", "--seed", "7", "--set", "in_process=true")
    assert inhabit(site, tmp_path, *words, "--out", "set", "--json")["kept"] >= 3
    lines = (tmp_path / "set" / "examples.jsonl").read_text().splitlines()
    answers = {made["candidates"][made["answer"]] for made in map(json.loads, lines)}
    assert {answer.split()[0] for answer in answers} >= {"go"} and len(answers) >= 3


def test_a_changed_benchmark_is_refused(site: Path, tmp_path: Path) -> None:
    changed = tmp_path / "site"
    shutil.copytree(site, changed)
    (changed / "keydoor_benchmark" / "keydoor-v1.jsonl").write_text("{}\n")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(changed), os.environ.get("PYTHONPATH", "")]),
    }
    words = ["run", "keydoor", "--agent", "random", "--tasks", "keydoor-v1", "--out", "run"]
    said = subprocess.run(
        [*INHABIT, *words],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        timeout=PATIENCE,
    )
    assert said.returncode == 2
    assert "differs from the frozen task set 'keydoor-v1'" in " ".join(said.stderr.split())


def test_the_commands_of_the_guide_work(site: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(EXAMPLES)
    guide = (EXAMPLES.parent / "docs" / "extending.md").read_text()
    commands = [line for line in guide.splitlines() if line.startswith("inhabit ")]
    assert len(commands) >= 8
    for command in commands:
        inhabit(site, tmp_path, *command.split()[1:])
    assert (tmp_path / "runs" / "keydoor" / "index.html").exists()
