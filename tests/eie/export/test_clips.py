"""EgoPlan's clips of a set's episodes, which are played again to be rendered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_process import inhabit
from PIL import Image as Picture

from inhabit.eie.export.egoplan import SHOWN
from inhabit.eie.export.export import SetSource, export
from inhabit.eie.export.exporter import ExportOptions
from inhabit.eie.export.replayed_clips import KEYFRAMES, keyframes
from inhabit.eie.sets.folder import SetFolder
from inhabit.episodes.recording.reader import RecordError
from tests.eie.made_set import read_examples, write_set

VIDEOS = ExportOptions(videos=True)


def walk(folder: Path, n: int) -> Path:
    """A few steps of whole episodes in the household."""
    words = ["synth", "alfred", "--n", str(n), "--seed", "16", "--out", str(folder)]
    sets = ("trajectories=1", "recognition=false", "width=100", "height=100", "in_process=true")
    done = inhabit(*words, *(word for one in sets for word in ("--set", one)))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return walk(tmp_path_factory.mktemp("sets") / "walked", 14)


@pytest.mark.slow
def test_keyframes_show_how_each_action_went(walked: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    count = export(SetSource(SetFolder.open(walked), VIDEOS), "egoplan", out)
    files = {"train": "EgoPlan_IT", "val": "EgoPlan_validation", "test": "EgoPlan_test"}
    long = asked = 0
    for split, name in files.items():
        file = out / f"{name}.json"
        samples: list[dict[str, Any]] = json.loads(file.read_text()) if file.exists() else []
        steps = [e for e in read_examples(walked) if (e.kind, e.split) == ("trajectory", split)]
        asked += len(steps)
        for sample, example in zip(samples, steps, strict=True):
            assert sample["answer"] == example.candidates[example.answer]
            film = out / "frames" / sample["video_id"] / "rgb_frames" / sample["video_id"]
            assert _apart(film, sample["current_observation_frame"], walked / example.image) < 12
            clips = sample["task_progress_metadata"]
            assert all(1 <= c["stop_frame"] - c["start_frame"] < KEYFRAMES for c in clips)
            long += sum(c["stop_frame"] - c["start_frame"] == KEYFRAMES - 1 for c in clips)
            assert example.lineage is not None
            # The whole way is shown, also what was done since the past that the words tell of.
            last = example.lineage.actions[-SHOWN:]
            failed = [past.action for past in example.history if past.failed]
            assert [c["narration_text"] for c in clips] == [a for a in last if a not in failed]
            for past in (p for p in example.history if p.image is not None and not p.failed):
                told = [c for c in clips if c["narration_text"] == past.action]
                assert past.image is not None
                if example.lineage.actions.count(past.action) > 1:
                    continue  # It was done again since then, perhaps elsewhere.
                assert all(_apart(film, c["start_frame"], walked / past.image) < 12 for c in told)
            for clip in clips:
                # Who looks around sees in the end what was seen before.
                seen = range(clip["start_frame"], clip["stop_frame"] + 1)
                first, *later = (
                    np.asarray(Picture.open(_frame(film, n))).astype(int) for n in seen
                )
                assert max(np.abs(first - one).mean() for one in later) > 0.1, clip
    assert count == asked > 2
    assert long, "Nobody has walked far."


def _frame(film: Path, number: int) -> Path:
    return film / f"frame_{number:010d}.jpg"


def _apart(film: Path, frame: int, picture: Path) -> float:
    """Mean difference of the colours of a frame and an image, 0 to 255."""
    shown = np.asarray(Picture.open(_frame(film, frame))).astype(int)
    return float(np.abs(shown - np.asarray(Picture.open(picture))).mean())


def test_an_episode_that_comes_to_something_else_is_not_filmed(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "walked", 2, kind="trajectory")
    assert export(SetSource(SetFolder.open(folder), VIDEOS), "egoplan", tmp_path / "sound") > 2
    examples = [json.loads(line) for line in (folder / "examples.jsonl").read_text().splitlines()]
    for example in examples[1:]:
        example["lineage"]["actions"] = ["go to the bedroom"]
    (folder / "examples.jsonl").write_text("".join(json.dumps(e) + "\n" for e in examples))
    with pytest.raises(RecordError, match="--videos"):
        export(SetSource(SetFolder.open(folder), VIDEOS), "egoplan", tmp_path / "out")


@pytest.mark.slow
def test_only_one_form_has_films(walked: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no videos"):
        export(SetSource(SetFolder.open(walked), VIDEOS), "llava", tmp_path / "out")


@pytest.mark.parametrize("length", [0, 1, 5, 7, 8, 30])
def test_keyframes_are_spread_over_the_way(length: int) -> None:
    path = [np.full((1, 1, 3), i, np.uint8) for i in range(length)]
    kept = [int(frame[0, 0, 0]) for frame in keyframes(path)]
    assert len(kept) == min(max(length - 1, 0), KEYFRAMES - 2)
    assert kept == sorted(set(kept)) and length - 1 not in kept
    gaps = np.diff([-1, *kept, length - 1])
    assert not kept or gaps.max() - gaps.min() <= 2
