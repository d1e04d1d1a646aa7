"""A model that can't be asked ends the command, and what it spoilt is played by the same one."""

from __future__ import annotations

import csv
import io
import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from sampling import every
from toy_runs import Says, Silent, play_toy, toy_tasks

from inhabit.agents.core import Decision, ModelError, View
from inhabit.cli import main
from inhabit.episodes.playing.play import FaultsError
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending
from inhabit.episodes.reports.leaderboard import rows
from inhabit.episodes.reports.leaderboard.rows import page
from tests.agents.models.endpoints.endpoint import Answer, endpoint, error, good
from tests.agents.planners.toy_brain import Solver

TASKS = 6


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INHABIT_API_KEY", "sk-none-at-all")


def command(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(words)
    return int(left.value.code or 0)


def run(folder: Path, url: str, *words: str) -> int:
    said = ["run", "toy", "--agent", "chat", "--model", "openai:test", "--base-url", url]
    for setting in ("in_process=true", "backoff=0.01", "attempts=2"):
        said += ["--set", setting]
    return command(*said, "--n", str(TASKS), "--out", str(folder), *words)


def ends(folder: Path) -> list[Ending | None]:
    found = [episode.end() for episode in Run.open(folder).episodes()]
    return [end and end.ending for end in found]


def solved(request: Any, number: int) -> Answer:
    return good(Solver(toy_tasks(TASKS)).json(request))


def test_a_proxy_that_is_in_the_way_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        proxy = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with endpoint(solved) as serving:
        monkeypatch.setenv("http_proxy", proxy)
        assert run(tmp_path / "lost", serving.base_url) != 0
        assert "NO_PROXY=HOST" in " ".join(capsys.readouterr().err.split())
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        assert run(tmp_path / "found", serving.base_url) == 0


def test_where_nothing_is_no_episode_is_spent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert run(tmp_path, f"http://127.0.0.1:{port}/v1") != 0
    said = " ".join(capsys.readouterr().err.split())
    assert "the connection failed" in said and "Check --base-url" in said
    assert ends(tmp_path) == [None] * TASKS


@pytest.mark.parametrize(
    ("status", "says"), every(2, [(401, "INHABIT_API_KEY"), (404, "--base-url")])
)
def test_a_refusal_at_first_ends_the_command_and_the_same_goes_on(
    status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = True
    with endpoint(lambda r, n: error(status, "no") if wrong else solved(r, n)) as serving:
        assert run(tmp_path, serving.base_url) != 0
        assert says in capsys.readouterr().err
        assert len(serving.requests) == 1, "No further episode is tried."
        wrong = False
        assert run(tmp_path, serving.base_url) == 0
    assert ends(tmp_path) == [Ending.SUCCESS] * TASKS


def test_a_server_that_moved_is_asked_where_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def brain(request: Any, number: int) -> Answer:
        return solved(request, number) if number < 4 else error(401, "moved")

    def again(url: str, *words: str) -> int:
        monkeypatch.setattr(sys, "argv", ["inhabit", "--base-url", url])
        return run(tmp_path, url, *words)

    with endpoint(brain) as before, endpoint(solved) as after:
        assert again(before.base_url) != 0
        assert again(after.base_url, "--retry-faults") == 0
        assert again(after.base_url, "--set", "temperature=1") == 2, "That changes results."
        assert after.requests
        header = Run.open(tmp_path).header
        assert header.command[-1] == after.base_url
        assert [earlier[-1] for earlier in header.earlier_commands] == [before.base_url]
    assert ends(tmp_path) == [Ending.SUCCESS] * TASKS


def test_after_faults_in_a_row_it_stops_and_the_same_command_plays_them_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The endpoint answers for one episode and a decision, and then no more until it is mended."""
    left: float = 6

    def brain(request: Any, number: int) -> Answer:
        nonlocal left
        left -= 1
        return solved(request, number) if left >= 0 else error(500, "out of order")

    with endpoint(brain) as serving:
        assert run(tmp_path, serving.base_url) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert "3 episodes in a row ended by a fault of the model" in said
        assert "out of order" in said
        spoilt = ends(tmp_path)
        assert spoilt.count(Ending.MODEL_FAULT) == 3
        assert spoilt[-1] is None, "It stopped before the last."
        left = float("inf")
        assert run(tmp_path, serving.base_url, "--no-retry-faults") == 0
        assert ends(tmp_path).count(Ending.MODEL_FAULT) == 3
        assert run(tmp_path, serving.base_url) == 0
        begun = ends(tmp_path).index(Ending.MODEL_FAULT)
        assert ends(tmp_path).count(Ending.MODEL_FAULT) == 1, "The one that had begun."
        asked = len(serving.requests)
        assert run(tmp_path, serving.base_url, "--retry-faults") == 0
    assert ends(tmp_path) == [Ending.SUCCESS] * TASKS
    first, again = Run.open(tmp_path).episode(begun).attempts()
    assert first.end is not None and first.end.ending is Ending.MODEL_FAULT
    done = sum(step.act is not None for step in first.steps)
    assert done and len(serving.requests) == asked + len(again.steps) - 1 - done, (
        "What was paid before the fault is not paid again."
    )


def test_a_larger_budget_plays_on(tmp_path: Path) -> None:
    with endpoint(solved) as serving:
        assert run(tmp_path, serving.base_url, "--set", "budget_calls=0") == 1
        assert ends(tmp_path) == [Ending.BUDGET] * TASKS
        assert run(tmp_path, serving.base_url, "--set", "budget_calls=1000") == 0
    assert ends(tmp_path) == [Ending.SUCCESS] * TASKS


class Failing(Says):
    """Fails in every episode but the second of three."""

    async def decide(self, view: View) -> Decision:
        if view.goal != toy_tasks(2)[1].goal:
            raise ModelError("The model is away.")
        return await super().decide(view)


def test_faults_stand_beside_the_rate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good_run = play_toy(tmp_path / "runs" / "good", agent="expert")
    bad = play_toy(tmp_path / "runs" / "bad", made=Failing(None), agent="expert")
    assert ends(bad.folder).count(Ending.MODEL_FAULT) == 2
    assert command("compare", str(good_run.folder), str(bad.folder), "--json") == 0
    said = capsys.readouterr().out
    assert "0 in the first run, 2 in the second" in said
    assert json.loads(said.splitlines()[-1])["faults"] == [0, 2]
    assert command("show", str(tmp_path / "runs")) == 0
    beside = "2 of 3 ended by a fault"
    found = rows.rows(tmp_path / "runs")
    table = io.StringIO()
    rows.write_csv(found, table)
    assert [row["faults"] for row in csv.DictReader(table.getvalue().splitlines())] == ["0", "2"]
    pages = [tmp_path / "runs" / "index.html", bad.folder / "index.html"]
    for shown in [page(found), *(file.read_text() for file in pages)]:
        assert shown.count(beside) == 1


def test_a_run_in_python_stops_too(tmp_path: Path) -> None:
    with pytest.raises(FaultsError, match=r"3 episodes in a row.*The model is away"):
        play_toy(tmp_path, tasks=toy_tasks(5), made=Silent())
    assert ends(tmp_path) == [Ending.MODEL_FAULT] * 3 + [None] * 2


@pytest.mark.parametrize(("answered", "tried"), [(0, 0), (8, 4)])
def test_an_author_that_is_not_there_uses_up_no_attempt(
    answered: int, tried: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each task takes two requests, but one: a single refusal is that of a task."""

    def author(request: Any, number: int) -> Answer:
        if number >= answered:
            return error(503, "gone")
        return error(400, "unsafe") if number == 2 else good("{}")

    with endpoint(author) as serving:
        words = ["synth", "toy", "--author", "openai:test", "--base-url", serving.base_url]
        for setting in ("model.attempts=2", "backoff=0.01", "synth.attempts=50"):
            words += ["--set", setting]
        assert command(*words, "--n", "9", "--out", str(tmp_path / "set")) == 2
    assert "gave no answer in 2 tries; the last time it answered 503" in capsys.readouterr().err
    assert len((tmp_path / "set/attempts.jsonl").read_text().splitlines()) == tried


def test_a_fork_whose_model_is_not_there_leaves_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    answers = [{"when": "", "say": "go to the hall"}]
    script.write_text(json.dumps({"abilities": ["words"], "answers": answers}))
    words = ["--agent", "chat", "--model", f"scripted:{script}", "--set", "image=false"]
    folder = tmp_path / "run"
    assert not command("run", "toy", *words, "--n", "1", "--max-steps", "3", "--out", str(folder))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    where = ["--episode", "0", "--step", "1", "--model", "openai:test", "--base-url", url]
    assert command("fork", str(folder), *where, "--set", "attempts=1") == 2
    assert not list(folder.glob("forks/*"))
