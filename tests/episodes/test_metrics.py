"""The figures of a run against what one reckons by hand, and what holds for any run."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_runs import play_toy, toy_tasks

from inhabit.envs.core import Task
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending, EndLine, Seconds, TokenCounts
from inhabit.episodes.scoring.builtin_metrics import path_weight, wilson
from inhabit.episodes.scoring.metric import Scored
from inhabit.episodes.scoring.scores import score


def ended(ending: Ending, met: int, total: int, steps: int, cost: int, invalid: int) -> EndLine:
    return EndLine(
        time=0,
        ending=ending,
        success=ending is Ending.SUCCESS,
        met=met,
        total=total,
        steps=steps,
        cost=cost,
        invalid=invalid,
        unmatched=min(invalid, 2),
        replans=1,
        seconds=Seconds(simulator=1, model=2, record=0.5, other=0.25),
        overhead_ms=tuple(float(i) for i in range(steps)),
        tokens=TokenCounts(read=100, written=10),
        error=None,
    )


def a_run(folder: Path, ends: list[EndLine | None], references: list[int | None]) -> Run:
    """A run whose episodes ended like this; None has not ended."""
    like = play_toy(folder / "like", tasks=toy_tasks(1), agent="expert")
    tasks = [
        like.tasks[0].model_copy(update={"id": str(i), "reference_cost": reference})
        for i, reference in enumerate(references)
    ]
    run = Run(folder, like.header, tuple(tasks))
    for episode, end in zip(run.episodes(), ends, strict=True):
        if end is not None:
            episode.folder.mkdir(parents=True)
            episode.file.write_text(end.model_dump_json(by_alias=True) + "\n")
    return run


def test_figures_by_hand(tmp_path: Path) -> None:
    run = a_run(
        tmp_path,
        [
            ended(Ending.SUCCESS, 2, 2, steps=4, cost=20, invalid=1),
            ended(Ending.STEP_LIMIT, 1, 4, steps=10, cost=5, invalid=3),
            ended(Ending.SIMULATOR_FAULT, 0, 3, steps=0, cost=0, invalid=0),
            ended(Ending.SUCCESS, 3, 3, steps=6, cost=6, invalid=0),
            None,
        ],
        [10, 30, 10, None, 10],
    )
    found = score(run)
    assert (found.episodes, found.planned) == (4, 5)
    assert found.success_rate == 0.5
    # Wilson for 2 of 4: (0.5 + z²/8) / (1 + z²/4) -+ z/(1 + z²/4) * sqrt(1/16 + z²/64).
    assert found.success_interval == pytest.approx((0.15003899, 0.84996101))
    assert found.goal_condition_rate == pytest.approx((1 + 0.25 + 0 + 1) / 4)
    assert found.plw_episodes == 3
    assert found.plw_success_rate == pytest.approx((10 * 10 / 20 + 0 + 0) / 50)
    assert found.plw_goal_condition_rate == pytest.approx((10 * 0.5 + 30 * 0.25 * 1 + 0) / 50)
    assert found.invalid_action_rate == pytest.approx(4 / 20)
    assert found.unmatched_rate == pytest.approx(3 / 20)
    assert found.replans == 4
    assert found.steps == 20
    assert found.seconds == Seconds(simulator=4, model=8, record=2, other=1)
    assert found.overhead_ms_p50 == 3.0, "Of 0..3, 0..9 and 0..5."
    assert found.tokens == TokenCounts(read=400, written=40)
    assert (found.tokens_per_success, found.seconds_per_success) == (220, 7.5)
    low, high = found.goal_condition_interval
    assert 0 <= low < found.goal_condition_rate < high <= 1
    (kind,) = found.kinds.values()
    assert (kind.episodes, kind.success_interval) == (4, found.success_interval)
    assert {k.value: v for k, v in found.endings.items() if v} == {
        "success": 2,
        "step_limit": 1,
        "simulator_fault": 1,
    }


def test_the_json_has_the_promised_keys(tmp_path: Path) -> None:
    found = json.loads(score(a_run(tmp_path, [None], [None])).model_dump_json(by_alias=True))
    assert found.keys() >= {
        "run", "env", "backend", "agent", "model", "candidates", "grants", "episodes",
        "success_rate", "success_interval", "goal_condition_rate", "plw_success_rate",
        "plw_goal_condition_rate", "invalid_action_rate", "unmatched_rate", "replans", "endings",
        "steps", "seconds", "overhead_ms_p50", "tokens",
    }  # fmt: skip
    assert found["endings"] == dict.fromkeys(
        ["success", "stopped", "step_limit", "invalid_limit", "wrong_answer", "format_error",
         "budget", "scene_refused", "simulator_fault", "model_fault"], 0,
    )  # fmt: skip
    assert found["seconds"].keys() == {"simulator", "model", "record", "other"}
    assert found["tokens"] == {"in": 0, "out": 0}
    assert found["plw_success_rate"] is None
    assert found["success_interval"] == [0.0, 1.0]


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_where_the_score_test_turns(case: tuple[int, int]) -> None:
    """Each end of the interval is a rate p with |k/n - p| = z sqrt(p (1 - p) / n)."""
    successes, trials = case
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    for p in (low, high):
        distance = abs(successes / trials - p)
        if 0 < p < 1:
            assert distance == pytest.approx(1.959964 * math.sqrt(p * (1 - p) / trials), abs=1e-5)


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_detour_weighs_less_and_a_short_cut_no_more(reference: int, taken: int) -> None:
    task = Task(id="t", env="toy", kind="put", goal="g", scene={}, reference_cost=reference)
    end = ended(Ending.SUCCESS, 1, 1, steps=1, cost=taken, invalid=0)
    weight = path_weight(Scored(task, end))
    assert 0 <= weight <= 1
    assert (weight == 1) == (taken <= reference)
    if taken > reference:
        assert weight == pytest.approx(reference / taken)
