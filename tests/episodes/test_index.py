"""The index of a run is a shortcut to its records, and never says anything else than they do."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from toy_runs import play_toy, toy_tasks
from waiting import PATIENCE

from inhabit.episodes.recording.index import Index, IndexEntry
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.page.writing import Videos, write_run
from inhabit.episodes.scoring.scores import score


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return play_toy(tmp_path_factory.mktemp("index") / "run", tasks=toy_tasks(3))


def copied(run: Run, folder: Path) -> Run:
    shutil.copytree(run.folder, folder)
    return Run.open(folder)


def entries(run: Run) -> list[IndexEntry | None]:
    index = Index(run)
    assert [entry and entry.end for entry in map(index.entry, run.episodes())] == list(index.ends())
    return list(map(index.entry, run.episodes()))


def test_it_says_what_the_records_say(run: Run, tmp_path: Path) -> None:
    bare = copied(run, tmp_path / "bare")
    (bare.folder / "index.jsonl").unlink()
    read = entries(bare)
    assert read == entries(run)
    assert all(read)
    assert not (bare.folder / "index.jsonl").exists(), "Reading never writes."


def test_what_it_lacks_or_tells_wrongly_is_read_from_the_records(run: Run, tmp_path: Path) -> None:
    other = copied(run, tmp_path / "other")
    file = other.folder / "index.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[0]["size"] += 1
    lines[0]["end"]["success"] = True
    lines[1]["end"] = {"kind": "{hostile}"}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines[:2]) + "half a li")
    assert entries(other) == entries(run)


def test_impossible_counts_are_read_from_the_record(run: Run, tmp_path: Path) -> None:
    other = copied(run, tmp_path / "other")
    file = other.folder / "index.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines[0]["reasons"] = {"out_of_reach": 999_999}
    lines[1]["reasons"] = {"out_of_reach": -1}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert entries(other) == entries(run)


def test_it_is_believed_while_the_record_ends_as_it_did(run: Run, tmp_path: Path) -> None:
    other = copied(run, tmp_path / "other")
    record = other.episode(0).file
    *rest, last = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(b"".join(b"x" * (len(line) - 1) + b"\n" for line in rest) + last)
    assert score(other) == score(run).model_copy(update={"run": str(other.folder)})


def test_an_end_that_was_changed_is_not_hidden_by_it(run: Run, tmp_path: Path) -> None:
    other = copied(run, tmp_path / "other")
    record = other.episode(0).file
    content = record.read_bytes()
    head, ending, tail = content.rpartition(b'"ending":"')
    record.write_bytes(head + ending + b"X" + tail[1:])
    with pytest.raises(RecordError, match="ending"):
        entries(other)
    head, steps, tail = content.rpartition(b'"steps":')
    record.write_bytes(head + steps + str((int(tail[:1]) + 1) % 10).encode() + tail[1:])
    assert entries(other)[0] != entries(run)[0]


def test_an_episode_that_goes_on_is_none(run: Run, tmp_path: Path) -> None:
    other = copied(run, tmp_path / "other")
    record = other.episode(1).file
    record.write_bytes(b"".join(record.read_bytes().splitlines(keepends=True)[:4]))
    assert [entry is None for entry in entries(other)] == [False, True, False]


@pytest.mark.slow
def test_ten_thousand_episodes_are_shown_quickly(tmp_path: Path) -> None:
    run = many(play_toy(tmp_path / "few", tasks=toy_tasks(20)), tmp_path / "many", 10_000)
    begun = time.monotonic()
    write_run(run, Videos(), lambda _: None)
    assert time.monotonic() - begun < PATIENCE
    assert not list(run.folder.glob("episodes/*/index.html")), "Pages are made when asked for."
    write_run(run, Videos(), lambda _: None, [run.episode(7_777)])
    assert (run.episode(7_777).folder / "index.html").is_file()
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile)) as browser:
        painted = "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"
        for what in (
            lambda: browser.open(run.folder / "index.html"),
            lambda: browser.run("document.querySelector('th[data-key=steps] button').click()"),
            lambda: browser.run("document.querySelector('th[data-key=goal] button').click()"),
        ):
            begun = time.monotonic()
            what()
            browser.run(painted)
            assert time.monotonic() - begun < PATIENCE
        assert browser.run("document.querySelector('output').textContent") == "10,000 of 10,000"


def many(run: Run, folder: Path, count: int) -> Run:
    """A run of `count` episodes, each of them one of `run`: files are linked, not copied."""
    folder.mkdir()
    header = json.loads((run.folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(header | {"episodes": count}))
    index = [json.loads(x) for x in (run.folder / "index.jsonl").read_text().splitlines()]
    places = {entry["number"]: entry for entry in index}
    with (folder / "tasks.jsonl").open("w") as tasks, (folder / "index.jsonl").open("w") as lines:
        for number in range(count):
            episode = run.episode(number % len(run.tasks))
            task = episode.task.model_copy(update={"id": f"toy {number}"})
            tasks.write(task.model_dump_json() + "\n")
            lines.write(json.dumps(places[episode.number] | {"number": number}) + "\n")
            place = folder / "episodes" / f"{number:05d}"
            shutil.copytree(episode.folder, place, copy_function=os.link)
    return Run.open(folder)
