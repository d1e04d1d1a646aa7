"""`--agent FILE.py:NAME`: an agent in a file, recorded, and never loaded from a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sampling import every

from inhabit.cli import main
from inhabit.episodes.recording.reader import Run

AGENT = """
from pydantic import BaseModel
from inhabit.agents.core import Agent, Decision

class First(Agent):
    class Settings(BaseModel):
        number: int = 0

    def __init__(self, settings):
        self.number = settings.number

    async def decide(self, view):
        return Decision(view.candidates[self.number])

class Other:
    pass

class Plain:
    def decide(self, view):
        return view.candidates[0].text

ready = Plain()
number = 7

def plays(view):
    return view.candidates[0]

async def waits(view):
    return view.candidates[0].text

def factory():
    return Plain()

class NotWaiting(Agent):
    def decide(self, view):
        return Decision(view.candidates[0])
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "mine.py"
    found.write_text(AGENT)
    return found


def run(capsys: Any, code: int, *words: str) -> str:
    with pytest.raises(SystemExit) as left:
        main(list(words))
    said = capsys.readouterr()
    assert left.value.code == code, said.err
    return " ".join(said.err.split())


def play(file: Path, out: Path, kind: str = "First", *more: str) -> list[str]:
    words = ["run", "toy", "--agent", f"{file}:{kind}", "--n", "1", "--out", str(out)]
    return [*words, "--set", "in_process=true", *more]


def test_it_plays_and_is_on_record(file: Path, tmp_path: Path, capsys: Any) -> None:
    run(capsys, 0, *play(file, tmp_path / "run", "First", "--set", "number=1"))
    header = Run.open(tmp_path / "run").header
    assert header.agent == "mine.py:First"
    assert header.settings.agent == {"number": 1}
    assert header.software["mine.py"].startswith("sha256 ")
    run(capsys, 0, "replay", str(tmp_path / "run"))


@pytest.mark.parametrize("kind", every(2, ["Plain", "ready", "plays", "waits", "factory"]))
def test_whatever_decides_plays(kind: str, file: Path, tmp_path: Path, capsys: Any) -> None:
    run(capsys, 0, *play(file, tmp_path / "run", kind))
    (episode,) = Run.open(tmp_path / "run").episodes()
    end = episode.end()
    assert end is not None and end.error is None and end.steps > 0
    assert Run.open(tmp_path / "run").header.agent == f"mine.py:{kind}"


def test_a_decide_that_is_no_coroutine_is_named(file: Path, tmp_path: Path, capsys: Any) -> None:
    words = play(file, tmp_path / "run", "NotWaiting")
    words[words.index("--n") + 1] = "2"
    with pytest.raises(SystemExit):
        main(words)
    said = capsys.readouterr().out
    assert "2 episodes ended early:" in said
    told = "2 x The decide() of NotWaiting is not a coroutine: write 'async def decide(self, view)'"
    assert told in said


def test_what_is_made_already_takes_no_settings(file: Path, tmp_path: Path, capsys: Any) -> None:
    file.write_text(f"{AGENT}made = First(First.Settings())\n")
    said = run(capsys, 2, *play(file, tmp_path / "run", "made", "--set", "number=1"))
    assert "'number'" in said


def test_its_settings_are_listed(file: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["agents", f"{file}:First", "--json"])
    (setting,) = json.loads(capsys.readouterr().out)["settings"]
    assert setting["key"] == "number"


def test_another_file_does_not_go_on_with_the_run(file: Path, tmp_path: Path, capsys: Any) -> None:
    run(capsys, 0, *play(file, tmp_path / "run"))
    file.write_text(AGENT + "# changed\n")
    assert "was started with mine.py 'sha256" in run(capsys, 2, *play(file, tmp_path / "run"))


def test_a_record_never_loads_it(
    file: Path, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, 0, *play(file, tmp_path / "run"))
    file.write_text("import pathlib; pathlib.Path('ran').touch()")
    monkeypatch.chdir(tmp_path)
    for words in (
        ("replan", "run"),
        ("fork", "run", "--episode", "0", "--step", "0", "--action", "go to the kitchen"),
    ):
        assert "a record does not say which program is run" in run(capsys, 2, *words)
    assert not (tmp_path / "ran").exists()


