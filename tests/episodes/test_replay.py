"""A replay is identical, or names the first step that was tampered with and how."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_runs import Dying, play_toy, toy, toy_tasks

import inhabit
from inhabit.cli import main
from inhabit.envs.core import Action, Determinism, Observation, Outcome, Task
from inhabit.envs.registry import find
from inhabit.envs.simulators.render import VERSION
from inhabit.envs.toy.env import Toy
from inhabit.episodes.playing.from_record import env_of_run
from inhabit.episodes.playing.retrace import Divergence, IncomparableError, Replay, replay_run
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending
from inhabit.episodes.reports.page.differences import replay_items
from inhabit.episodes.reports.wording import apart


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return play_toy(tmp_path_factory.mktemp("played"), tasks=toy_tasks(3), agent="random")


def tampered(
    run: Run, folder: Path, kind: str, step: int | None, change: Callable[[Any], None]
) -> Run:
    """A copy of `run` with one line of episode 1 changed."""
    shutil.copytree(run.folder, folder)
    file = Run.open(folder).episode(1).file
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        if line["kind"] == kind and line.get("step") == step:
            change(line)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Run.open(folder)


def test_what_was_recorded_comes_out_again(played: Run) -> None:
    replays = list(replay_run(played, toy))
    assert [r.difference for r in replays] == [None] * 3
    assert [r.steps for r in replays] == [e.end().steps for e in played.episodes()]  # type: ignore[union-attr]


def test_a_record_older_than_a_setting_is_replayed_by_the_rules_of_then(tmp_path: Path) -> None:
    run = inhabit.run(
        "alfred",
        "scripted",
        tmp_path / "run",
        settings={"actions": "slice it; sing", "least_cost": 0, "wire": "none", "in_process": True},
        n=1,
        max_steps=2,
    )
    file = run.folder / "run.json"
    header = json.loads(file.read_text())
    assert header["settings"]["env"].pop("least_cost") == 0
    file.write_text(json.dumps(header))
    old = Run.open(run.folder)
    assert [one.difference for one in replay_run(old, env_of_run(old))] == [None]
    header["settings"]["env"]["least_cost"] = 1
    file.write_text(json.dumps(header))
    new = Run.open(run.folder)
    assert "cost" in str(next(replay_run(new, env_of_run(new))).difference)


@pytest.mark.parametrize(
    ("kind", "step", "field", "value", "what"),
    [
        ("see", 4, "digest", "0123456789abcdef", "frame"),
        ("see", 0, "state", "0123456789abcdef", "state"),
        ("see", 3, "text", "You have a {mug} in your [hand].", "text"),
        ("see", 2, "candidates", ["fly away"], "candidates"),
        ("act", 5, "feedback", "All is well.", "feedback"),
        ("act", 1, "met", 7, "met"),
        ("act", 2, "cost", 99, "cost"),
        ("decide", 3, "action", "fly to the {moon}", "action"),
    ],
)
def test_the_first_step_that_was_tampered_with_is_named(
    played: Run, tmp_path: Path, kind: str, step: int, field: str, value: object, what: str
) -> None:
    run = tampered(played, tmp_path / "run", kind, step, lambda line: line.update({field: value}))
    first, second, third = replay_run(run, toy)
    assert first.difference is None
    assert third.difference is None, "The next episodes are acted all the same."
    assert second.difference is not None
    assert (second.difference.step, second.difference.what) == (step, what)
    assert second.difference.recorded == value
    assert second.difference.replayed != value
    assert second.steps == step


@pytest.mark.parametrize(
    ("field", "value"), [("success", True), ("met", 9), ("steps", 3), ("cost", 99), ("invalid", 0)]
)
def test_an_end_that_was_tampered_with_is_named(
    played: Run, tmp_path: Path, field: str, value: object
) -> None:
    run = tampered(played, tmp_path / "run", "end", None, lambda line: line.update({field: value}))
    _, second, _ = replay_run(run, toy)
    assert second.difference is not None and second.difference.what == field
    assert second.difference.recorded == value != second.difference.replayed
    assert second.difference.step == second.steps


def test_a_difference_far_into_a_long_value_is_shown(played: Run, tmp_path: Path) -> None:
    long = "x" * 900 + "y" * 900
    again = Divergence(0, "text", "x" * 900, long)
    (item,) = replay_items([Replay(played.episode(1), 0, again)], tmp_path / "page.html")
    assert item.rows[0].differs
    assert apart("x" * 900, long, 300) == ("..." + "x" * 150, "..." + "x" * 150 + "y" * 150 + "...")
    assert apart("short", "shorter", 300) == ("short", "shorter")


def test_another_action_shows_in_what_comes_of_it(played: Run, tmp_path: Path) -> None:
    """The words of step 0 are exchanged for others that mean something."""
    was = played.episode(1).last()
    assert was is not None
    assert was.steps[0].decide is not None
    other = next(a for a in ("go to the hall", "drop the cup") if a != was.steps[0].decide.action)
    run = tampered(played, tmp_path / "run", "decide", 0, lambda line: line.update(action=other))
    found = list(replay_run(run, toy, iter([run.episode(1)])))
    assert found[0].difference is not None
    assert found[0].difference.step <= 1


class Flickers(Toy):
    """The same house under a light that is never the same."""

    determinism = Determinism.STATE
    seen = 0

    def observe(self) -> Observation:
        Flickers.seen += 1
        return Observation("", np.full((8, 8, 3), Flickers.seen % 256, np.uint8))


class Wild(Toy):
    determinism = Determinism.NONE


def test_it_compares_as_much_as_the_backend_promises(played: Run, tmp_path: Path) -> None:
    flickering = play_toy(tmp_path, agent="scripted", make=Flickers)
    found = list(replay_run(flickering, Flickers))
    assert [r.difference for r in found] == [None] * 3
    with pytest.raises(IncomparableError, match="not deterministic"):
        list(replay_run(played, Wild))


def test_faults_and_refusals_come_out_again_too(tmp_path: Path) -> None:
    bad = Task(id="bad", env="toy", kind="put", goal="?", scene={"room": "cellar"})
    run = play_toy(tmp_path, tasks=[bad, *toy_tasks(2)], agent="expert", make=lambda: Dying(3))
    endings = [end.ending for e in run.episodes() if (end := e.end())]
    assert endings[:2] == [Ending.SCENE_REFUSED, Ending.SIMULATOR_FAULT]
    assert [r.difference for r in replay_run(run, toy)] == [None] * 3
    died = list(replay_run(run, lambda: Dying(1)))
    assert died[0].difference is None
    assert died[1].difference is not None
    assert died[1].difference.what == "simulator"


def test_what_was_never_begun_is_not_called_identical(
    played: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(played.folder, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "episodes" / "00001")
    with pytest.raises(SystemExit) as left:
        main(["replay", str(tmp_path / "run"), "--episode", "1"])
    assert left.value.code == 2
    said = capsys.readouterr()
    assert "no episode is recorded yet" in said.err and not said.out


def test_the_command_says_it_with_its_exit_code(
    played: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["replay", str(played.folder), "--episode", "toy-0-2", "--json"])
    assert left.value.code == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["identical"], last["episodes"], last["differences"]) == (True, 1, [])
    run = tampered(played, tmp_path / "run", "act", 1, lambda line: line.update(feedback="[{no}]"))
    with pytest.raises(SystemExit) as left:
        main(["replay", str(run.folder), "--json"])
    assert left.value.code == 1
    said = capsys.readouterr().out.splitlines()
    assert 'episode 1 (toy-0-1), step 1: feedback was "[{no}]" and is now ' in said[0]
    (difference,) = json.loads(said[-1])["differences"]
    assert (difference["id"], difference["step"]) == ("toy-0-1", 1)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("rendered") / "run"
    with pytest.raises(SystemExit):
        main(
            f"run alfred --agent random --n 1 --max-steps 2 --out {folder} "
            "--set wire=none --set width=64 --set height=64".split()
        )
    return Run.open(folder)


def test_a_fault_in_this_process_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Faulty(Toy):
        def act(self, action: Action) -> Outcome:
            raise KeyError("bug")

    run = play_toy(tmp_path / "run", assignments=["in_process=true"])
    faulty = replace(find("toy"), make=lambda backend, settings: Faulty(settings))
    monkeypatch.setattr("inhabit.episodes.playing.from_record.find_env", lambda name: faulty)
    with pytest.raises(SystemExit) as left:
        main(["replay", str(run.folder), "--trust-record"])
    assert left.value.code == 1
    assert "the simulator failed during the replay: 'act' failed" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1", pytest.param(VERSION, marks=pytest.mark.slow)])
def test_images_of_another_renderer_are_not_compared(
    rendered: Run, tmp_path: Path, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rendered.header.software["renderer"] == VERSION
    shutil.copytree(rendered.folder, tmp_path / "run")
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    header["software"]["renderer"] = version
    (tmp_path / "run" / "run.json").write_text(json.dumps(header))
    file = Run.open(tmp_path / "run").episode(0).file
    digest = Run.open(tmp_path / "run").episode(0).last().steps[1].see.digest  # type: ignore[union-attr]
    file.write_text(file.read_text().replace(str(digest), "0123456789abcdef"))
    with pytest.raises(SystemExit) as left:
        main(["replay", str(tmp_path / "run"), "--json"])
    *said, last = capsys.readouterr().out.splitlines()
    found = json.loads(last)
    if version == VERSION:
        assert (left.value.code, found["images_compared"]) == (1, True)
        assert found["differences"][0]["what"] == "frame"
    else:
        assert (left.value.code, found["images_compared"]) == (0, False)
        assert "Images were not compared: version 1 of the renderer" in said[-1]
