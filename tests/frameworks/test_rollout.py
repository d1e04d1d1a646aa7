from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from processes import workers
from toy_runs import play_toy, toy, toy_tasks

import inhabit
from inhabit.envs.core import Env, SceneError, TaskError, UnknownNameError
from inhabit.envs.toy.env import Toy
from inhabit.episodes.credit.credit import credit_run
from inhabit.episodes.episode import Episode
from inhabit.episodes.playing.settings import SettingError
from inhabit.episodes.recording.schema import Ending
from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.rollout import Rollout, Starts
from inhabit.frameworks.turn import Turn
from inhabit.frameworks.verl_agent import EnvironmentManager


def _solved(rollout: Rollout) -> list[Turn]:
    return [rollout.act(text) for text in rollout.session.plan()]


@pytest.mark.parametrize("reward", ["success", "conditions", "progress", "regret"])
def test_the_experts_rewards_add_up_to_what_was_missing(reward: str) -> None:
    with rollouts("toy", 5, reward=reward).open() as rollout:
        for task in range(5):
            first = rollout.reset(task)
            turns = _solved(rollout)
            missing = 1 - first.met / first.total if reward == "conditions" else 1.0
            assert sum(turn.reward for turn in turns) == pytest.approx(missing)
            assert rollout.value == pytest.approx(missing)
            assert turns[-1].ending is Ending.SUCCESS and turns[-1].success


def test_progress_falls_when_the_goal_gets_further_away() -> None:
    with rollouts("toy", 1, reward="progress").open() as rollout:
        rollout.reset(0)
        first, *_ = rollout.session.plan()
        gained = rollout.act(first).reward
        away = next(a for a in rollout.turn.candidates if a.startswith("go to") and a != first)
        assert gained > 0 > rollout.act(away).reward


def test_regret_is_what_credit_tells(tmp_path: Path) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(3, seed=2), agent="random", seed=2)
    with rollouts("toy", 3, seed=2, reward="regret").open() as rollout:
        for record, found in credit_run(run, toy):
            planned = rollout.reset(record.number) and len(rollout.session.plan())
            for step in found.steps:
                paid = rollout.act(step.action or "").reward
                assert step.regret is not None and not found.success
                assert paid == pytest.approx(-step.regret.actions / planned)


def test_it_starts_as_the_session_and_the_run_of_the_same_number() -> None:
    factory = rollouts("toy", 3, seed=5)
    for task in range(3):
        with factory.open() as rollout, inhabit.open("toy", task, seed=5) as session:
            turn = rollout.reset(task)
            assert turn.text.startswith(f"Goal: {session.goal}")
            assert turn.picture is not None and session.last.rgb is not None
            assert np.array_equal(turn.picture, session.last.rgb)


@pytest.mark.parametrize(
    "env", ["toy", "alfred", pytest.param("virtualhome", marks=pytest.mark.slow)]
)
def test_a_copied_start_plays_like_one_built_anew(env: str) -> None:
    kept, built = rollouts(env, 2, keep=2), rollouts(env, 2, keep=0)
    with kept.open() as first, kept.open() as second, built.open() as third:
        for task in (0, 1, 0):
            turns = [rollout.reset(task) for rollout in (first, second, third)]
            plan = third.session.plan()[:3]
            for text in plan:
                assert len({turn.text for turn in turns}) == 1
                turns = [rollout.act(text) for rollout in (first, second, third)]
            pictures = [turn.picture for turn in turns]
            assert all(np.array_equal(pictures[0], one) for one in pictures)


def test_forks_go_on_alone() -> None:
    with rollouts("toy", 1).open() as rollout:
        rollout.reset(0)
        plan = rollout.session.plan()
        rollout.act(plan[0])
        group = rollout.fork(3)
        for text in plan[1:]:
            group[0].act(text)
        assert group[0].turn.success and group[0].turn.steps == len(plan)
        assert not group[1].turn.done and group[1].turn.steps == rollout.turn.steps == 1


def test_copies_of_one_simulator_can_be_stepped_by_threads() -> None:
    factory = rollouts("alfred", 2, settings={"width": 64, "height": 64})

    def play(number: int) -> list[str]:
        with factory.open() as rollout:
            rollout.reset(number % 2)
            return [rollout.act(text).text for text in ("look around", "turn left", "turn right")]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(play, range(8)))
    assert found[0] == found[2] == found[4] == found[6]
    assert found[1] == found[3] == found[5] == found[7]


def test_no_more_starts_are_kept_than_asked_for() -> None:
    closed: list[int] = []
    begun = Barrier(3)
    starts = Starts(1)

    class Noted(Episode):
        def close(self) -> None:
            closed.append(1)

    tasks = inhabit.tasks("toy", 3)

    def begin(number: int) -> None:
        def start(env: Env | None) -> Episode:
            begun.wait(10)  # All three find that there is still room.
            return Noted(Toy(), tasks[number])

        starts.take(number, None, start)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(begin, range(3)))
    assert len(closed) == 2


