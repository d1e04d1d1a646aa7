"""Experiments: the same tables however often they were stopped; locks that name changes."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from inhabit.cli import main
from inhabit.episodes.experiments.schema import digest_of, presets, read_experiment
from inhabit.episodes.experiments.tables import ResultTable
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Sight
from inhabit.episodes.scoring.builtin_metrics import clustered, hierarchical, wilson
from inhabit.episodes.scoring.sight import INSTEAD

FILE = """
name: small
environments:
  - {env: toy, tasks: {n: 3}}
agents:
  - {agent: random}
  - {name: "first", agent: rank, model: "scripted:first"}
seeds: [0, 1]
max_steps: 3
settings: {in_process: true}
prices: {"scripted:first": {read: 2, written: 10}}
published: [{env: toy, agent: A & B, success_rate: 0.5, source: nowhere}]
"""
WRITTEN = ("results.md", "results.tex", "results.csv", "experiment.lock.json")


def inhabit(*words: object, code: int = 0) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert left.value.code in (code, code or None)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "small.yaml").write_text(FILE)
    inhabit("experiment", folder / "small.yaml", "--out", folder / "out")
    return folder


def contents(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in WRITTEN]


def test_what_was_stopped_comes_to_the_same_bytes(played: Path, tmp_path: Path) -> None:
    shutil.copytree(played / "out", tmp_path / "out")
    runs = tmp_path / "out" / "runs" / "toy"
    shutil.rmtree(runs / "first" / "seed-1")
    record = runs / "random" / "seed-0" / "episodes" / "00001" / "episode.jsonl"
    record.write_text("".join(record.read_text().splitlines(keepends=True)[:4]))
    for name in WRITTEN:
        (tmp_path / "out" / name).unlink()
    inhabit("experiment", played / "small.yaml", "--out", tmp_path / "out")
    assert contents(tmp_path / "out") == contents(played / "out")
    page = (tmp_path / "out" / "index.html").read_text()
    assert "Worst episodes" in page and "A &amp; B (nowhere)" in page


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX")
def test_latex_sets_the_tables(played: Path, tmp_path: Path) -> None:
    tables = (played / "out" / "results.tex").read_text()
    whole = "\\documentclass{article}\n\\usepackage{booktabs,tabularx}\n\\begin{document}\n"
    (tmp_path / "paper.tex").write_text(f"{whole}{tables}\\end{{document}}\n")
    words = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "Overfull" not in done.stdout, done.stdout
    assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF")


def test_a_lock_is_made_again_and_names_what_is_another_one(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inhabit("reproduce", played / "out/experiment.lock.json", "--out", tmp_path / "one")
    said = capsys.readouterr()
    assert "12 of 12 episodes came out the same" in said.out
    assert "All that the result depends on is the same" in said.err
    lock = json.loads((played / "out/experiment.lock.json").read_text())
    lock["runs"][0]["depends"]["package"] = "0" * 64
    lock["runs"][0]["episodes"][2]["actions"] = "0" * 16
    (tmp_path / "lock.json").write_text(json.dumps(lock))
    inhabit("reproduce", tmp_path / "lock.json", "--out", tmp_path / "one", code=1)
    said = capsys.readouterr()
    assert "runs/toy/random/seed-0: package was 0000000000000000, is" in said.err
    assert "actions 0000000000000000 ->" in said.out and "what differs: package" in said.out


def test_runs_are_not_compared_with_themselves(
    played: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inhabit("reproduce", played / "out/experiment.lock.json", "--out", played / "out", code=2)
    assert "holds the runs of this lock" in capsys.readouterr().err


def test_a_lock_from_elsewhere_opens_no_file(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = json.loads((played / "out/experiment.lock.json").read_text())
    tasks = Run.open(played / "out/runs/toy/random/seed-0").folder / "tasks.jsonl"
    lock["experiment"]["environments"][0]["tasks"]["source"] = str(tasks)
    (tmp_path / "agent.py").write_text("raise SystemExit('It was run.')")
    lock["experiment"]["agents"].append({"agent": f"{tmp_path / 'agent.py'}:Agent", "name": "x"})
    lock["experiment"]["agents"][1]["model"] = f"scripted:{played}/replies.json"
    lock["experiment"]["agents"][0]["settings"] = {"executable": "/of/theirs"}
    lock["experiment"]["environments"].append({"env": "alfred", "name": "a", "tasks": {"n": 1}})
    (tmp_path / "lock.json").write_text(json.dumps(lock))
    inhabit("reproduce", tmp_path / "lock.json", "--out", tmp_path / "out", code=2)
    said = capsys.readouterr().err
    assert (
        str(tasks) in said
        and "replies.json" in said
        and "agent.py" in said
        and "executable=/of/theirs" in said
        and "--trust-record" in said
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("sights", ["none", "blank, none", "none, shown"])
def test_the_first_sight_compares_agents(tmp_path: Path, sights: str) -> None:
    (tmp_path / "small.yaml").write_text(f"{FILE}sights: [{sights}]\n")
    inhabit("experiment", tmp_path / "small.yaml", "--out", tmp_path / "out")
    rows = csv.DictReader((tmp_path / "out/results.csv").open())
    compared = {(row["agent"], row["sight"], row["against"]) for row in rows if row["against"]}
    first = INSTEAD[Sight(sights.partition(",")[0])]
    worth = {(name, "shown", "no images") for name in ("random", "first") if "shown" in sights}
    assert compared == {("first", sights.partition(",")[0], f"random, {first}")} | worth


def test_agents_in_files(played: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def _first(view):\n    return view.candidates[0].text\n")
    mine = f"{tmp_path}/mine.py:_first"
    inhabit("experiment", played / "small.yaml", "--agent", mine, "--out", tmp_path / "one")
    assert (tmp_path / "one/runs/toy/first/seed-0/run.json").exists()
    text = FILE.replace("agents:\n", f"agents:\n  - {{name: mine, agent: '{mine}'}}\n")
    (tmp_path / "two.yaml").write_text(text)
    words = ("experiment", tmp_path / "two.yaml", "--n", 1, "--out", tmp_path / "two")
    inhabit(*words, "--model", "scripted:noise")
    assert Run.open(tmp_path / "two/runs/toy/first/seed-0").header.model == "scripted:noise"


def test_only_names_environments_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = "agents:\n  - {agent: 'mine.py:Mine', only: [tpy]}\n"
    (tmp_path / "small.yaml").write_text(FILE.replace("agents:\n", agents))
    inhabit("experiment", tmp_path / "small.yaml", "--out", tmp_path / "out", code=2)
    assert "no environment is named 'tpy'. Did you mean: toy?" in capsys.readouterr().err


def test_a_dry_run_plays_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "strict.yaml").write_text(FILE.replace("true}", "true, max_faults: 1}"))
    inhabit("experiment", tmp_path / "strict.yaml", "--dry-run", "--n", 2)
    told = capsys.readouterr().out
    assert "first: 12 decisions of scripted:first at most" in told and "1 image" in told
    assert "Goal: " in told and "Cost at most about 0." in told
    assert [file.name for file in tmp_path.iterdir()] == ["strict.yaml"]


def test_an_address_is_given_to_every_agent_that_asks_a_model(
    played: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--dry-run", "--base-url", "http://127.0.0.1:1/v1")
    inhabit("experiment", played / "small.yaml", *words, code=2)
    assert "--base-url needs a model with an endpoint" in capsys.readouterr().err


def test_tasks_are_held_to_their_digest(
    played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = Run.open(played / "out/runs/toy/random/seed-0").tasks
    file = tmp_path / "held.yaml"
    for digest, code in ((digest_of(tasks), 0), (digest_of(tasks[:1]), 2)):
        file.write_text(FILE.replace("n: 3", f"n: 3, digest: {digest}"))
        inhabit("experiment", file, "--dry-run", code=code)
    assert "their digest is" in capsys.readouterr().err


def test_every_preset_is_an_experiment() -> None:
    for name in presets():
        found = read_experiment(name)
        assert "omparable" in found.about and found.agents


def test_a_preset_says_where_its_files_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    inhabit("experiment", "eb-alfred", "--model", "scripted:first", "--dry-run", code=2)
    told = capsys.readouterr().err
    assert "'splits.json'" in told and "https://github.com/EmbodiedBench/EmbodiedBench" in told


def test_the_hierarchical_interval_is_that_of_plain_loops() -> None:
    rng = np.random.default_rng(3)
    values, weights = rng.random((12, 3)), rng.random(12)
    found = hierarchical(values, weights)
    assert found.mean == pytest.approx(np.average(values.mean(axis=1), weights=weights))
    means = []
    for _ in range(500):
        drawn = [rng.integers(12) for _ in range(12)]
        by_task = [np.mean([values[task, rng.integers(3)] for _ in range(3)]) for task in drawn]
        means.append(np.average(by_task, weights=weights[drawn]))
    low, high = np.quantile(means, (0.025, 0.975))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)


def test_tasks_without_weight_are_no_part_of_a_resample() -> None:
    values, weights = np.array([[0.7], [0.9], [0.0], [0.0], [0.0]]), np.array([4.0, 4, 0, 0, 0])
    assert hierarchical(values, weights) == hierarchical(values[:2], weights[:2])


@pytest.mark.parametrize("solved", [0, 1])
def test_a_rate_of_none_or_all_is_not_certain(solved: int) -> None:
    """The interval is Wilson's over tasks: seeds of a task are no trials of their own."""
    values = np.full((20, 3), float(solved))
    found = hierarchical(values, np.ones(20), rate=True)
    told = found.low, found.high
    assert (found.mean, told) == (solved, wilson(20 * solved, 20))
    assert told == pytest.approx((0.839, 1.0) if solved else (0.0, 0.161), abs=0.001)
    one = clustered([[float(solved)] * 7] * 20)
    assert (one.low, one.high) == told
    actions = hierarchical(values, np.ones(20))
    assert actions.low == actions.high == solved, "A count is no rate."


