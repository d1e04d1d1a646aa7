"""Two runs against each other: figures known from tables, and what may not be mixed."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from made_run import Made, write_run
from toy_runs import play_toy, toy_tasks

from inhabit.cli import main
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.scoring.comparison import Difference, MixedError, compare, newcombe, sign_test


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (0, 1, 1.0),
        (0, 6, 2 / 64),
        (6, 0, 2 / 64),
        (1, 9, 22 / 1024),
        (3, 12, 0.03515625),  # R: binom.test(3, 15)
        (0, 5000, 0.0),
    ],
)
def test_the_sign_test_is_exact(one: int, other: int, expected: float) -> None:
    assert sign_test(one, other) == pytest.approx(expected, abs=1e-9)


def test_the_sign_test_of_many_tasks_takes_no_time() -> None:
    begun = time.process_time()
    assert sign_test(10_000, 10_141) == pytest.approx(0.32, abs=0.01)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        # Table II of Newcombe 1998 (pairs), method 10.
        ((36, 12, 2, 0), (0.0569, 0.3404)),
        ((20, 12, 2, 16), (0.0562, 0.3290)),
    ],
)
def test_the_interval_is_that_of_the_paper(
    table: tuple[int, int, int, int], expected: tuple[float, float]
) -> None:
    assert newcombe(*table) == pytest.approx(expected, abs=6e-4)


def test_the_interval_is_never_beyond_what_there_is() -> None:
    assert newcombe(0, 30, 0, 0)[1] == 1.0
    low, high = newcombe(0, 0, 0, 9)
    assert low == -high
    assert newcombe(3, 5, 2, 4) == tuple(-end for end in reversed(newcombe(3, 2, 5, 4)))


def test_an_expert_is_compared_with_chance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = toy_tasks(8)
    expert = play_toy(tmp_path / "expert", tasks=tasks, agent="expert")
    chance = play_toy(tmp_path / "chance", tasks=tasks[2:], grants=("expert",))
    found = compare(chance, expert)
    assert (found.tasks, found.only_first, found.only_second) == (6, 0, 2)
    assert found.second_solved + found.both_solved == 6
    gained = found.differences["success_rate"]
    assert gained.value == found.second_solved / 6
    for one in found.differences.values():
        assert one.interval[0] <= one.value <= one.interval[1]
    assert found.differences["regret"].value < 0 < found.differences["plw_success_rate"].value
    assert [p.task for p in found.changed] == [
        e.task for e in chance.episodes() if (end := e.end()) and not end.success
    ]
    with pytest.raises(SystemExit) as left:
        main(["compare", str(tmp_path / "chance"), str(tmp_path / "expert"), "--json"])
    assert left.value.code == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert figures["differences"]["success_rate"]["value"] == gained.value
    assert figures["changed"][0]["second"] == "success"


@pytest.mark.parametrize(
    ("interval", "p_value", "told"),
    [((0.01, 0.4), 0.06, True), ((-0.1, 0.4), 0.04, True), ((0.01, 0.4), 0.01, False)],
)
def test_an_interval_and_a_p_that_disagree_are_told(
    interval: tuple[float, float], p_value: float, told: bool
) -> None:
    assert Difference(value=0.2, interval=interval, p_value=p_value).disagrees is told


def test_a_run_is_no_different_from_itself(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run"))
    found = compare(run, run)
    assert found.changed == ()
    for one in found.differences.values():
        assert (one.value, one.interval, one.p_value) == (0, one.interval, 1)
    # Of n tasks without a difference, z2 / (n + z2) may still differ (Tango 1998).
    most = 1.96**2 / (found.tasks + 1.96**2)
    for name in ("goal_condition_rate", "plw_success_rate"):
        assert found.differences[name].interval == pytest.approx((-most, most), abs=1e-4)


def test_what_was_run_otherwise_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Run.open(write_run(tmp_path / "one"))
    other = Run.open(write_run(tmp_path / "other", Made(backend="unity")))
    with pytest.raises(MixedError, match="backend: 'embedded' in the first, 'unity'"):
        compare(one, other)
    assert compare(one, other, mixed=True).tasks == 4
    with pytest.raises(SystemExit) as left:
        main(["compare", str(tmp_path / "one"), str(tmp_path / "other")])
    assert left.value.code == 2
    assert "--mixed" in capsys.readouterr().err


def test_the_same_name_for_another_goal_is_another_task(tmp_path: Path) -> None:
    one = Run.open(write_run(tmp_path / "one"))
    other = Run.open(write_run(tmp_path / "other", Made(goal="fetch the {newspaper}")))
    with pytest.raises(MixedError, match="no task in common"):
        compare(one, other)


def test_a_task_with_another_reference_is_the_same_task(tmp_path: Path) -> None:
    tasks = toy_tasks(2)
    other = [task.model_copy(update={"reference_cost": None}) for task in tasks]
    first = play_toy(tmp_path / "first", tasks=tasks, agent="expert")
    second = play_toy(tmp_path / "second", tasks=other, agent="expert")
    for one, two in ((first, second), (second, first)):
        found = compare(one, two)
        assert (found.tasks, found.both_solved) == (2, 2)
        assert "plw_success_rate" in found.differences or one is second


def test_runs_of_two_environments_have_nothing_in_common(tmp_path: Path) -> None:
    play_toy(tmp_path / "one", tasks=toy_tasks(1), agent="expert")
    run = Run.open(tmp_path / "one")
    other = json.loads((tmp_path / "one/run.json").read_text())
    folder = write_run(tmp_path / "two", Made(episodes=1))
    header = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps({**header, "env": "other"}))
    assert other["env"] == "toy"
    with pytest.raises(MixedError, match="no task in common"):
        compare(run, Run.open(folder))


def test_a_page_of_two_folders_of_one_name_tells_them_apart(tmp_path: Path) -> None:
    """As the runs of an experiment have: `rank/seed-0` and `chat/seed-0`."""
    for agent, solved in (("rank", (True, False)), ("chat", (False, False))):
        write_run(tmp_path / agent / "seed-0", Made(solved=solved))
    page = tmp_path / "page.html"
    with pytest.raises(SystemExit):
        main(
            [
                "compare",
                *(str(tmp_path / a / "seed-0") for a in ("rank", "chat")),
                "--page",
                str(page),
            ]
        )
    told = page.read_text()
    assert "Solved only by rank/seed-0" in told and "Solved only by chat/seed-0" in told