def test_how_episodes_end() -> None:
    factory = rollouts("toy", 2, max_steps=3, max_invalid=2, penalty=0.5)
    with factory.open() as rollout:
        rollout.reset(0)
        assert rollout.act("Stop").ending is Ending.STOPPED
        with pytest.raises(RuntimeError, match="call reset"):
            rollout.act("go to the hall")
        rollout.reset(0)
        turn = rollout.act("fly to the moon")
        assert (turn.reason, turn.reward, turn.done) == ("unknown_action", -0.5, False)
        assert rollout.act("open the window").ending is Ending.FORMAT_ERROR
        rollout.reset(1)
        places = ["go to the hall", "go to the kitchen", "go to the hall"]
        assert [rollout.act(place).ending for place in places] == [None, None, Ending.STEP_LIMIT]
    with pytest.raises(RuntimeError, match="call reset"):
        rollout.act("go to the hall")


def test_tasks_are_found_by_number_id_and_seed() -> None:
    factory = rollouts("toy", 3)
    with factory.open() as rollout:
        with pytest.raises(RuntimeError, match="No episode has begun"):
            rollout.fork()
        assert rollout.value == 0.0
        for chosen in ({"task": 2}, {"task": factory.tasks[2].id}, {"seed": 5}):
            rollout.reset(**chosen)
            assert rollout.task == factory.tasks[2]
        for wrong in (3, -1, "toy-99"):
            with pytest.raises(TaskError, match="There is no task"):
                rollout.reset(wrong)


def test_a_row_that_names_no_task_is_refused() -> None:
    factory = rollouts("toy", 3)
    for row in ({"task": 2}, {"task": np.int64(2)}, {"task": factory.tasks[2].id, "seed": 1}):
        assert factory.of_row(row) == 2
    for row in ({}, {"task": None}, {"task": 1.0}, {"task": [0]}):
        with pytest.raises(TaskError, match='A row\'s "task" is a number or an id'):
            factory.of_row(row)
    manager = EnvironmentManager(factory, groups=1)
    with pytest.raises(TaskError):
        manager.reset([{"tasks": 0}])
    with pytest.raises(ValueError, match="2 rows for 1 environments"):
        manager.reset([{"task": 0}, {"task": 0}])
    manager.reset()
    with pytest.raises(ValueError, match="0 replies for 1 environments"):
        manager.step([])
    manager.close()


def test_a_wrong_word_is_refused_before_anything_starts() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean: success"):
        rollouts("toy", 1, reward="succes")
    for wrong in ({"n": 0}, {"max_steps": 0}, {"max_invalid": -1}):
        with pytest.raises(ValueError, match="must be at least 1"):
            rollouts("toy", **wrong)
    for kept in ({"keep": -1}, {"remember": -1}):
        with pytest.raises(ValueError, match="must be at least 0"):
            rollouts("toy", 1, **kept)
    with pytest.raises(TaskError, match="its env is 'toy', and this run is of 'alfred'"):
        rollouts("alfred", tasks=inhabit.tasks("toy", 1))
    with pytest.raises(TaskError, match="it is a dict, not a Task"):
        rollouts("toy", tasks=[{"id": "a"}])  # type: ignore[list-item]
    with pytest.raises(UnknownNameError, match="toy"):
        rollouts("toi")
    with pytest.raises(SettingError, match="pixels"):
        rollouts("toy", settings={"pixel": 3})


def test_a_task_that_can_not_be_started_leaves_no_simulator_behind() -> None:
    good, other = inhabit.tasks("toy", 2)
    bad = other.model_copy(update={"scene": {"room": "nowhere"}})
    with rollouts("toy", tasks=[good, bad], worker=True).open() as rollout:
        rollout.reset(0)
        assert workers()
        with pytest.raises(SceneError):
            rollout.reset(1)
        assert not workers()
        assert not rollout.reset(0).done
    assert not workers()


def test_tasks_of_one_kind_and_room() -> None:
    factory = rollouts("toy", 3, kinds=["put_away"], rooms=["hall"])
    assert {(task.kind, task.scene["room"]) for task in factory.tasks} == {("put_away", "hall")}


def test_a_long_episode_keeps_no_more_images_than_asked_for() -> None:
    with rollouts("toy", 1, max_steps=60, max_invalid=60, remember=3).open() as rollout:
        rollout.reset(0)
        for _ in range(40):
            rollout.act("dance with the moon")
        kept = [step.rgb is not None for step in rollout.session.history]
    assert kept == [False] * 37 + [True] * 3
