"""Whatever cuts a record off, what is whole in it can be read, and it can be gone on with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Picture
from toy_runs import play_toy, results, toy_tasks

from inhabit.agents.core import Decision
from inhabit.envs.core import TaskError
from inhabit.episodes.recording.disk import DiskError, LineFile, Pictures
from inhabit.episodes.recording.reader import RecordError, Run, read_lines, read_tasks
from inhabit.episodes.recording.schema import DECIDED, DecideLine, Ending, SeeLine


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return play_toy(tmp_path_factory.mktemp("played"), tasks=toy_tasks(2), agent="expert")


def test_cut_at_any_byte_the_whole_lines_count(played: Run, tmp_path: Path) -> None:
    content = played.episode(0).file.read_bytes()
    every = list(read_lines(played.episode(0).file, played.folder))
    run = Run(tmp_path, played.header, played.tasks)
    file = run.episode(0).file
    file.parent.mkdir(parents=True)
    # Every seventh, and all around the ends of lines.
    ends = [at for at, byte in enumerate(content) if byte == ord("\n")]
    near = {at + more for at in ends for more in (-1, 0, 1)}
    for length in sorted({*range(0, len(content), 7), *near, len(content)}):
        file.write_bytes(content[:length])
        whole = content[:length].count(b"\n")
        assert list(read_lines(file, run.folder)) == every[:whole]
        attempts = run.episode(0).attempts()
        assert len(attempts) == min(whole, 1)
        assert (run.episode(0).end() is not None) == (length == len(content))


def test_cut_at_any_byte_a_new_attempt_follows_whole_lines(played: Run, tmp_path: Path) -> None:
    content = played.episode(0).file.read_bytes()
    for length in range(0, len(content) + 1, 211):
        folder = tmp_path / str(length)
        shutil.copytree(played.folder, folder)
        file = Run.open(folder).episode(0).file
        file.write_bytes(content[:length])
        run = play_toy(folder, tasks=played.tasks, agent="expert")
        attempts = run.episode(0).attempts()
        assert len(attempts) == (1 if content[:length].count(b"\n") == 0 else 2)
        assert attempts[-1].end is not None
        assert attempts[-1].end.ending is Ending.SUCCESS
        assert file.read_bytes().startswith(content[: content[:length].rfind(b"\n") + 1])


def test_the_end_is_found_behind_lines_of_any_length(played: Run, tmp_path: Path) -> None:
    content = played.episode(0).file.read_bytes()
    lines = content.splitlines(keepends=True)
    run = Run(tmp_path, played.header, played.tasks)
    file = run.episode(0).file
    file.parent.mkdir(parents=True)
    for length in (1, 16_000, 16_384, 1_000_000):
        long = lines[1].replace(b'"text":""', b'"text":"' + b"x" * length + b'"')
        for ending in (lines[-1], lines[-1] + long, lines[-1] + long[:-1]):
            file.write_bytes(lines[0] + long + ending)
            assert (run.episode(0).end() is None) == (ending == lines[-1] + long)


def test_the_frames_of_an_earlier_attempt_are_kept(played: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(played.folder, folder)
    episode = Run.open(folder).episode(0)
    lines = episode.file.read_bytes().splitlines(keepends=True)
    episode.file.write_bytes(b"".join(lines[:5]))
    before = {f.name: f.read_bytes() for f in (episode.folder / "frames").iterdir()}
    again = play_toy(folder, tasks=played.tasks, agent="expert").episode(0)
    after = {f.name: f.read_bytes() for f in (episode.folder / "frames").iterdir()}
    assert before.items() <= after.items()
    for attempt in again.attempts():
        for step in attempt.steps:
            frame = again.frame(step.see)
            assert frame is not None
            assert frame.exists()


def test_a_broken_line_is_named(played: Run, tmp_path: Path) -> None:
    run = Run(tmp_path, played.header, played.tasks)
    file = run.episode(0).file
    file.parent.mkdir(parents=True)
    lines = played.episode(0).file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:2], b'{"kind": "see", "step": "x{0}"}\n', *lines[2:]]))
    with pytest.raises(RecordError, match=r"episode\.jsonl, line 3: see\.time"):
        run.episode(0).last()
    file.write_bytes(lines[1])
    with pytest.raises(RecordError, match="begins with 'see'"):
        run.episode(0).last()


@pytest.mark.parametrize(
    "frame", ["../../../etc/passwd", "/etc/passwd", "frames/../x.jpg", "frames/1.jpg\n", "frames/a"]
)
def test_a_frame_never_lies_outside_its_folder(frame: str) -> None:
    with pytest.raises(ValueError, match="frame"):
        SeeLine(time=0, step=0, text="", frame=frame, digest=None, state=None, seconds=0)


def test_a_folder_that_is_no_run_is_named(played: Run, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"not a run folder: it has no run\.json"):
        Run.open(tmp_path)
    folder = tmp_path / "run"
    shutil.copytree(played.folder, folder)
    header = (folder / "run.json").read_text()
    (folder / "run.json").write_text(header[: len(header) // 2])
    with pytest.raises(RecordError, match=r"run\.json is broken"):
        Run.open(folder)
    (folder / "run.json").write_text(header.replace('"version": 1', '"version": 9'))
    with pytest.raises(RecordError, match="version"):
        Run.open(folder)
    (folder / "run.json").write_text(header)
    tasks = (folder / "tasks.jsonl").read_text().splitlines()
    (folder / "tasks.jsonl").write_text(tasks[0] + "\n")
    with pytest.raises(RecordError, match="holds 1 tasks, but"):
        Run.open(folder)


def test_an_episode_is_found_by_task_or_number(played: Run) -> None:
    assert played.find("toy-0-1").number == 1
    assert played.find("1").number == 1
    for name in ("2", "-1", "toy", "²", "{}"):
        with pytest.raises(RecordError, match="has no episode"):
            played.find(name)


def test_a_bad_task_is_named_by_line_and_field(tmp_path: Path) -> None:
    good = toy_tasks(1)[0].model_dump_json()
    file = tmp_path / "{tasks}.jsonl"
    file.write_text(f"{good}\n\n" + good.replace('"max_steps":20', '"max_steps":"many"') + "\n")
    with pytest.raises(TaskError, match=r"\{tasks\}\.jsonl, line 3: max_steps: "):
        list(read_tasks(file))
    with pytest.raises(TaskError, match=r"nowhere\.jsonl can't be read: No such file"):
        list(read_tasks(tmp_path / "nowhere.jsonl"))


def test_tasks_that_other_editors_saved_are_read(tmp_path: Path) -> None:
    tasks = toy_tasks(2)
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(f"\ufeff{task.model_dump_json()}\r\n" for task in tasks), "utf-8")
    assert list(read_tasks(file)) == list(tasks)


def test_a_line_that_does_not_fit_on_the_disk_leaves_no_trace(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk; it ends a write half way as well."""
    program = """
import resource, signal, sys
from pathlib import Path
from inhabit.episodes.recording.disk import DiskError, LineFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
lines = LineFile(Path(sys.argv[1]), Path(sys.argv[1]).parent)
lines.append(b"a" * 60)
try:
    lines.append(b"b" * 60)
except DiskError as error:
    print(error)
"""
    file = tmp_path / "lines"
    ran = subprocess.run(
        [sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True
    )
    assert file.read_bytes() == b"a" * 60 + b"\n"
    assert str(file) in ran.stdout
    assert "What was recorded so far is kept" in ran.stdout


def test_a_torn_line_goes_before_the_next_is_added(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    for torn in (b"", b"half", b"x" * 200_000):
        file.write_bytes(b'{"a":"first"}\n' + torn)
        lines = LineFile(file, file.parent)
        lines.append(b"second")
        lines.close()
        lines.close()
        assert file.read_bytes() == b'{"a":"first"}\nsecond\n'


def test_pictures_are_whole_or_absent(tmp_path: Path) -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (40, 60, 3), np.uint8)
    with Pictures() as pictures:
        done = [pictures.write(tmp_path / "frames" / f"{i}.jpg", tmp_path, rgb) for i in range(100)]
        (tmp_path / "file").write_text("")
        failed = pictures.write(tmp_path / "file" / "x.jpg", tmp_path, rgb)
    for written in done:
        written.result()
    with pytest.raises(DiskError, match="file"):
        failed.result()
    assert sorted(f.suffix for f in (tmp_path / "frames").iterdir()) == [".jpg"] * 100
    with Picture.open(tmp_path / "frames" / "7.jpg") as picture:
        assert picture.size == (60, 40)


def test_pictures_need_not_be_kept(tmp_path: Path) -> None:
    kept = play_toy(tmp_path / "kept", tasks=toy_tasks(1))
    bare = play_toy(tmp_path / "bare", tasks=toy_tasks(1), assignments=["frames=false"])
    assert results(bare) == results(kept), "Their digests are recorded all the same."
    assert not list(bare.folder.rglob("*.jpg"))
    attempt = bare.episode(0).last()
    assert attempt is not None
    assert {step.see.frame for step in attempt.steps} == {None}


def test_a_line_keeps_every_field_that_it_shares_with_a_decision() -> None:
    shared = {field.name for field in fields(Decision)} & set(DecideLine.model_fields)
    assert shared == {"action", *DECIDED}
