"""A program that answers lines of JSON: what it does wrong is said, and costs its life."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from inhabit.envs.core import SimulatorError
from inhabit.envs.host.pipes import Countdown, JsonProgram, stretch

ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


def test_each_line_has_an_answer() -> None:
    program = JsonProgram("Echo", [sys.executable, "-c", ECHO])
    for asked in ({"a": 1}, {"b": "\n" * 100_000}):
        assert program.ask(asked, 600) == asked
    program.close()
    program.close()


@pytest.mark.parametrize(
    ("code", "seconds", "says"),
    [
        ("import time; time.sleep(600)", 0.2, "no answer within 0.2 s"),
        ("print('[' * 10**6, flush=True)", 600, "Echo did not answer: maximum recursion"),
        ("print('no JSON')", 600, "Expecting value"),
        ("import sys; sys.exit('it broke')", 600, "(?s)closed its pipe|Broken pipe"),
        ("import sys; sys.exit('it broke')", 600, r"Its last words:\nit broke$"),
        ("while True: print('a' * 10**6, end='')", 600, "a line of more than"),
        (
            "import time\nwhile True: print(end='a', flush=True); time.sleep(.01)",
            0.5,
            "no answer within 0.5 s",
        ),
    ],
)
def test_what_it_does_wrong_is_said(code: str, seconds: float, says: str) -> None:
    program = JsonProgram("Echo", [sys.executable, "-c", code])
    process = psutil.Process(program.pid)
    with pytest.raises(SimulatorError, match=says):
        program.ask({}, seconds)
    assert not process.is_running()
    with pytest.raises(SimulatorError, match="It was closed"):
        program.ask({}, seconds)


def test_nothing_is_left_where_there_is_no_such_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        JsonProgram("Echo", ["/no/such/program"])
    assert not list(tmp_path.iterdir())


def test_seconds_pass_more_slowly_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(times: float) -> float:
        load = times * (os.cpu_count() or 1)
        monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
        return stretch()

    assert [busy(times) for times in (0.2, 1000.0, 5.0)] == [1.0, 10.0, 5.0]
    countdown = Countdown(1.0)
    countdown.next_wait()
    time.sleep(0.5)
    left = countdown.next_wait()
    # A sleep of up to two seconds counts, for .4 here; a longer one means that this was stopped.
    assert left is not None and 0.55 < left <= 1.0
