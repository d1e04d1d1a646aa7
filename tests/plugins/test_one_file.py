"""A new metric and a new export format are one file each."""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from installed import install

import inhabit
from inhabit.cli import main
from inhabit.eie.export.tracking import episodes
from inhabit.episodes.reports.leaderboard.rows import page, rows, write_csv

SCRIPT = Path(__file__).parents[2] / "scripts/leaderboard"
METRIC = """
from inhabit.episodes.scoring.metric import RunMetric

def quick(ended):
    return sum(one.end.steps <= 3 for one in ended) / len(ended) if ended else None

METRIC = RunMetric("quick_rate", "quick <episodes>", quick, lambda ended: (0.0, 1.0))
"""
BROKEN = """
from inhabit.episodes.scoring.metric import RunMetric
METRIC = RunMetric("broken_rate", "broken", lambda ended: 1 / 0)
"""
EXPORT = """
from inhabit.eie.export.exporter import Exporter

def write(examples_or_demonstrations, *folders):
    found = list(examples_or_demonstrations)
    (folders[-1] / "goals.txt").write_text("\\n".join(
        getattr(one, "goal", None) or one.task.goal for one in found))
    return len(found)

EXPORTER = Exporter("goals", "the goals alone", write_run=write, write_set=write, unit="goal")
"""


pytestmark = pytest.mark.filterwarnings("ignore:The metric 'broken_rate'")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    install(folder, "a_metric", METRIC, {"inhabit.metrics": {"quick_rate": "a_metric:METRIC"}})
    install(folder, "no_metric", BROKEN, {"inhabit.metrics": {"broken_rate": "no_metric:METRIC"}})
    install(folder, "an_export", EXPORT, {"inhabit.exporters": {"goals": "an_export:EXPORTER"}})
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    return folder


def call(capsys: Any, *words: object) -> tuple[str, str]:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    said = capsys.readouterr()
    assert left.value.code == 0, said.err
    return said.out, said.err


def test_a_metric_of_a_package_is_wherever_ours_are(
    site: Path, tmp_path: Path, capsys: Any
) -> None:
    run = tmp_path / "runs" / "run"
    words = ("run", "toy", "--agent", "expert", "--n", 4, "--set", "in_process=true", "--out", run)
    with pytest.warns(UserWarning, match="'broken_rate' raised ZeroDivisionError"):
        said, _ = call(capsys, *words)
    assert "quick <episodes>" in said and "broken" not in said
    found = json.loads(call(capsys, *words, "--json")[0])
    ends = [episode.end() for episode in inhabit.read_run(run).run.episodes()]
    share = sum(end.steps <= 3 for end in ends) / 4
    assert found["quick_rate"] == share and found["quick_interval"] == [0.0, 1.0]
    assert inhabit.read_run(run).scores.quick_rate == share
    *_, (_, tracked) = episodes(inhabit.read_run(run).run)
    assert tracked["run/quick_rate"] == share and "run/broken_rate" not in tracked
    call(capsys, "show", run)
    assert "Quick &lt;episodes&gt;" in (run / "index.html").read_text()
    board = rows(run.parent)
    assert "<th>quick &lt;episodes&gt;</th>" in page(board)
    stream = io.StringIO()
    write_csv(board, stream)
    (line,) = csv.DictReader(io.StringIO(stream.getvalue()))
    assert [line["quick_rate"], line["quick_high"]] == [str(share), "1.0"]
    words = (sys.executable, SCRIPT, run.parent, tmp_path / "board.csv")
    path = os.pathsep.join(map(str, (site, *filter(None, [os.environ.get("PYTHONPATH")]))))
    board = subprocess.run(
        words, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    broken, written = board.stderr.splitlines()
    assert broken.startswith("The metric 'broken_rate' raised ZeroDivisionError")
    assert written.startswith("1 runs in")


@pytest.mark.parametrize(
    ("metric", "warning"),
    [
        ("RunMetric('steps', 'how many', len)", "'steps' .* is one of another figure"),
        ("RunMetric('success', 'how many', len, lambda e: (0, 1))", "is one of another figure"),
        ("RunMetric('none_rate', 'n', lambda e: float('nan'))", "'none_rate' gave nan"),
        ("RunMetric('odd_rate', 'o', lambda e: 1, lambda e: 'ab')", "'odd_rate' raised ValueError"),
    ],
)
def test_a_metric_that_is_wrong_costs_a_warning(
    metric: str, warning: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    name = metric.split("'")[1]
    text = f"from inhabit.episodes.scoring.metric import RunMetric\nMETRIC = {metric}\n"
    install(tmp_path, "wrong_metric", text, {"inhabit.metrics": {name: "wrong_metric:METRIC"}})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "wrong_metric", raising=False)
    importlib.invalidate_caches()
    words = ("run", "toy", "--agent", "expert", "--n", 2, "--set", "in_process=true")
    with pytest.warns(UserWarning, match=warning):
        said, told = call(capsys, *words, "--out", tmp_path / "run", "--json")
    assert json.loads(said.splitlines()[-1])["success_interval"] != [0.0, 1.0]
    assert "how many" not in told and "nan" not in told


def test_a_format_of_a_package_is_of_runs_and_of_sets(
    site: Path, tmp_path: Path, capsys: Any
) -> None:
    call(capsys, "run", "toy", "--agent", "expert", "--n", 2, "--set", "in_process=true",
         "--out", tmp_path / "run")  # fmt: skip
    call(capsys, "synth", "toy", "--n", 2, "--seed", 3, "--out", tmp_path / "set")
    for source in ("run", "set"):
        out = tmp_path / f"{source} exported"
        said, _ = call(capsys, "export", tmp_path / source, "--format", "goals", "--out", out)
        goals = (out / "goals.txt").read_text().splitlines()
        assert said.split()[:3] == ["Exported", str(len(goals)), "goals"] and len(goals) >= 2
