"""Runs as rollouts of NeMo Gym, read by its own models."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path

import pytest

import inhabit
from inhabit.cli import main
from inhabit.episodes.recording.reader import Run


def test_a_rollout_holds_the_conversation_with_its_frames(tmp_path: Path) -> None:
    settings = {"in_process": True}
    for agent in ("expert", "random"):
        inhabit.run("toy", agent, tmp_path / "runs" / agent, n=2, max_steps=6, settings=settings)
    with pytest.raises(SystemExit) as left:
        main(["export", str(tmp_path / "runs"), "--format", "nemo", "--out", str(tmp_path / "out")])
    assert left.value.code == 0
    rows = [json.loads(line) for line in (tmp_path / "out/rollouts.jsonl").open()]
    episodes = [
        (run, episode)
        for run in map(Run.open, sorted((tmp_path / "runs").iterdir()))
        for episode in run.episodes()
    ]
    assert len(rows) == len(episodes) == 4
    places = [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows]
    assert places == [(0, 0), (1, 0), (0, 1), (1, 1)]
    for row, (_, episode) in zip(rows, episodes, strict=True):
        told = row["ng_trajectory"]
        attempt = episode.last()
        assert attempt is not None and attempt.end is not None
        assert row["reward"] == attempt.end.met / attempt.end.total
        assert len(told["tool_calls"]) == sum(step.act is not None for step in attempt.steps)
        (invocation,) = told["invocations"]
        parts = [
            part
            for item in invocation["conversation"]
            for part in item.get("content") or item.get("output") or ()
        ]
        urls = [part["image_url"] for part in parts if part["type"] == "input_image"]
        frames = [episode.folder / str(step.see.frame) for step in attempt.steps]
        assert [_digest(url) for url in urls] == [
            hashlib.sha256(frame.read_bytes()).hexdigest() for frame in frames
        ]
    observability = pytest.importorskip("nemo_gym.rollout_observability", reason="not installed")
    for row in rows:
        observability.TrajectoryRecord.model_validate(row["ng_trajectory"], strict=True)


def _digest(url: str) -> str:
    return hashlib.sha256(base64.b64decode(url.partition("base64,")[2])).hexdigest()
