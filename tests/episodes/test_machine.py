"""Findings about machines that are made to lack something."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import inhabit.envs.toy
from inhabit.cli import main
from inhabit.episodes import machine
from inhabit.episodes.machine import Finding, Status

HERE = Path(machine.__file__).parents[1]


def named(findings: list[Finding], what: str) -> Finding:
    return next(finding for finding in findings if finding.what == what)


def test_what_is_required_is_installed_here() -> None:
    assert named(list(machine.packages()), "packages").state is Status.OK


def test_caches_that_can_not_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked / "numba"))
    findings = list(machine.caches())
    assert named(findings, "cache").state is Status.BROKEN
    assert "XDG_CACHE_HOME" in named(findings, "cache").fix
    assert named(findings, "compiled code").state is Status.LACKING
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new" / "folder"))
    assert named(list(machine.caches()), "cache").state is Status.OK


def test_a_user_without_a_home_is_told_which_variable_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a container that is started with the number of a user it does not know."""
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 3)
    with pytest.raises(SystemExit) as left:
        main(["doctor"])
    assert left.value.code == 2
    assert "Set XDG_CACHE_HOME" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("program", "says", "state"),
    [
        ("java", "echo 'openjdk version \"1.8.0_412\"' >&2", Status.OK),
        ("java", "echo 'openjdk version \"17.0.15\"' >&2", Status.LACKING),
        ("java", "exit 3", Status.LACKING),
        ("node", "echo v20.1.0", Status.OK),
        ("node", "echo v12.22.0", Status.LACKING),
        ("node", "printf '\\377 {not} [a version]'", Status.LACKING),
    ],
)
def test_programs_are_asked_for_their_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, says: str, state: Status
) -> None:
    (tmp_path / program).write_text(f"#!/bin/sh\n{says}\n")
    (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    found = named(list(machine.programs()), program.capitalize())
    assert found.state is state
    assert bool(found.fix) == (state is not Status.OK)


def test_a_machine_without_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert {finding.found for finding in machine.programs()} == {"not found"}


def test_the_doctor_says_whether_the_defaults_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as well:
        main(["doctor", "--json"])
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert not well.value.code and answer["ready"]
    assert all(bool(f["fix"]) == (f["state"] != "ok") for f in answer["findings"])
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(SystemExit) as ill:
        main(["doctor"])
    assert ill.value.code == 1
    assert "export XDG_CACHE_HOME=FOLDER" in capsys.readouterr().out


def test_setup_starts_an_environment_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as done:
        main(["setup", "toy", "--json"])
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert not done.value.code
    assert (answer["env"], answer["backend"]) == ("toy", "grid")
    assert "started and took one step" in answer["told"][0]


@pytest.mark.parametrize(
    ("arguments", "near"), [(["tooy"], "toy"), (["toy", "--backend", "gird"], "grid")]
)
def test_setup_of_an_unknown_name_says_the_nearest(
    arguments: list[str], near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as done:
        main(["setup", *arguments])
    assert done.value.code == 2
    assert f"Did you mean: {near}" in capsys.readouterr().err


def test_setup_has_the_environment_bring_what_it_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def prepare(backend: str, tell: Callable[[str], None]) -> None:
        tell(f"{{built}} for {backend}")

    monkeypatch.setattr(
        inhabit.envs.toy, "REGISTRATION", replace(inhabit.envs.toy.REGISTRATION, prepare=prepare)
    )
    with pytest.raises(SystemExit) as done:
        main(["setup", "toy"])
    assert not done.value.code
    assert capsys.readouterr().out.startswith("{built} for grid\n")
