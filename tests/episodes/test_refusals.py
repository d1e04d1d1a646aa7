"""Folders and names that a command can do nothing with, each refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import inhabit
from inhabit.agents.core import ModelError
from inhabit.cli import main
from inhabit.eie.examples.episode_steps import context_of
from inhabit.eie.sets.folder import SetError, SetFolder
from inhabit.eie.sets.folder import held as held_set
from inhabit.envs.core import UnavailableError
from inhabit.episodes.recording.folder import earlier, held
from inhabit.episodes.recording.reader import RecordError, Run
from tests.eie.made_set import write_set
from tests.plugins.mistakes import Bare


def test_a_folder_that_is_written_to_says_so(tmp_path: Path) -> None:
    told = r"is being written to by another run\. Wait for it, or"
    with held(tmp_path):
        with pytest.raises(RecordError, match=told), held(tmp_path):
            pass
        told = r"is being written to already\. Choose another --out"
        with pytest.raises(SetError, match=told), held_set(tmp_path):
            pass


def test_a_command_without_out_names_no_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = inhabit.run("toy", "random", tmp_path / "run", n=1, settings={"in_process": True}).folder
    with held(run), pytest.raises(SystemExit) as left:
        main(["credit", str(run)])
    assert left.value.code == 2
    assert capsys.readouterr().err.strip().endswith("another run. Wait for it.")


def test_a_refused_command_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="asks its model for words"):
        inhabit.run("toy", "chat", tmp_path / "run", n=1, model="scripted:first")
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match="kept"), held(tmp_path / "used"):
        (tmp_path / "used" / "file").touch()
        raise ValueError("kept")
    assert (tmp_path / "used" / "file").exists()


def test_a_run_whose_header_is_a_dangling_link_is_broken(tmp_path: Path) -> None:
    (tmp_path / "run.json").symlink_to(tmp_path / "nowhere.json")
    with pytest.raises(RecordError, match=r"run\.json"):
        earlier(tmp_path)


def test_a_set_that_lost_its_examples_says_so(tmp_path: Path) -> None:
    made = write_set(tmp_path / "set")
    file = made / "examples.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:3]) + lines[3][:-20])
    with pytest.raises(SetError, match=f"holds 3 examples, and .* tells of {len(lines)}"):
        list(SetFolder.open(made).examples())
    file.unlink()
    with pytest.raises(SetError, match="holds 0 examples, and"):
        list(SetFolder.open(made).examples())


@pytest.mark.parametrize("name", ["9" * 5000, "-1", "1e3", "99", "\N{SUPERSCRIPT TWO}"])
def test_an_episode_that_is_not_there_is_named_in_short(tmp_path: Path, name: str) -> None:
    inhabit.run("toy", lambda view: None, tmp_path / "run", n=1, settings={"in_process": True})
    with pytest.raises(RecordError, match=r"has no episode .*give a task id or 0\.\.0") as raised:
        Run.open(tmp_path / "run").find(name)
    assert len(str(raised.value)) < 400


def test_synthesis_names_what_an_environment_lacks() -> None:
    with pytest.raises(UnavailableError, match="it is not Expert or Factual or Privileged"):
        context_of(Bare(), [])
