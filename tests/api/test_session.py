"""A person plays: open, look, act, fork."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

import inhabit
from inhabit.envs.core import Reason, TaskError, UnknownNameError
from inhabit.episodes.playing.settings import SettingError
from inhabit.episodes.view import LackingError


def test_the_experts_plan_solves_the_task() -> None:
    with inhabit.open("toy", seed=3) as session:
        for action in session.plan():
            assert not session.over
            result = session.act(action)
            assert result.reason is None, result.feedback
        assert result.success
        assert result.over
        assert session.plan() == []
        with pytest.raises(RuntimeError, match="reset"):
            session.act("go to the hall")
        session.reset()
        assert not session.over
        assert session.history == ()


def test_a_text_without_meaning_is_a_step_without_effect() -> None:
    with inhabit.open("toy") as session:
        before = session.observe()
        result = session.act("sing a <b>song</b>")
    assert result.action is None
    assert result.reason is Reason.UNKNOWN_ACTION
    assert result.cost == 0
    assert np.array_equal(result.observation.rgb, before.rgb)
    assert session.history[0].action == "sing a <b>song</b>"


def test_an_argument_of_a_wrong_type_is_named() -> None:
    with inhabit.open("toy") as session:
        for action in (5, None, ["go to the hall"]):
            with pytest.raises(TypeError, match="An action is a text"):
                session.act(action)  # type: ignore[arg-type]
        for task in (1, "toy-0-1"):
            with pytest.raises(TypeError, match=r"reset\(\) takes a Task, as inhabit\.tasks"):
                session.reset(task)  # type: ignore[arg-type]
        with pytest.raises(UnknownNameError, match=r"'all'\. Known names: oracle, seen, vocab"):
            session.candidates("all")
        assert session.history == ()
    for name in (None, 5, ["toy"]):
        with pytest.raises(UnknownNameError, match="There is no environment"):
            inhabit.open(name)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match=r"no setting env\.pixel\. Did you mean: pixels\?"):
        inhabit.open("toy", settings={"pixel": 96})
    for number in ("3", 2.0, None):
        with pytest.raises(TaskError, match=r"task is .*, and must be a whole number"):
            inhabit.open("toy", number)  # type: ignore[arg-type]
    with pytest.raises(TaskError, match="seed is 'x'"):
        inhabit.open("toy", seed="x")  # type: ignore[arg-type]
    with pytest.raises(TaskError, match="1,000,000 are the most"):
        inhabit.open("toy", 10**12)
    with pytest.raises(TaskError, match="Task 'toy-0-0' is of 'toy', and this session of 'alfred'"):
        inhabit.open("alfred", inhabit.tasks("toy", 1)[0])
    for settings in (None, "pixels=20"):
        with pytest.raises(SettingError, match="Settings are a dict"):
            inhabit.open("toy", settings=settings)  # type: ignore[arg-type]


def test_candidates_are_texts_that_act_understands() -> None:
    with inhabit.open("toy") as session:
        seen, said = session.candidates(), session.candidates("vocabulary")
        oracle = session.candidates("oracle")
        assert set(oracle) <= set(said)
        assert set(seen) < set(said)
        assert len(said) == 27
        assert session.act(oracle[0]).reason is None


def test_a_fork_leaves_the_original_alone() -> None:
    with inhabit.open("toy", seed=3) as session:
        with session.fork() as copy:
            first = copy.plan()[0]
            copy.act(first)
            assert len(copy.history) == 1
        assert session.history == ()
        assert session.plan()[0] == first


def test_a_number_starts_as_that_episode_of_a_run_does(tmp_path: Path) -> None:
    run = inhabit.run("toy", "expert", tmp_path / "run", n=3, seed=5).run
    attempt = run.episode(2).last()
    assert attempt is not None
    with inhabit.open("toy", 2, seed=5) as session:
        assert session.task == run.tasks[2]
        assert session.env.digest() == attempt.steps[0].see.state  # type: ignore[attr-defined]
        assert session.view().seed == attempt.start.seed


def test_an_agent_can_be_tried_on_a_view() -> None:
    with inhabit.open("toy") as session:
        view = session.view("vocabulary")
        assert len(view.candidates) == 27
        assert view.goal == session.goal
        parsed = asyncio.run(view.parse("Go to the hall."))
        assert parsed is not None
        assert parsed.text == "go to the hall"
        assert view.grants.plan is None


def test_a_worker_plays_the_same() -> None:
    with inhabit.open("toy", worker=True) as away, inhabit.open("toy") as here:
        action = here.plan()[0]
        ours, theirs = here.act(action), away.act(action)
        assert np.array_equal(ours.observation.rgb, theirs.observation.rgb)
        assert (ours.reason, ours.met, ours.cost) == (theirs.reason, theirs.met, theirs.cost)


def test_observations_show_themselves() -> None:
    with inhabit.open("toy", settings={"pixels": 32}) as session:
        seen = session.observe()
        png = seen._repr_png_()
        assert png is not None
        assert png.startswith(b"\x89PNG")
        assert seen._repr_html_().startswith("<figure")
        shown = session.act("<script>")._repr_html_()
        assert "data:image/png;base64," in shown
        assert "<script>" not in shown
        assert session.goal.split()[0] in session._repr_html_()


def test_mistakes_are_said_in_a_sentence() -> None:
    with pytest.raises(UnknownNameError, match="toy"):
        inhabit.open("toi")
    with pytest.raises(SettingError, match=r"env\.pixels"):
        inhabit.open("toy", settings={"pixels": 3})
    with pytest.raises(UnknownNameError, match="backend"):
        inhabit.open("toy", backend="unity")
    with pytest.raises(TaskError, match="no number 10000"):
        inhabit.open("alfred", 10_000, source="alfred-v1")
    with pytest.raises(TaskError, match="numbered from 0, and -1"):
        inhabit.open("toy", -1)
    with pytest.raises(TaskError, match=r"0 tasks are asked for \(n\)"):
        inhabit.tasks("toy", 0)


def test_numbers_of_numpy_and_a_single_name_are_understood() -> None:
    with inhabit.open("toy", np.int64(2), seed=np.int64(3)) as session:  # type: ignore[arg-type]
        assert session.task == inhabit.tasks("toy", 3, seed=3)[2]
    assert inhabit.tasks("toy", 2, kinds="put") == inhabit.tasks("toy", 2, kinds=["put"])


def test_what_an_environment_lacks_is_said(tmp_path: Path) -> None:
    from toy_runs import toy_tasks

    from inhabit.envs.core import Env
    from inhabit.envs.toy.env import Toy

    class Plain(Toy):
        plan = None  # type: ignore[assignment]
        fork = None  # type: ignore[assignment]

    plain: Env = Plain()
    session = inhabit.Session(plain, toy_tasks(1)[0])
    with pytest.raises(LackingError, match="expert"):
        session.plan()
    with pytest.raises(LackingError, match="copy"):
        session.fork()
