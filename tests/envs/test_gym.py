from __future__ import annotations

import warnings

import numpy as np
import pytest

from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.tasks import sample

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra `gym`")


def _make(toy: Toy | None = None):
    from inhabit.envs.gym import GymEnv

    return GymEnv(toy or Toy(), list(sample(3, 0)))


def test_gymnasiums_own_checker_passes() -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(_make(), skip_render_check=True)


def test_rewards_add_up_to_the_goal() -> None:
    toy = Toy()
    env = _make(toy)
    for index in range(3):
        env.reset(options={"task": index})
        names = [env.action(i).text for i in range(env.action_space.n)]
        rewards, over = [], False
        for action in toy.plan():
            seen, reward, over, truncated, _ = env.step(np.int64(names.index(action.text)))
            assert env.observation_space.contains(seen) and not truncated
            rewards.append(reward)
        assert over and sum(rewards) == pytest.approx(1 - _met_at_start(index))


def _met_at_start(index: int) -> float:
    toy = Toy()
    toy.reset(list(sample(3, 0))[index], seed=0)
    met, total = toy.progress()
    return met / total


def test_steps_run_out() -> None:
    env = _make()
    env.reset()
    for i in range(20):
        *_, terminated, truncated, _ = env.step(np.int64(0))
        assert truncated == (i == 19) and not terminated
