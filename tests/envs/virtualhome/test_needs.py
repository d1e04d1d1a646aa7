"""What `inhabit doctor` says of VirtualHome, on machines that lack something of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from present import needs_eai, needs_virtualhome
from served import served

from inhabit.cli import main
from inhabit.envs.core import SimulatorError, UnavailableError
from inhabit.envs.virtualhome import setup
from inhabit.envs.virtualhome.setup import needs
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

EAI = "virtualhome: the goal tasks of eai-eval (--tasks eai)"


def findings(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    with pytest.raises(SystemExit):
        main(["doctor", "--json"])
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    return {finding["what"]: finding for finding in answer["findings"]}


def test_a_machine_that_has_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("INHABIT_EAI", raising=False)
    found = findings(capsys)
    for what in ("virtualhome (embedded)", "virtualhome (unity)", EAI):
        assert found[what]["state"] == "lacking"
        assert found[what]["fix"].startswith("inhabit setup virtualhome")


def test_an_interpreter_without_its_python_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    venv = setup.interpreter().parents[1]
    (venv / "lib").mkdir(parents=True)

    def make(folder: Path) -> None:
        (folder / "bin/python").mkdir(parents=True)
        raise UnavailableError("That was all.")

    monkeypatch.setattr(setup, "_make_interpreter", make)
    with pytest.raises(UnavailableError, match="That was all"):
        setup.prepare("embedded", lambda said: None)
    assert not venv.exists()


@needs_virtualhome
@needs_eai
def test_a_machine_that_was_set_up_lacks_the_unity_build_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = findings(capsys)
    assert found["virtualhome (embedded)"]["state"] == "ok"
    assert EAI not in found
    if found["virtualhome (unity)"]["state"] != "ok":
        assert "Unity build" in found["virtualhome (unity)"]["found"]
        assert "--set executable=PATH" in found["virtualhome (unity)"]["fix"]


@needs_virtualhome
def test_what_answers_at_the_usual_port_is_found() -> None:
    port = VirtualHomeSettings().port
    try:
        with served(port=port):
            assert needs("unity") == []
    except SimulatorError:
        pytest.skip(f"port {port} is taken on this machine")
    (need,) = needs("unity")
    assert f"port {port}" in need.what
