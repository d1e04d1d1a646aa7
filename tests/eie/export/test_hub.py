"""A folder for the Hugging Face hub, read by `datasets` without a network."""

from __future__ import annotations

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
