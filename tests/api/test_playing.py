"""Agents of one's own, recorded; and what was recorded, as tables."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import inhabit
from inhabit.agents.core import Agent, Decision, View
from inhabit.envs.core import TaskError, UnknownNameError
from inhabit.envs.errors import UserError
from inhabit.episodes.recording.reader import RecordError

QUICK = {"in_process": True}


def first(view: View) -> str:
    return view.candidates[len(view.history) % len(view.candidates)].text


class Stopping:
    async def decide(self, view: View) -> None:
        await asyncio.sleep(0)


class Whole(Agent):
    async def decide(self, view: View) -> Decision:
        assert view.grants.plan is not None
        return Decision((await view.grants.plan())[0])


def test_a_function_plays(tmp_path: Path) -> None:
    told = []
    results = inhabit.run(
        "toy",
        first,
        tmp_path,
        n=3,
        settings={**QUICK, "max_invalid": 4},
        on_episode=lambda episode, end: told.append((episode.number, end.ending)),
    )
    assert results.run.header.agent == f"{__name__}:first"
    assert results.run.header.settings.run["max_invalid"] == 4
    rows = results.episodes()
    assert [(row["episode"], row["ending"]) for row in rows] == told
    steps = results.steps(0)
    assert len(steps) == rows[0]["steps"] + 1
    assert steps[0]["raw"] == steps[0]["action"]
    assert Path(steps[0]["frame"]).is_file()
    assert results.observation(0, 0).rgb is not None
    with pytest.raises(RecordError, match="no 999"):
        results.observation(0, 999)


def test_a_name_in_a_file_plays(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def last(view):\n    return view.candidates[-1].text\n")
    results = inhabit.run("toy", f"{file}:last", tmp_path / "run", n=1, settings=QUICK)
    assert results.run.header.agent == "mine.py:last"
    attempt = results.run.episode(0).last()
    assert attempt is not None
    step = attempt.steps[0]
    assert step.decide is not None and step.decide.raw == step.candidates[-1]


@pytest.mark.parametrize("agent", [Stopping, Stopping()], ids=["class", "object"])
def test_a_class_and_an_object_play(tmp_path: Path, agent: object) -> None:
    results = inhabit.run("toy", agent, tmp_path, n=2, settings=QUICK, workers=2)  # type: ignore[arg-type]
    assert {row["ending"] for row in results.episodes()} == {"stopped"}


def test_grants_reach_an_agent_of_ones_own(tmp_path: Path) -> None:
    results = inhabit.run("toy", Whole, tmp_path, n=3, grants=["expert"], settings=QUICK)
    assert results.scores.success_rate == 1.0
    assert results.run.header.grants == ("expert",)


def test_the_same_record_as_the_command_writes(tmp_path: Path) -> None:
    from inhabit.cli import main

    with pytest.raises(SystemExit) as left:
        main(["run", "toy", "--agent", "random", "--n", "2", "--out", str(tmp_path / "a")])
    assert left.value.code == 0
    inhabit.run("toy", "random", tmp_path / "b", n=2)
    old, new = inhabit.read_run(tmp_path / "a"), inhabit.read_run(tmp_path / "b")

    def timeless(rows: inhabit.Table) -> list[dict[str, object]]:
        skipped = ("frame",)
        return [
            {k: v for k, v in row.items() if "seconds" not in k and k not in skipped}
            for row in rows
        ]

    assert timeless(old.steps()) == timeless(new.steps())
    assert timeless(old.episodes()) == timeless(new.episodes())


def test_the_same_call_resumes(tmp_path: Path) -> None:
    seen = []

    def interrupted(view: View) -> str:
        seen.append(view.seed)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return first(view)

    with pytest.raises(KeyboardInterrupt):
        inhabit.run("toy", interrupted, tmp_path, n=2, settings=QUICK)
    assert [row["ending"] for row in inhabit.read_run(tmp_path).episodes()] == [None, None]
    results = inhabit.run("toy", interrupted, tmp_path, n=2, settings=QUICK)
    assert None not in [row["ending"] for row in results.episodes()]
    with pytest.raises(RecordError, match="agent"):
        inhabit.run("toy", first, tmp_path, n=2, settings=QUICK)


def test_inside_a_running_event_loop(tmp_path: Path) -> None:
    async def cell() -> inhabit.RunResults:
        return inhabit.run("toy", "expert", tmp_path, n=2, settings=QUICK)

    assert asyncio.run(cell()).scores.success_rate == 1.0


def test_an_answer_of_the_wrong_type_ends_its_episode_with_the_cause(tmp_path: Path) -> None:
    results = inhabit.run("toy", lambda view: 7, tmp_path, n=1, settings=QUICK)  # type: ignore[arg-type,return-value]
    row = results.episodes()[0]
    assert row["ending"] == "model_fault"
    assert "answered 7" in row["error"]


def test_errors_cross_the_thread_of_a_notebook(tmp_path: Path) -> None:
    (tmp_path / "other.txt").touch()

    async def cell() -> None:
        inhabit.run("toy", "expert", tmp_path, n=1, settings=QUICK)

    with pytest.raises(RecordError, match=r"other\.txt"):
        asyncio.run(cell())


def test_mistakes_are_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="how many"):
        inhabit.run("toy", "expert", tmp_path)
    with pytest.raises(UnknownNameError, match="expert"):
        inhabit.run("toy", "exprt", tmp_path, n=1)
    for count in ("max_steps", "workers"):
        with pytest.raises(ValueError, match=f"{count} is 0, and must be at least 1"):
            inhabit.run("toy", "expert", tmp_path, n=1, **{count: 0})
    with pytest.raises(TypeError, match="not an agent"):
        inhabit.run("toy", 7, tmp_path, n=1)  # type: ignore[arg-type]
    with pytest.raises(RecordError, match="does not exist"):
        inhabit.read_run(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("argument", "value", "said"),
    [
        ("n", "2", "n is '2', and must be a whole number"),
        ("workers", "2", "workers is '2', and must be a whole number"),
        ("tasks", 5, "5 is neither tasks nor where to read them"),
        ("sight", "dark", "no sight 'dark'. Known names: blank, none, other, shown"),
        ("grants", ["all"], "no grant 'all'"),
        ("model", 5, "named as KIND:NAME.*, not 5"),
        ("settings", "in_process=true", "Settings are a dict"),
    ],
)
def test_an_argument_of_a_wrong_type_is_named(
    tmp_path: Path, argument: str, value: object, said: str
) -> None:
    with pytest.raises(UserError, match=said):
        inhabit.run("toy", "rank", tmp_path / "run", **{"n": 1, argument: value})  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


def test_tasks_that_are_given_are_checked(tmp_path: Path) -> None:
    toys, others = inhabit.tasks("toy", 1), inhabit.tasks("alfred", 1)
    out = tmp_path / "run"
    for tasks, said in (
        ([], "The list of tasks holds no task"),
        (others, r"task 1 .*its env is 'alfred'"),
        ([*toys, *toys], "is that of task 1 too"),
        ([{"id": "a"}], "it is a dict, not a Task"),
    ):
        with pytest.raises(TaskError, match=said):
            inhabit.run("toy", "expert", out, tasks=tasks)
        assert not out.exists()
    file = tmp_path / "toys.jsonl"
    file.write_text(toys[0].model_dump_json())
    assert inhabit.run("toy", "expert", out, tasks=file, settings=QUICK).run.tasks == toys


def test_tables_are_plain_data(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    results = inhabit.run("toy", "expert", tmp_path, n=2, settings=QUICK)
    rows = results.episodes()
    assert json.loads(json.dumps(rows)) == rows
    frame = results.steps().to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(results.steps()[0])
    shown = results._repr_html_()
    assert "95 % CI" in shown
    assert shown.count("<tr>") == 1 + 1 + 1 + 2
    assert results.show().is_file()


def test_a_set_as_a_table(tmp_path: Path) -> None:
    from inhabit.cli import main

    with pytest.raises(SystemExit) as left:
        words = ["synth", "toy", "--n", "6", "--seed", "0", "--set", "in_process=true"]
        main([*words, "--out", str(tmp_path / "set")])
    assert left.value.code == 0
    made = inhabit.read_set(tmp_path / "set")
    examples = made.examples()
    assert len(examples) == sum(row["kept"] for row in made.attempts()) >= 6
    assert examples[0]["candidates"][examples[0]["answer"]]
    assert made.observation(examples[0]["id"]).rgb is not None
    with pytest.raises(KeyError):
        made.observation("none such")
    assert "<table>" in made._repr_html_()


def test_importing_is_light() -> None:
    import subprocess
    import sys

    code = "import sys, inhabit; print('numpy' in sys.modules, inhabit.open.__module__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["False", "inhabit.api.session"]
