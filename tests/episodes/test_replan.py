"""Another agent is asked about recorded steps, without a simulator."""

from __future__ import annotations

import asyncio
import json
import shutil
from itertools import product
from pathlib import Path

import pytest
from made_run import Made, write_run
from toy_runs import Says, play_toy, toy_tasks

from inhabit.agents.core import View
from inhabit.agents.custom import adapt
from inhabit.cli import main
from inhabit.episodes.playing.replan import Replanned
from inhabit.episodes.playing.replan import replan as ask_again
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Choice, Sight
from inhabit.episodes.reports.page.differences import replan_items


@pytest.fixture
def chance(tmp_path: Path) -> Run:
    return play_toy(tmp_path / "run", tasks=toy_tasks(2), candidates=Choice.SEEN)


def replan(run: Run, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    with pytest.raises(SystemExit) as left:
        main(["replan", str(run.folder), *words, "--json"])
    assert left.value.code == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_an_agent_agrees_with_itself(chance: Run, capsys: pytest.CaptureFixture[str]) -> None:
    said = replan(chance, capsys)
    assert said["agreement"] == 1.0
    assert said["steps"] == sum(e.end().steps for e in chance.episodes())  # type: ignore[union-attr]


def test_another_model_is_held_against_every_step(
    chance: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"rules": [{"contains": "go to the hall", "logprob": -0.1}]}))
    rows = tmp_path / "rows.jsonl"
    said = replan(
        chance, capsys, "--agent", "rank", "--model", f"scripted:{script}", "--out", str(rows)
    )
    steps = [json.loads(line) for line in rows.read_text().splitlines()]
    assert said["steps"] == len(steps)
    recorded = [
        (e.number, s.number, s.decide.action)
        for e in chance.episodes() for a in [e.last()] if a for s in a.steps if s.decide
    ]  # fmt: skip
    assert [(r["episode"], r["step"], r["recorded"]) for r in steps] == recorded
    assert all(row["agrees"] == (row["action"] == row["recorded"]) for row in steps)
    assert 0 < sum(row["agrees"] for row in steps) < len(steps)


def test_what_worked_without_a_word_is_told_as_it_was(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1, feedback="")))
    told: list[str] = []

    def look(view: View) -> str:
        told.extend(step.feedback for step in view.history[-1:])
        return view.candidates[0].text

    async def ask() -> list[Replanned]:
        asked = ask_again(run.episode(0), adapt(look), sight=Sight.SHOWN, remember=2)
        return [step async for step in asked]

    steps = asyncio.run(ask())
    assert [step.step for step in steps] == [0, 1, 2, 3, 4]
    assert "" in told and not [one for one in told if "understood" in one]


def test_to_stop_is_no_answer_that_could_not_be_read(tmp_path: Path) -> None:
    said = Says(None, raw="Hm."), Says(None, stop=True)
    for one, other in product(said, said):
        run = play_toy(tmp_path / "run", tasks=toy_tasks(1), made=one, max_steps=2)

        async def ask(run: Run = run, other: Says = other) -> list[Replanned]:
            asked = ask_again(run.episode(0), other, sight=Sight.SHOWN, remember=2)
            return [step async for step in asked]

        steps = asyncio.run(ask())
        assert {step.agrees for step in steps} == {one is other is said[1]}
        (shown,) = replan_items(steps, tmp_path / "page.html")
        assert {row.differs for row in shown.rows} == {one is not other}
        shutil.rmtree(run.folder)


def test_what_needs_a_simulator_is_refused(chance: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["replan", str(chance.folder), "--agent", "expert"])
    assert left.value.code == 2
    assert "needs expert, which a recorded run cannot provide" in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_record_is_not_replaced_by_what_is_written(
    chance: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    file = chance.folder / "run.json"
    before = file.read_bytes()
    for option in ("--out", "--page"):
        with pytest.raises(SystemExit) as left:
            main(["replan", str(chance.folder), "--agent", "random", option, str(file)])
        assert left.value.code == 2 and file.read_bytes() == before
        assert "belongs to the record of a run" in " ".join(capsys.readouterr().err.split())


def test_steps_without_their_image_or_an_answer_are_counted(
    chance: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for frame in chance.folder.glob("episodes/00000/frames/*"):
        frame.unlink()
    steps = sum(1 for a in [chance.find("0").last()] if a for s in a.steps if s.decide)
    with pytest.raises(SystemExit):
        main(["replan", str(chance.folder), "--agent", "rank", "--model", "scripted:first"])
    said = " ".join(capsys.readouterr().err.split())
    assert f"{steps} of 30 steps were asked without their image" in said
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"abilities": ["images"], "replies": ["stop"]}))
    with pytest.raises(SystemExit):
        main(["replan", str(chance.folder), "--agent", "chat", "--model", f"scripted:{script}"])
    assert "At 29 of 30 steps the model failed: " in " ".join(capsys.readouterr().err.split())
