"""EgoPlan's clips of a set's episodes, which are played again to be filmed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_set import read_examples
from PIL import Image as Picture

from eie.export.filming import KEYFRAMES, keyframes
from eie.export.formats import export_set
from eie.export.forms import Form
from eie.folder import SetFolder
from episodes.record import RecordError

INHABIT = Path(sys.executable).with_name("inhabit")


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few steps of whole episodes in the household."""
    folder = tmp_path_factory.mktemp("sets") / "walked"
    words = ["synth", "alfred", "--n", "14", "--seed", "11", "--out", str(folder)]
    sets = ("trajectories=1", "recognition=false", "width=100", "height=100")
    given = [word for one in sets for word in ("--set", one)]
    subprocess.run([INHABIT, *words, *given], check=True, timeout=300, capture_output=True)
    return folder


def test_eight_keyframes_show_how_each_action_went(walked: Path, tmp_path: Path) -> None:
    steps = [e for e in read_examples(walked) if e.kind == "trajectory"]
    count = export_set(SetFolder.open(walked), Form.EGOPLAN, tmp_path / "out", films=True)
    samples: list[dict[str, Any]] = [
        sample
        for name in ("EgoPlan_IT", "EgoPlan_validation", "EgoPlan_test")
        for sample in json.loads((tmp_path / f"out/{name}.json").read_text())
    ]
    assert count == len(samples) > 3
    by_answer = {(e.goal, e.candidates[e.answer], len(e.history)): e for e in steps}
    filmed = 0
    for sample in samples:
        clips = sample["task_progress_metadata"]
        now = sample["current_observation_frame"]
        film = tmp_path / "out/frames" / sample["video_id"]
        assert (film / f"frame_{now:010d}.jpg").is_file()
        assert all(c["stop_frame"] <= now for c in clips)
        assert all(1 <= c["stop_frame"] - c["start_frame"] < KEYFRAMES for c in clips)
        filmed += sum(c["stop_frame"] - c["start_frame"] == KEYFRAMES - 1 for c in clips)
        found = [
            e
            for (goal, answer, _), e in by_answer.items()
            if (goal, answer) == (sample["task_goal"], sample["answer"])
        ]
        shown = np.asarray(Picture.open(film / f"frame_{now:010d}.jpg")).astype(int)
        apart = [np.abs(shown - np.asarray(Picture.open(walked / e.image))).mean() for e in found]
        assert min(apart) < 12
    assert filmed, "Nobody has walked far."


def test_an_episode_that_comes_to_something_else_is_not_filmed(
    walked: Path, tmp_path: Path
) -> None:
    lines = (walked / "examples.jsonl").read_text().splitlines()
    plain = [json.loads(line) for line in lines]
    for example in plain:
        example["lineage"]["actions"][-1:] = ["turn left"]
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("set.json", "attempts.jsonl"):
        (copy / name).write_bytes((walked / name).read_bytes())
    (copy / "images").symlink_to(walked / "images")
    (copy / "examples.jsonl").write_text("".join(json.dumps(e) + "\n" for e in plain))
    with pytest.raises(RecordError, match="--films"):
        export_set(SetFolder.open(copy), Form.EGOPLAN, tmp_path / "out", films=True)


def test_only_one_form_has_films(walked: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no films"):
        export_set(SetFolder.open(walked), Form.LLAVA, tmp_path / "out", films=True)


@pytest.mark.parametrize("length", [0, 1, 5, 7, 8, 30])
def test_keyframes_are_spread_over_the_way(length: int) -> None:
    way = [np.full((1, 1, 3), i, np.uint8) for i in range(length)]
    kept = [int(frame[0, 0, 0]) for frame in keyframes(way)]
    assert len(kept) == min(max(length - 1, 0), KEYFRAMES - 2)
    assert kept == sorted(set(kept)) and length - 1 not in kept
    gaps = np.diff([-1, *kept, length - 1])
    assert not kept or gaps.max() - gaps.min() <= 2
