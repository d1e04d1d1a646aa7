"""A person takes back steps: the record goes on from the state before them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from toy_runs import toy_tasks

from inhabit.cli import main
from inhabit.envs.registry import find
from inhabit.episodes.playing.play import TAKEN_BACK
from inhabit.episodes.playing.resume import seconds_of
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending


def solution() -> list[str]:
    registration = find("toy")
    with registration.make("embedded", registration.settings()) as env:
        env.reset(toy_tasks(1)[0], seed=0)
        found = []
        while plan := env.plan():  # type: ignore[attr-defined]
            found.append(plan[0].text)
            env.act(plan[0])
        return found


def played(folder: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    with pytest.raises(SystemExit) as left:
        words = ["run", "toy", "--agent", "human", "--n", "1", "--set", "in_process=true"]
        main([*words, "--seed", "0", "--out", str(folder)])
    assert left.value.code == 0
    return Run.open(folder)


def actions(run: Run, attempt: int) -> list[str | None]:
    found = run.episode(0).attempts()[attempt]
    return [step.decide.action for step in found.steps if step.decide]


def test_steps_are_taken_back_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *rest = solution()
    lines = ["undo", first, "1", "undo", *rest]
    run = played(tmp_path / "run", lines, monkeypatch)
    cut, last = run.episode(0).attempts()
    assert cut.end is not None
    assert (cut.end.ending, cut.end.error) == (Ending.STOPPED, TAKEN_BACK)
    assert len(actions(run, 0)) == 2
    assert last.start.continues == 1
    assert actions(run, 1) == [first, *rest]
    assert last.end is not None and last.end.success
    # The time for what is done in place of it counts towards `max_seconds`.
    steps = [*cut.steps, *last.steps]
    acted = sum(step.see.seconds + (step.act.seconds if step.act else 0) for step in steps)
    anew = [*cut.steps, *last.steps[1:]]
    thought = sum(step.decide.seconds for step in anew if step.decide)
    assert seconds_of((cut, last)) == pytest.approx(acted + thought, abs=1e-9)
    with pytest.raises(SystemExit) as left:
        main(["replay", str(run.folder)])
    assert left.value.code == 0, "What was taken back has left nothing behind."


def test_a_run_that_is_paused_while_a_step_is_taken_back_goes_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *rest = solution()
    run = played(tmp_path / "run", [first, "1", "1", "undo", "undo", *rest], monkeypatch)
    assert len(run.episode(0).attempts()) == 3
    file = run.episode(0).file
    lines = file.read_bytes().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if b'"kind":"end"' in line]
    file.write_bytes(b"".join(lines[: ends[1] + 1]))
    (run.folder / "index.jsonl").unlink()
    assert not list(run.ended())
    run = played(tmp_path / "run", rest, monkeypatch)
    assert actions(run, -1) == [first, *rest]
    assert len(run.episode(0).attempts()) == 3


def test_all_steps_can_be_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = solution()
    run = played(tmp_path / "run", ["1", "2", "undo", "undo", *steps], monkeypatch)
    assert actions(run, -1) == steps
    assert run.episode(0).attempts()[-1].start.continues is None
