"""A folder for the Hugging Face hub, read by `datasets` without a network."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

import inhabit
from inhabit.cli import main
from inhabit.episodes.recording.reader import Run

datasets = pytest.importorskip("datasets", reason="needs the package datasets")


def test_rows_hold_the_frames_and_the_card_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    runs = tmp_path / "runs"
    for agent in ("expert", "random"):
        settings = {"in_process": True}
        inhabit.run("toy", agent, runs / agent, n=2, max_steps=6, settings=settings)
    with pytest.raises(SystemExit) as left:
        main(["export", str(runs), "--format", "hub", "--out", str(tmp_path / "hub")])
    assert left.value.code == 0
    cache = str(tmp_path / "cache")
    rows = datasets.load_dataset(str(tmp_path / "hub"), split="train", cache_dir=cache)
    assert isinstance(rows.features["image"], datasets.Image)
    steps = [
        (run, episode, step)
        for run in map(Run.open, sorted(runs.iterdir()))
        for episode in run.episodes()
        for step in episode.last().steps  # type: ignore[union-attr]
    ]
    assert len(rows) == len(steps)
    for row, (run, episode, step) in zip(rows, steps, strict=True):
        kept = np.asarray(Image.open(episode.folder / str(step.see.frame)))
        assert np.array_equal(np.asarray(row["image"]), kept)
        assert (row["run"], row["step"]) == (run.folder.name, step.number)
        assert row["action"] == (step.decide and step.decide.action)
    text = (tmp_path / "hub" / "README.md").read_text()
    front = yaml.safe_load(text.split("---")[1])
    (files,) = front["configs"][0]["data_files"]
    assert (tmp_path / "hub" / files["path"]).is_file()
    assert "| expert | toy | expert | 2 | 1.00 [" in text
    assert all(f"| `{name}` |" in text for name in rows.features)


@pytest.mark.parametrize(
    "name", ['"\nlicense: evil\n---\n# Owned', "a\\b", "\x1b]0;owned\x07\x00", "| <img src=x> |"]
)
def test_names_of_a_run_from_anybody_stay_names_in_the_card(tmp_path: Path, name: str) -> None:
    run = tmp_path / "run"
    inhabit.run("toy", "expert", run, n=1, settings={"in_process": True})
    for file, key in ((run / "run.json", "env"), (run / "run.json", "agent")):
        file.write_text(json.dumps({**json.loads(file.read_text()), key: name}))
    # The record has to be of the environment that the run names.
    for file in (run / "tasks.jsonl", run / "episodes" / "00000" / "episode.jsonl"):
        file.write_text(file.read_text().replace('"env":"toy"', f'"env":{json.dumps(name)}'))
    with pytest.raises(SystemExit) as left:
        main(["export", str(run), "--format", "hub", "--out", str(tmp_path / "hub")])
    assert left.value.code == 0
    text = (tmp_path / "hub" / "README.md").read_text()
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    told = yaml.safe_load(front)
    assert told["pretty_name"] == f"Episodes in {name}" and "license" not in told
    assert not set("\x00\x07\x1b") & set(text) and " <img" not in body
    assert [line[:2] for line in body.splitlines()].count("# ") == 1
    rows = [line for line in body.splitlines() if line.startswith("| run |")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [8, 8]


@pytest.mark.parametrize(
    ("rows", "size"), [(999, "n<1K"), (1_000, "1K<n<10K"), (100_000, "100K<n<1M")]
)
def test_sizes_are_categories_of_the_hub(rows: int, size: str) -> None:
    from inhabit.eie.export.hub import card

    assert yaml.safe_load(card([], rows).split("---")[1])["size_categories"] == [size]
