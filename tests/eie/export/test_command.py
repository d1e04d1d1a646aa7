"""`inhabit export` and `inhabit show` of a set, as people and scripts type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inhabit.api.playing import run as play
from inhabit.cli import main
from tests.eie.made_set import read_examples, write_set


def inhabit(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(list(words))
    said = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, said.out, " ".join(said.err.split())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("sets") / "a {set} [bold]")


@pytest.mark.parametrize("form", ["llava", "llava-interleave", "messages", "pca", "jsonl"])
def test_a_set_is_exported(form: str, made: Path, tmp_path: Path, capsys: Any) -> None:
    out = str(tmp_path / "out")
    code, said, _ = inhabit(capsys, "export", str(made), "--format", form, "--out", out, "--json")
    assert code == 0
    count = len(read_examples(made))
    answer = {"source": str(made), "format": form, "out": out, "count": count, "left_out": {}}
    assert json.loads(said) == answer


def test_a_format_of_sets_says_so_of_a_run_without_success(tmp_path: Path, capsys: Any) -> None:
    play("toy", "random", tmp_path / "run", n=1, max_steps=1)
    words = ["export", str(tmp_path / "run"), "--format", "pca", "--out", str(tmp_path / "out")]
    code, _, told = inhabit(capsys, *words)
    assert code == 2 and "The format 'pca' holds examples" in told


def test_pca_says_what_it_leaves_out(tmp_path: Path, capsys: Any) -> None:
    made = write_set(tmp_path / "set")
    lines = (made / "examples.jsonl").read_text().splitlines()
    twin = json.dumps(json.loads(lines[0]) | {"id": "twin", "kind": "recognition"})
    (made / "examples.jsonl").write_text("".join(f"{line}\n" for line in [*lines, twin]))
    words = ["export", str(made), "--format", "pca", "--out", str(tmp_path / "out"), "--json"]
    code, said, told = inhabit(capsys, *words)
    assert code == 0
    assert "Left out 1 row: 1 with several images, where this format has one." in told
    answer = json.loads(said)
    assert (answer["count"], answer["left_out"]) == (len(lines), {"images": 1})


@pytest.mark.parametrize("form", ["egoplan", "recognition"])
def test_examples_of_other_kinds_are_counted(form: str, tmp_path: Path, capsys: Any) -> None:
    made = write_set(tmp_path / "set")
    kept = {"egoplan": "trajectory", "recognition": "recognition"}[form]
    others = sum(one.kind != kept for one in read_examples(made))
    assert others
    _, _, told = inhabit(
        capsys, "export", str(made), "--format", form, "--out", str(tmp_path / "out")
    )
    assert f"{others} of another kind than {kept}" in told


def test_a_folder_that_cannot_be_written_is_not_said_to_be_continued(
    made: Path, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "file").touch()
    out = str(tmp_path / "file" / "out")
    code, _, told = inhabit(capsys, "export", str(made), "--format", "llava", "--out", out)
    assert code == 1
    assert "export again into an empty folder" in told
    assert "to continue" not in told


def test_a_run_is_exported(tmp_path: Path, capsys: Any) -> None:
    run, out = str(tmp_path / "run"), str(tmp_path / "out")
    words = ["--agent", "expert", "--n", "2", "--set", "in_process=true", "--out", run]
    assert inhabit(capsys, "run", "toy", *words)[0] == 0
    code, said, _ = inhabit(capsys, "export", run, "--format", "lerobot", "--out", out)
    assert (code, said.strip()) == (0, f"Exported 2 episodes to {out}.")


def test_mistakes_are_named(made: Path, tmp_path: Path, capsys: Any) -> None:
    out = str(tmp_path / "out")
    for words, sentence in [
        ((str(made), "--format", "lerobot", "--out", out), "whole episodes"),
        ((str(tmp_path), "--format", "llava", "--out", out), "is not a run folder"),
        ((str(made), "--format", "llava", "--out", str(made)), "Choose another --out"),
        ((str(made), "--format", "tape", "--out", out), "tape"),
        ((str(made), "--format", "llava", "--pictures", "2", "--out", out), "--pictures has no"),
        ((str(made), "--format", "messages", "--set", "a=1", "--out", out), "--set has no effect"),
        ((str(made), "--format", "egoplan", "--set", "a=1", "--out", out), "--set has no effect"),
        ((str(made), "--format", "llava", "--trust-record", "--out", out), "--trust-record has no"),
    ]:
        code, _, said = inhabit(capsys, "export", *words)
        assert code == 2
        assert sentence in said


def test_show_writes_page_and_card(made: Path, capsys: Any) -> None:
    code, said, _ = inhabit(capsys, "show", str(made), "--json")
    assert code == 0
    assert json.loads(said) == {"page": str(made / "index.html"), "set": str(made)}
    before = {name: (made / name).read_bytes() for name in ("index.html", "README.md")}
    assert inhabit(capsys, "show", str(made))[0] == 0
    assert before == {name: (made / name).read_bytes() for name in before}


def test_a_set_that_is_not_finished_is_exported_as_such(tmp_path: Path, capsys: Any) -> None:
    made = write_set(tmp_path / "set", 1)
    words = ("export", str(made), "--format", "jsonl", "--out")
    assert "not finished" not in inhabit(capsys, *words, str(tmp_path / "whole"))[2]
    header = made / "set.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | {"finished": False}))
    code, _, told = inhabit(capsys, *words, str(tmp_path / "part"))
    assert code == 0 and "The set is not finished: 40 examples are wanted." in told


def test_an_export_that_failed_leaves_nothing_behind_a_link(tmp_path: Path, capsys: Any) -> None:
    run = play("toy", "random", tmp_path / "run", n=1, settings={"in_process": True}).folder
    frame = run / "episodes/00000/frames/0001.jpg"
    seen = frame.read_bytes()
    frame.write_text("no image")
    (tmp_path / "disk").mkdir(mode=0o711)
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    words = ("export", str(run), "--format", "atif", "--out", str(tmp_path / "out"))
    assert inhabit(capsys, *words)[0] == 2
    assert (tmp_path / "disk").stat().st_mode & 0o777 == 0o711
    frame.write_bytes(seen)
    assert inhabit(capsys, *words)[0] == 0


def test_a_folder_of_broken_runs_is_no_page(tmp_path: Path, capsys: Any) -> None:
    for name in ("one", "two"):
        run = play("toy", "random", tmp_path / name, n=1, settings={"in_process": True})
        record = run.folder / "episodes/00000/episode.jsonl"
        record.write_text('{"kind": "start"}\n' + record.read_text())
    code, _, said = inhabit(capsys, "show", str(tmp_path))
    assert code == 2 and said.endswith("holds no run that is whole.")
    assert not (tmp_path / "index.html").exists()


@pytest.mark.parametrize(
    ("shown", "words", "why"),
    [
        ("set", ("--video",), "--video has no effect on a data set."),
        ("set", ("--figure", "--steps", "0"), "--figure has no effect on a data set."),
        ("run", ("--steps", "0"), "--steps has no effect without --size or --figure."),
        ("run", ("--video", "--set", "x=1"), "--set has no effect without --size or --figure."),
        ("run", ("--video", "--size", "64x64", "--steps", "0"), "has no effect without --figure."),
        ("run", ("--figure", "--gif"), "--gif has no effect with --figure."),
        ("run", ("--all", "--episode", "0"), "--all has no effect with --episode."),
        ("run", ("--together", "one.gif", "--all"), "--all has no effect with --together."),
    ],
)
def test_show_refuses_what_has_no_effect(
    shown: str, words: tuple[str, ...], why: str, made: Path, tmp_path: Path, capsys: Any
) -> None:
    code, _, said = inhabit(capsys, "show", str(made if shown == "set" else tmp_path), *words)
    assert code == 2 and why in said


@pytest.mark.parametrize("form", ["llava", "lerobot"])
def test_a_run_without_frames_says_so_and_leaves_no_folder(
    form: str, tmp_path: Path, capsys: Any
) -> None:
    run, out = str(tmp_path / "run"), tmp_path / "out"
    words = ["run", "toy", "--agent", "expert", "--n", "1", "--out", run]
    assert inhabit(capsys, *words, "--set", "in_process=true", "--set", "frames=false")[0] == 0
    code, _, told = inhabit(capsys, "export", run, "--format", form, "--out", str(out))
    assert code == 2 and "Left out 1 episode without images" in told
    assert not out.exists()


def test_an_answer_that_is_no_candidate_is_named(tmp_path: Path, capsys: Any) -> None:
    made = write_set(tmp_path / "set")
    file = made / "examples.jsonl"
    first, *others = map(json.loads, file.read_text().splitlines())
    lines = [first | {"answer": 4}, *others]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    exported = ("export", str(made), "--format", "llava", "--out", str(tmp_path / "out"))
    tuned = ("tune", str(made), "--base", "local:x", "--out", str(tmp_path / "out"))
    for words in (exported, ("show", str(made)), tuned):
        code, _, said = inhabit(capsys, *words)
        assert code and "there is no candidate 4 for its answer" in said
        assert "line 1 " in said.lower()
