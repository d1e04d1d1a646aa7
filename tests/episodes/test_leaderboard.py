"""A folder of runs as a table: boards, judged scores, what sight is worth, and the page."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inhabit.cli import main
from inhabit.episodes.recording.reader import RecordError
from inhabit.episodes.recording.schema import Sight
from inhabit.episodes.reports.leaderboard.rows import page, rows, write_csv

SCRIPT = Path(__file__).parents[2] / "scripts/leaderboard"


def inhabit(*words: object) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert left.value.code in (0, None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    base = ("--n", 4, "--max-steps", 4, "--set", "in_process=true")
    for name, more in {
        "random": (),
        "expert": (),
        "rank": ("--model", "scripted:first"),
        "rank-blank": ("--model", "scripted:first", "--sight", "blank"),
        "oracle": ("--candidates", "oracle"),
        "longer": ("--max-steps", 5),
        "patient": ("--set", "max_invalid=20", "--set", "pixels=32"),
    }.items():
        agent = {
            "rank-blank": "rank",
            "oracle": "random",
            "longer": "random",
            "patient": "random",
        }.get(name, name)
        inhabit("run", "toy", "--agent", agent, *base, *more, "--out", out / name)
    inhabit("judge", out / "random")
    fork = ("--episode", 0, "--step", 0, "--action", "go to the hall")
    inhabit("fork", out / "random", *fork, *base[-2:])
    return out


def test_only_like_is_held_against_like(folder: Path) -> None:
    """Candidates, grants and limits make boards of their own."""
    found = {Path(row.folder).name: row for row in rows(folder)}
    assert found["random"].board == found["rank"].board == found["rank-blank"].board
    assert len({found[name].board for name in ("random", "expert", "oracle", "longer")}) == 4
    boards = [row.board for row in rows(folder)]
    assert boards == sorted(boards)


def test_settings_that_are_not_the_default_ones_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {Path(row.folder).name: row for row in rows(folder)}
    assert found["patient"].settings == "max_invalid=20, pixels=32"
    assert found["random"].settings == ""
    assert "max_invalid=20, pixels=32" in page(rows(folder))
    inhabit("compare", folder / "random", folder / "patient")
    told = " ".join(capsys.readouterr().out.split())
    assert "first: settings the default ones" in told
    assert "second: settings max_invalid=20, pixels=32" in told


def test_what_was_judged_and_what_pictures_gain(folder: Path) -> None:
    found = {Path(row.folder).name: row for row in rows(folder)}
    judged = found["random"].action
    assert judged is not None and judged.mean is not None and judged.judged == judged.given > 0
    assert found["rank"].action is None
    (sight, worth), *others = (found["rank"].scores.sight or {}).items()
    gain = worth["success_rate"]
    assert (sight, others) == (Sight.BLANK, []) and gain.value == 0.0
    assert gain.interval[0] < 0 < gain.interval[1]
    assert found["rank-blank"].scores.sight is None and found["random"].scores.sight == {}


def test_the_table_and_the_page(folder: Path) -> None:
    found = rows(folder)
    stream = io.StringIO()
    write_csv(found, stream)
    table = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert len(table) == 7 and {line["env"] for line in table} == {"toy"}
    assert {(line["limit"], line["seed"]) for line in table} == {("4 steps", "0"), ("5 steps", "0")}
    text = page(found)
    assert text.count("<tr data-env") == 7 and 'name="candidates"' in text
    assert 'name="env"' not in text, "A filter with one choice filters nothing."


def test_runs_that_have_not_ended_stand_last_and_say_so(folder: Path, tmp_path: Path) -> None:
    """One episode that was solved is no better than all of them."""
    for name in ("expert", "part"):
        shutil.copytree(folder / "expert", tmp_path / name)
    (tmp_path / "part/index.jsonl").unlink()
    for number in (1, 2, 3):
        shutil.rmtree(tmp_path / f"part/episodes/0000{number}")
    found = rows(tmp_path)
    assert [(Path(row.folder).name, row.left) for row in found] == [("expert", 0), ("part", 3)]
    assert page(found).count("3 not played") == 1


def test_copies_of_a_run_are_told_apart_by_their_folders(folder: Path, tmp_path: Path) -> None:
    for name in ("original", "copy"):
        shutil.copytree(folder / "random", tmp_path / name)
    text = page(rows(tmp_path))
    assert all(f"{tmp_path / name}"[-40:] in text for name in ("original", "copy"))


def test_a_broken_episode_leaves_out_its_run_alone(folder: Path, tmp_path: Path) -> None:
    for name in ("expert", "rank"):
        shutil.copytree(folder / name, tmp_path / name)
    shutil.copytree(folder / "rank-blank", tmp_path / "blank")
    (tmp_path / "blank/index.jsonl").unlink()
    record = tmp_path / "blank/episodes/00000/episode.jsonl"
    record.write_text(record.read_text().replace('"cost":', '"cost":1e999,"was":'))
    said: list[str] = []
    found = rows(tmp_path, said.append)
    assert {Path(row.folder).name for row in found} == {"expert", "rank"}
    assert len(said) == 1 and str(record) in said[0]


def test_a_broken_run_of_other_pictures_leaves_out_its_run_alone(
    folder: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        shutil.copytree(folder / "rank", tmp_path / name)
    (tmp_path / "two/sights/blank").mkdir(parents=True)
    (tmp_path / "two/sights/blank/run.json").write_text("{}")
    told: list[str] = []
    assert [Path(row.folder).name for row in rows(tmp_path, told.append)] == ["one"]
    assert told and all("two/sights/blank/run.json is broken" in why for why in told)


def test_no_cell_of_the_table_is_a_formula(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "random", tmp_path / "random")
    header = tmp_path / "random/run.json"
    hostile = {"agent": "=HYPERLINK(0)", "model": "@\x1b[31m"}
    header.write_text(json.dumps(json.loads(header.read_text()) | hostile))
    stream = io.StringIO()
    write_csv(rows(tmp_path), stream)
    (line,) = csv.DictReader(io.StringIO(stream.getvalue()))
    assert (line["agent"], line["model"]) == ("'=HYPERLINK(0)", "'@\\x1b[31m")


def test_the_script_says_what_it_can_not_write(folder: Path, tmp_path: Path) -> None:
    def leaderboard(out: Path) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, str(SCRIPT), str(folder), str(out)]
        return subprocess.run(words, capture_output=True, text=True)

    assert leaderboard(tmp_path / "new/board.csv").returncode == 0
    assert "neither .html nor .csv" in leaderboard(tmp_path / "board.md").stderr
    (tmp_path / "board.html").mkdir()
    refused = leaderboard(tmp_path / "board.html")
    assert "can't be written" in refused.stderr and "Traceback" not in refused.stderr


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="contains none"):
        rows(tmp_path)


def test_a_run_of_another_version_is_left_out_by_name(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "expert", tmp_path / "good")
    later = tmp_path / "more" / "later"
    shutil.copytree(folder / "rank", later)
    header = json.loads((later / "run.json").read_text())
    (later / "run.json").write_text(json.dumps(header | {"version": 99}))
    told: list[str] = []
    assert [Path(row.folder).name for row in rows(tmp_path, told.append)] == ["good"]
    assert len(told) == 1 and f"{later / 'run.json'} is of another version" in told[0]
    with pytest.raises(RecordError, match="is of another version"):
        rows(tmp_path / "more")
