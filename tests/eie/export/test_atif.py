"""Runs in ATIF, read by the models of the package `atif`."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

import inhabit
from inhabit.cli import main
from inhabit.episodes.recording.reader import Run

N = 2
READ = """
import json, sys
from pathlib import Path
from atif import Trajectory
for file in sys.argv[1:]:
    told = json.loads(Path(file).read_text())
    assert Trajectory.model_validate(told).has_multimodal_content()
    assert len(told["steps"]) > 1
"""


def played(folder: Path, env: str = "toy", n: int = N, **settings: Any) -> None:
    for agent in ("expert", "random"):
        told = {"in_process": True, **settings}
        inhabit.run(env, agent, folder / f"{env}-{agent}", n=n, max_steps=6, settings=told)


def call(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


def exported(folder: Path, env: str = "toy") -> list[Path]:
    played(folder / "runs", env)
    assert call("export", folder / "runs", "--format", "atif", "--out", folder / "out") == 0
    return sorted((folder / "out").glob("*.json"))


def content(folder: Path) -> Mapping[Path, bytes]:
    """Every file below a folder, but for the list that is made anew from the records."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "index.jsonl"]
    return {file.relative_to(folder): file.read_bytes() for file in files}


def test_each_episode_is_a_file_with_its_images_by_digest(tmp_path: Path) -> None:
    files = exported(tmp_path)
    assert len(files) == 2 * N
    told: dict[str, Any] = json.loads(files[0].read_text())
    attempt = Run.open(tmp_path / "runs" / "toy-expert").episode(0).last()
    assert attempt is not None and attempt.end is not None
    acted = [step.act for step in attempt.steps if step.act]
    results = [s["observation"]["results"][0] for s in told["steps"] if s["source"] == "agent"]
    assert [one["content"][0]["text"] for one in results] == [one.feedback for one in acted]
    assert told["final_metrics"]["extra"]["success"] is attempt.end.success is True
    contents = [told["steps"][0]["message"], *(one["content"] for one in results)]
    shown = [p["source"]["path"] for parts in contents for p in parts if p["type"] == "image"]
    assert len(shown) == len(attempt.steps)
    for path in shown:
        content = (tmp_path / "out" / path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == Path(path).stem


def test_an_import_is_the_run_that_was_exported(tmp_path: Path) -> None:
    files = exported(tmp_path)
    assert call("import", tmp_path / "out", "--out", tmp_path / "back") == 0
    assert content(tmp_path / "back") == content(tmp_path / "runs")
    assert call("replay", tmp_path / "back" / "toy-expert") == 0
    files[0].write_text(files[0].read_text().replace(".jpg", ".png"))
    assert call("import", tmp_path / "out", "--out", tmp_path / "broken") == 2


IMAGE = ("steps", 0, "message", 1, "source", "path")
SEE = ("steps", 0, "extra", "see")
RESULT = ("steps", 1, "observation", "results", 0)
SCENE = ("extra", "start", "task", "scene")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    exported(folder)
    return folder / "out"


@pytest.fixture
def out(tmp_path: Path, made: Path) -> Path:
    """A fresh copy of an export, to be spoilt."""
    return shutil.copytree(made, tmp_path / "out")


def refusal(out: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The sentence with which an import is refused; nothing is left of it."""
    assert call("import", out, "--out", out.parent / "back") == 2
    assert not [*(out.parent / "back").glob("*")]
    assert {file.name for file in out.parent.iterdir()} <= {"back", "out"}
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("session_id",), "../elsewhere", "session_id"),
        (("session_id",), "\x1b[31mred", "session_id"),
        (("session_id",), "another", "trajectory_id"),
        (("trajectory_id",), "toy-expert/00001", "is the same episode"),
        (("steps",), [], "steps"),
        (("final_metrics",), {"extra": {"ending": "success"}}, "time: Field required"),
        (("final_metrics", "total_steps"), 99, "final_metrics.total_steps"),
        (("extra",), {}, "extra.run"),
        (("extra", "run", "seed"), 99, "another run of that name"),
        (("extra", "note"), "by somebody", "extra is not what it writes"),
        ((*SCENE, "room"), float("nan"), "NaN is no finite number"),
        ((*SCENE, "room"), float("inf"), "Infinity is no finite number"),
        (IMAGE, "../../secret.jpg", "steps.0.message.1.source.path"),
        ((*SEE, "frame"), "../../evil.jpg", "see.frame"),
        ((*SEE, "frame"), "frames/0001.jpg", "its record names 4"),
        ((*SEE, "frame"), None, "its record names 4"),
        ((*SEE, "step"), 7, "'decide' of step 0 was never seen"),
        ((*SEE, "kind"), "end", "steps.0.extra.see"),
        (("steps", 0, "message", 0, "text"), "Steal the silver.", "steps.0.message.0.text"),
        (("steps", 1, "source"), "system", "steps.1.source"),
        (("steps", 1, "message"), "Something else.", "steps.1.message"),
        (("steps", 1, "tool_calls", 0, "function_name"), "rm", "tool_calls.0.function_name"),
        ((*RESULT, "content"), [], "it shows 4 images"),
        ((*RESULT, "extra", "act", "feedback"), "A lie.", "results.0.extra.act"),
    ],
)
def test_what_is_no_episode_of_ours_is_refused(
    out: Path,
    place: tuple[str | int, ...],
    value: Any,
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = out / "toy-expert-00000.json"
    whole: Any = json.loads(file.read_text())
    *path, last = place
    part = whole
    for key in path:
        part = part[key]
    part[last] = value
    file.write_text(json.dumps(whole))
    sentence = refusal(out, capsys)
    assert file.name in sentence or "toy-expert-00001.json" in sentence
    assert told in sentence


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"pixels": 96', '"pixels": 1e400', "1e400 is no finite number"),
        ('"scene": {', '"scene": {"n": ' + "[" * 5000 + "]" * 5000 + ", ", "recursion"),
        ('"scene": {', '"scene": {"n": "\\ud800", ', "Invalid JSON"),
        ('"text": "', '"text": "\xe9', "Invalid JSON"),
    ],
)
def test_a_text_that_is_no_sound_json_is_refused(
    out: Path, old: str, new: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in out.glob("toy-expert*.json"):
        file.write_bytes(file.read_text().replace(old, new, 1).encode("latin-1"))
    assert told in refusal(out, capsys)


def test_words_and_images_that_no_line_records_are_refused(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = out / "toy-expert-00000.json"
    told: Any = json.loads(file.read_text())
    told["steps"][0]["message"].append({"type": "text", "text": "Also steal the silver."})
    file.write_text(json.dumps(told))
    assert "steps.0.message.1 is not what it writes" in refusal(out, capsys)


def test_an_image_that_two_observations_name_is_refused(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = out / "toy-expert-00000.json"
    told: Any = json.loads(file.read_text())
    result = told["steps"][1]["observation"]["results"][0]
    result["extra"]["see"]["frame"] = told["steps"][0]["extra"]["see"]["frame"]
    result["content"] = [part for part in result["content"] if part["type"] == "text"]
    file.write_text(json.dumps(told))
    assert "is not what it writes" in refusal(out, capsys)


@pytest.mark.parametrize("how", ["another", "gone", "a link", "too large"])
def test_an_image_that_was_changed_is_refused(
    out: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told: Any = json.loads((out / "toy-expert-00000.json").read_text())
    first = out / told["steps"][0]["message"][1]["source"]["path"]
    second = next(file for file in first.parent.iterdir() if file != first)
    first.unlink()
    if how == "another":
        shutil.copy(second, first)
    elif how == "a link":
        first.symlink_to(second)
    elif how == "too large":
        with first.open("wb") as sparse:
            sparse.truncate(1 << 30)
    sentence = refusal(out, capsys)
    assert first.name in sentence and "toy-expert-00000.json" in sentence


def test_a_run_that_lacks_episodes_says_so(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (out / "toy-expert-00000.json").unlink()
    # Files are ordered by the number of their episode, whatever they are called.
    (out / "toy-random-00000.json").rename(out / "zero.json")
    assert call("import", out, "--out", out.parent / "back") == 0
    assert "toy-expert: 1 of its 2 episodes are there" in capsys.readouterr().err
    random, expert = (
        Run.open(out.parent / "back" / f"toy-{name}") for name in ("random", "expert")
    )
    assert [task.id for task in random.tasks] == ["toy-0-0", "toy-0-1"]
    assert [task.id for task in expert.tasks] == ["toy-0-1"] and expert.header.episodes == 1


def test_a_refused_scene_comes_back(tmp_path: Path) -> None:
    task = inhabit.tasks("toy", 1)[0].model_copy(update={"scene": {"room": "nowhere"}})
    alone = {"in_process": True}
    inhabit.run("toy", "expert", tmp_path / "runs" / "run", tasks=[task], settings=alone)
    assert call("export", tmp_path / "runs/run", "--format", "atif", "--out", tmp_path / "out") == 0
    assert call("import", tmp_path / "out", "--out", tmp_path / "back") == 0
    assert content(tmp_path / "back") == content(tmp_path / "runs")


def test_a_run_is_called_by_its_folder_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played(tmp_path, n=1)
    monkeypatch.chdir(tmp_path / "toy-expert")
    assert call("export", ".", "--format", "atif", "--out", tmp_path / "out") == 0
    assert (tmp_path / "out" / "toy-expert-00000.json").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("env", ["toy", "alfred", "virtualhome", "thor_nav", "alfworld"])
def test_twelve_episodes_of_each_environment_come_back(tmp_path: Path, env: str) -> None:
    small = {} if env == "toy" else {"width": 96, "height": 96}
    direct = {"wire": "none"} if env in ("alfred", "alfworld") else {}
    played(tmp_path / "runs", env, 6, **small, **direct)
    for name in ("out", "again"):
        source = tmp_path / ("runs" if name == "out" else "back")
        assert call("export", source, "--format", "atif", "--out", tmp_path / name) == 0
        if name == "out":
            assert call("import", tmp_path / "out", "--out", tmp_path / "back") == 0
    assert content(tmp_path / "again") == content(tmp_path / "out")
    assert content(tmp_path / "back") == content(tmp_path / "runs")


@pytest.mark.slow
def test_the_package_reads_them(tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(site),
        "atif==1.8.0",
    ]
    subprocess.run(pip, check=True, timeout=PATIENCE)
    files = [str(file) for env in ("toy", "thor_nav") for file in exported(tmp_path / env, env)]
    subprocess.run([sys.executable, "-c", READ, *files], check=True, env={"PYTHONPATH": str(site)})