def test_texts_are_escaped_for_latex() -> None:
    table = ResultTable("50 % of #1", ["a_b"], [["x & y \\ {z}"]])
    assert r"50 \% of \#1" in table.latex() and r"a\_b \\" in table.latex()
    assert r"x \& y \textbackslash{} \{z\} \\" in table.latex()


def test_a_name_that_is_no_folder_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.yaml").write_text(FILE.replace("name: small", "name: two words"))
    inhabit("experiment", tmp_path / "one.yaml", "--out", tmp_path / "out", code=2)
    told = " ".join(capsys.readouterr().err.split())
    assert "Give a name of 1 to 60 letters" in told and told.endswith("a digit.")


def test_a_model_that_no_agent_asks_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FILE.replace('  - {name: "first", agent: rank, model: "scripted:first"}\n', "")
    (tmp_path / "one.yaml").write_text(text)
    inhabit("experiment", tmp_path / "one.yaml", "--model", "scripted:first", "--dry-run", code=2)
    assert "No agent asks a model" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["seeds: 2026-02-30", "[" * 2000])
def test_a_file_that_is_no_yaml_is_refused_in_a_sentence(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.yaml").write_text(text)
    inhabit("experiment", tmp_path / "one.yaml", "--dry-run", code=2)
    assert "is not YAML: " in " ".join(capsys.readouterr().err.split())
