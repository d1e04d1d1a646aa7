"""A run in the household as a LeRobot dataset: motions that lead from pose to pose."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import inhabit
from inhabit.eie.export.export import RunSource, export
from inhabit.episodes.recording.reader import Run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "household"
    settings = {"width": 100, "height": 100, "wire": "none", "in_process": True}
    results = inhabit.run("alfred", "expert", folder, n=2, seed=2, settings=settings)
    assert results.scores.success_rate == 1
    return Run.open(folder)


@pytest.fixture(scope="module")
def exported(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("exports") / "robot"
    assert export(RunSource(run), "lerobot", out) == 2
    return out


@pytest.mark.slow
def test_motions_lead_from_pose_to_pose(run: Run, exported: Path) -> None:
    rows = pq.read_table(exported / "data/chunk-000/file-000.parquet").to_pylist()
    features = json.loads((exported / "meta/info.json").read_text())["features"]
    assert features["action"]["names"] == ["forward_m", "right_m", "turn_rad"]
    moved = 0.0
    for episode in run.episodes():
        attempt = episode.last()
        assert attempt is not None
        poses = [step.see.pose for step in attempt.steps]
        own = [row for row in rows if row["episode_index"] == episode.number]
        assert len(own) == len(poses) - 1
        for row, before, after in zip(own, poses, poses[1:], strict=False):
            assert before is not None and after is not None
            x, z, sine, cosine = row["observation.state"]
            forward, right, turn = row["action"]
            assert (x, z) == (pytest.approx(before.x), pytest.approx(before.z))
            assert x + forward * sine + right * cosine == pytest.approx(after.x, abs=1e-4)
            assert z + forward * cosine - right * sine == pytest.approx(after.z, abs=1e-4)
            heading = math.degrees(math.atan2(sine, cosine) + turn) - after.heading
            assert abs((heading + 180) % 360 - 180) < 1e-3
            assert abs(turn) < math.pi + 1e-6
            moved += abs(forward) + abs(right)
    assert moved > 4
    stats = json.loads((exported / "meta/stats.json").read_text())
    assert np.shape(stats["action"]["mean"]) == (3,)
    assert np.shape(stats["observation.state"]["std"]) == (4,)


def test_lerobots_own_reader_loads_it(run: Run, exported: Path) -> None:
    """Needs lerobot, which asks for other versions than ours: a virtual environment of its own.

    The videos are read in `test_runs`: lerobot leaves them to torchvision or torchcodec.
    """
    module = pytest.importorskip("lerobot.datasets.lerobot_dataset")
    loaded = module.LeRobotDataset("inhabit/household", root=exported)
    assert loaded.num_episodes == 2
    assert loaded.features["action"]["shape"] == (3,)
    assert loaded.meta.video_keys == ["observation.images.front"]
    rows = pq.read_table(exported / "data/chunk-000/file-000.parquet").to_pylist()
    assert len(loaded) == len(rows)
    for item, row in zip(loaded.hf_dataset, rows, strict=True):
        assert item["action"].tolist() == pytest.approx(row["action"])
        assert item["observation.state"].tolist() == pytest.approx(row["observation.state"])
        assert item["language.action"] == row["language.action"]
        task = loaded.meta.tasks.iloc[int(item["task_index"])].name
        assert task == run.tasks[row["episode_index"]].goal
    assert loaded.meta.get_video_file_path(1, "observation.images.front").name == "file-000.mp4"
    assert (exported / loaded.meta.get_video_file_path(1, "observation.images.front")).is_file()
