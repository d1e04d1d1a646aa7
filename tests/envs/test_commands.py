"""Commands that set something up."""

from __future__ import annotations

import sys
import time

import pytest
from waiting import PATIENCE

from inhabit.envs.core import UnavailableError
from inhabit.envs.extras import pip, run


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_what_works_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    run(python("print('{words}')"), seconds=PATIENCE)
    run([*pip(sys.executable), "--version"], seconds=PATIENCE)
    assert capfd.readouterr() == ("", "")


def test_what_fails_is_quoted_with_what_to_do() -> None:
    program = "import sys; [print(i, '{x}', file=sys.stderr) for i in range(9)]; sys.exit(3)"
    with pytest.raises(UnavailableError) as failed:
        run(python(program), seconds=PATIENCE, advice="Try again.")
    assert str(failed.value).endswith("3 {x}\n4 {x}\n5 {x}\n6 {x}\n7 {x}\n8 {x}\nTry again.")
    assert "2 {x}" not in str(failed.value)


def test_what_does_not_end_or_is_not_there_is_told() -> None:
    begun = time.monotonic()
    with pytest.raises(UnavailableError, match="did not finish"):
        run(python("import time; time.sleep(1000)"), seconds=0.5)
    assert time.monotonic() - begun < PATIENCE
    with pytest.raises(UnavailableError, match="did not finish"):
        run(["/no such program"], seconds=1)


def test_variables_stand_beside_those_that_there_are() -> None:
    check = "import os; assert os.environ['PATH'] and os.environ['ASKED'] == 'a {b}'"
    run(python(check), seconds=PATIENCE, variables={"ASKED": "a {b}"})
