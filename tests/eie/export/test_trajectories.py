"""Trajectories of real runs, read with `datasets` and by a chat template."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq
import pytest

import inhabit
from inhabit.agents.core import Call, ModelError, View
from inhabit.cli import main

datasets = pytest.importorskip("datasets", reason="needs the package datasets")
N = 4


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("expert", "random"):
        settings = {"in_process": True}
        inhabit.run("toy", agent, folder / agent, n=N, max_steps=8, settings=settings)
    with pytest.raises(SystemExit):
        main(["credit", str(folder / "random")])
    out = folder.parent / "trajectories"
    _export(folder, out)
    loaded = datasets.load_dataset(str(out), split="train", cache_dir=str(folder / "cache"))
    return list(loaded)


def _export(source: Path, out: Path) -> None:
    with pytest.raises(SystemExit) as left:
        main(["export", str(source), "--format", "trajectories", "--out", str(out)])
    assert left.value.code == 0


def test_every_episode_is_there_whether_or_not_it_succeeded(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == 2 * N and {row["agent"] for row in rows} == {"expert", "random"}
    assert {row["success"] for row in rows} == {True, False}
    assert all(row["success"] == (row["ending"] == "success") for row in rows)


def test_messages_take_turns_and_hold_a_picture_each(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        roles = [message["role"] for message in row["messages"]]
        assert roles == ["system", *["user", "assistant"] * (len(roles) // 2)]
        assert len(row["rewards"]) == len(row["raw"]) == len(roles) // 2
        shown = [p for m in row["messages"] for p in m["content"] if p["type"] == "image"]
        assert len(shown) == len(row["images"]) == len(roles) // 2
        assert row["images"][0].size == (96, 96)
        assert row["messages"][1]["content"][0]["text"].startswith("Goal: ")


def test_an_agent_that_repeats_the_actions_gets_the_same_rewards(
    rows: list[dict[str, Any]],
) -> None:
    tasks = {task.id: (number, task) for number, task in enumerate(inhabit.tasks("toy", N))}
    for row in rows:
        number, _ = tasks[row["group"]]
        with inhabit.open("toy", number) as session:
            met, total = session.env.progress()
            for message, reward in zip(row["messages"][2::2], row["rewards"], strict=True):
                result = session.act(message["content"][0]["text"])
                assert reward == pytest.approx((result.met - met) / total)
                met = result.met
        assert row["return"] == pytest.approx(sum(row["rewards"]))


def test_tasks_of_one_id_that_differ_are_groups_of_their_own(tmp_path: Path) -> None:
    (task,) = inhabit.tasks("toy", 1)
    taken = f"{task.id} (2)"
    others = ((taken, task.goal), (task.id, task.goal), (task.id, "Do it another way."))
    for number, (id, goal) in enumerate(others):
        tasks = [task.model_copy(update={"id": id, "goal": goal})]
        agent = "expert" if number else "random"
        inhabit.run("toy", agent, tmp_path / "runs" / str(number), tasks=tasks, max_steps=2)
    _export(tmp_path / "runs", tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "data" / "train.parquet").to_pylist()
    assert [row["advantage"] for row in rows] == [0, 0, 0]
    assert [row["group"] for row in rows] == [taken, task.id, f"{task.id} (3)"]


def test_a_decision_that_a_fault_cut_short_has_neither_reward_nor_credit(tmp_path: Path) -> None:
    def decide(view: View) -> str:
        if view.history:
            raise ModelError("The model is away.").after([Call(messages=(), reply="Hm.")])
        return view.candidates[0].text

    run = inhabit.run("toy", decide, tmp_path / "run", n=1, settings={"in_process": True})
    with pytest.raises(SystemExit):
        main(["credit", str(run.folder)])
    _export(run.folder, tmp_path / "out")
    (row,) = pq.read_table(tmp_path / "out/data/train.parquet").to_pylist()
    assert len(row["rewards"]) == len(row["cost_to_go"]) == len(row["regret"]) == 1


def test_credit_is_told_where_it_was_asked_for(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row["agent"] == "expert":
            assert row["regret"] is row["cost_to_go"] is None
        else:
            left = [*row["cost_to_go"], row["cost_to_go"][-1] + row["regret"][-1] - 1]
            assert len(row["regret"]) == len(row["rewards"])
            told = [1 + after - before for before, after in pairwise(left)]
            assert told == row["regret"] and min(told) >= 0


def test_advantages_compare_the_runs_of_one_task(rows: list[dict[str, Any]]) -> None:
    for task in {row["group"] for row in rows}:
        group = [row for row in rows if row["group"] == task]
        assert len(group) == 2
        assert fmean(row["advantage"] for row in group) == pytest.approx(0, abs=1e-9)
        best = max(group, key=lambda row: row["return"])
        if len({row["return"] for row in group}) > 1:
            assert best["advantage"] == pytest.approx(1, abs=1e-2)


def test_a_set_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["export", str(tmp_path), "--format", "trajectories", "--out", str(tmp_path / "out")])
    assert left.value.code == 2 and "run.json" in capsys.readouterr().err