def test_recorded_steps_are_asked_of_a_file_that_is_named(
    file: Path, tmp_path: Path, capsys: Any
) -> None:
    run(capsys, 0, *play(file, tmp_path / "run"))
    run(capsys, 0, "replan", str(tmp_path / "run"), "--agent", f"{file}:ready")


def test_the_same_agent_is_asked_again_with_its_recorded_settings(
    file: Path, tmp_path: Path, capsys: Any
) -> None:
    run(capsys, 0, *play(file, tmp_path / "run", "First", "--set", "number=1"))
    with pytest.raises(SystemExit):
        main(["replan", str(tmp_path / "run"), "--agent", f"{file}:First", "--json"])
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["agreement"] == 1.0, answer


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        (AGENT, "Other", "'Other' in"),
        (AGENT, "Other", "is not an agent. Name a class or an object with a method decide(view)"),
        (AGENT, "number", "is not an agent"),
        (AGENT, "Plane", "defines no 'Plane'. Did you mean: Plain"),
        ("raise OSError('no disk')", "First", "raised OSError: no disk (mine.py, line 1)"),
        ("def broken(:", "First", "raised SyntaxError"),
        (None, "First", "can't be read: No such file"),
    ],
)
def test_what_is_wrong_is_a_sentence(
    file: Path, tmp_path: Path, capsys: Any, code: str | None, kind: str, told: str
) -> None:
    file.unlink() if code is None else file.write_text(code)
    assert told in run(capsys, 2, *play(file, tmp_path / "run", kind))


@pytest.mark.parametrize("named", ["mine:First", "agents.mine:First", "./mine.py"])
def test_the_form_is_named_where_no_file_is(tmp_path: Path, capsys: Any, named: str) -> None:
    words = ("run", "toy", "--agent", named, "--n", "1", "--out", str(tmp_path / "run"))
    assert f"no agent '{named}'. Name one of your own by its file, as FILE.py:NAME" in run(
        capsys, 2, *words
    )


def test_an_agent_that_cannot_be_closed_costs_a_warning(
    file: Path, tmp_path: Path, capsys: Any
) -> None:
    file.write_text(
        f"{AGENT}\n    pass\n\nclass Stuck(First):\n    async def close(self):\n        1 / 0\n"
    )
    with pytest.warns(UserWarning, match="ZeroDivisionError.*when it was closed"):
        run(capsys, 0, *play(file, tmp_path / "run", "Stuck"))


@pytest.mark.parametrize(("needs", "code"), [("'lookahead'", 2), ("('lookahaed',)", 2)])
def test_needs_are_grants(file: Path, tmp_path: Path, capsys: Any, needs: str, code: int) -> None:
    file.write_text(f"{AGENT}\nclass Needy(First):\n    needs = {needs}\n")
    said = run(capsys, code, *play(file, tmp_path / "run", "Needy"))
    assert "not a tuple of grants such as (Grant.LOOKAHEAD,)" in said


def test_needs_may_be_names(file: Path, tmp_path: Path, capsys: Any) -> None:
    file.write_text(f"{AGENT}\nclass Needy(First):\n    needs = ('lookahead',)\n")
    run(capsys, 0, *play(file, tmp_path / "run", "Needy"))
    assert Run.open(tmp_path / "run").header.grants == ("lookahead",)


LEAVING = """
    async def decide(self, view):
        {how}
"""


@pytest.mark.parametrize(
    "how",
    ["raise __import__('asyncio').CancelledError", "raise SystemExit(0)", "raise BaseException"],
)
def test_an_agent_that_leaves_ends_its_episode_alone(
    file: Path, tmp_path: Path, capsys: Any, how: str
) -> None:
    file.write_text(f"{AGENT}\nclass Leaver(First):{LEAVING.format(how=how)}")
    run(capsys, 1, *play(file, tmp_path / "run", "Leaver", "--n", "2"))
    for episode in Run.open(tmp_path / "run").episodes():
        end = episode.end()
        assert end is not None and end.ending == "model_fault"
        assert "Leaver" in (end.error or "")
