"""Runs in TensorBoard, W&B and MLflow, read back by their own libraries."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE

import inhabit
from inhabit.cli import main
from inhabit.eie.export.tracking import configuration, episodes
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.scoring.scores import score

N = 4


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tracked")
    for agent in ("expert", "random"):
        inhabit.run("toy", agent, folder / agent, n=N, max_steps=9, settings={"in_process": True})
    return folder


def exported(runs: Path, form: str, out: Path) -> None:
    with pytest.raises(SystemExit) as left:
        main(["export", str(runs), "--format", form, "--out", str(out)])
    assert left.value.code == 0


def test_the_last_figures_of_a_run_are_its_metrics(runs: Path) -> None:
    for name in ("expert", "random"):
        run = Run.open(runs / name)
        *_, (number, last) = episodes(run)
        scores = score(run)
        assert number == N - 1
        assert last["run/success_rate"] == scores.success_rate
        assert last["run/plw_success_rate"] == scores.plw_success_rate
        assert sum(values["episode/success"] for _, values in episodes(run)) == (
            scores.success_rate * N
        )
    assert configuration(run)["agent"] == "random"
    assert configuration(run)["settings.run.in_process"] is True


def test_tensorboard_reads_every_figure(runs: Path, tmp_path: Path) -> None:
    loading = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="needs the extra `tensorboard`",
    )
    from tensorboard.util.tensor_util import make_ndarray

    exported(runs, "tensorboard", tmp_path / "out")
    for name in ("expert", "random"):
        events = loading.EventAccumulator(str(tmp_path / "out" / name)).Reload()
        for number, values in episodes(Run.open(runs / name)):
            for tag, value in values.items():
                event = events.Tensors(tag)[number]
                assert event.step == number
                assert float(make_ndarray(event.tensor_proto)) == pytest.approx(value, rel=1e-6)


def test_wandb_keeps_every_episode_and_sends_nothing(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="needs the extra `wandb`")
    from wandb.proto.wandb_internal_pb2 import Record

    # W&B has written all only when the process ends.
    words = ["export", str(runs), "--format", "wandb", "--out", str(tmp_path / "out")]
    subprocess.run([sys.executable, "-m", "inhabit", *words], check=True, timeout=PATIENCE)
    files = sorted((tmp_path / "out" / "wandb").glob("offline-run-*/*.wandb"))
    found = {}
    for file in files:
        records = [Record.FromString(data) for data in leveldb_log(file.read_bytes()[7:])]
        (name,) = (one.run.display_name for one in records if one.HasField("run"))
        rows = [one.history.item for one in records if one.HasField("history")]
        found[name] = [
            {"/".join(item.nested_key) or item.key: json.loads(item.value_json) for item in row}
            for row in rows
        ]
    for name in ("expert", "random"):
        expected = list(episodes(Run.open(runs / name)))
        assert [row["_step"] for row in found[name]] == [number for number, _ in expected]
        for row, (_, values) in zip(found[name], expected, strict=True):
            assert {key: row[key] for key in values} == pytest.approx(dict(values))


def leveldb_log(data: bytes) -> Iterator[bytes]:
    """The records of LevelDB's log format, which W&B writes after a header of 7 bytes.

    A block has 32,768 bytes, that header included. Each part of a record has a checksum (4 bytes),
    a length (2) and a kind (1): whole, first, middle or last.
    """
    place, whole = 7, b""
    while place - 7 < len(data):
        if (left := 32768 - place % 32768) < 7:
            place += left
            continue
        length, kind = struct.unpack_from("<HB", data, place - 7 + 4)
        whole += data[place : place + length]
        place += 7 + length
        if kind in (1, 4):
            yield whole
            whole = b""


def test_mlflow_finds_runs_with_their_settings(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracking = pytest.importorskip("mlflow", reason="needs the extra `mlflow`")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    exported(runs, "mlflow", tmp_path / "out")
    client = tracking.MlflowClient(f"sqlite:///{tmp_path / 'out' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("inhabit")
    found = {run.info.run_name: run for run in client.search_runs([experiment.experiment_id])}
    assert set(found) == {"expert", "random"}
    assert found["expert"].data.params["env"] == "toy"
    assert found["expert"].data.metrics["run/success_rate"] == 1
    history = client.get_metric_history(found["random"].info.run_id, "episode/steps")
    assert len(history) == N


def test_a_tracker_that_is_not_installed_is_named(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary", None)
    with pytest.raises(SystemExit) as left:
        main(["export", str(runs), "--format", "tensorboard", "--out", str(tmp_path / "out")])
    assert left.value.code != 0
    assert "pip install 'inhabit[tensorboard]'" in capsys.readouterr().err
