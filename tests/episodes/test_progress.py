"""Progress where stderr is no terminal: lines with a count and an estimate."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from made_run import Made, write_run

from inhabit.cli import main
from inhabit.episodes.commands.progress import ProgressReport


def test_lines_tell_the_count_and_estimate_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    progress = ProgressReport("episodes", 12, done=2, note="50 % solved")
    progress.report_every([0.0])
    progress.advance(note="67 % solved")
    time.sleep(0.1)
    progress.report_every([0.0])
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("2 of 12 episodes, 50 % solved, ")
    assert "left" not in first, "Nothing was done yet by this call to estimate from."
    assert second.startswith("3 of 12 episodes, 67 % solved, ")
    assert ", about " in second and second.endswith("left")


def test_less_than_a_second_is_not_estimated() -> None:
    progress = ProgressReport("episodes", 1000)
    progress.set_done(999)
    assert progress.line().endswith("about 1.0 s left")


def test_what_is_done_is_said_once_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    progress = ProgressReport("examples", 1)
    progress.advance()
    progress.report_every([0.0, 0.0])
    assert capsys.readouterr().err == "", "The command itself says what it made."


def test_it_ends_with_the_work(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressReport("episodes", 1) as progress:
        progress.advance()
    progress.report_every([60.0, 60.0])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("words", "pages"), [(("--episode", "1"), 1), ((), 3)])
def test_show_counts_the_pages_that_it_writes(
    words: tuple[str, ...], pages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ProgressReport] = []

    class Kept(ProgressReport):
        def __init__(self, what: str, total: int) -> None:
            super().__init__(what, total)
            made.append(self)

    monkeypatch.setattr("inhabit.eie.commands.show.ProgressReport", Kept)
    with pytest.raises(SystemExit):
        main(["show", str(write_run(tmp_path / "run", Made(episodes=3, steps=1))), *words])
    assert made[0].line().startswith(f"{pages} of {pages} episodes")
