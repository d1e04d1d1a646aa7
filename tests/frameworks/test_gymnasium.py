from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from processes import workers

import inhabit
from inhabit.envs.core import TaskError, UnavailableError

gymnasium = pytest.importorskip("gymnasium", reason="needs the extra `gym`")


def _make(name: str, **which: Any) -> Any:
    made = gymnasium.make(f"inhabit.gym:inhabit/{name}-v0", disable_env_checker=True, **which)
    return made.unwrapped


WORDS = [{}, {"words": "bytes"}, {"words": "none"}, {"actions": "text"}]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *(("toy", words) for words in WORDS),
        *((name, {}) for name in ("alfred", "thor_nav", "pca_bench")),
        pytest.param("virtualhome", {}, marks=pytest.mark.slow),
        *(
            pytest.param(name, words, marks=pytest.mark.slow)
            for name in ("alfred", "virtualhome", "thor_nav", "pca_bench")
            for words in WORDS[1:]
        ),
    ],
    ids=str,
)
def test_gymnasiums_own_checker_passes(name: str, words: dict[str, str]) -> None:
    from gymnasium.utils.env_checker import check_env

    if name == "pca_bench" and words == {"words": "none"}:
        with pytest.raises(ValueError, match="no pictures"):
            _make(name, n=1, **words)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(_make(name, n=2, **words), skip_render_check=True)


def test_rewards_add_up_and_the_plan_is_in_the_mask() -> None:
    env = _make("toy", n=3)
    with pytest.raises(ValueError, match="the option 'task' alone, not index"):
        env.reset(options={"index": 2})
    with pytest.raises(TaskError, match=r"task is 1\.5, and must be a whole number"):
        env.reset(options={"task": 1.5})
    for task in range(3):
        seen, info = env.reset(options={"task": task})
        start = env.rollout.turn.met / env.rollout.turn.total
        rewards, over = [], False
        for text in env.rollout.session.plan():
            index = env.vocabulary.index(text)
            assert info["action_mask"][index]
            seen, reward, over, truncated, info = env.step(index)
            assert env.observation_space.contains(seen) and not truncated
            rewards.append(reward)
        assert over and info["success"] and sum(rewards) == pytest.approx(1 - start)


def test_what_can_not_be_made_leaves_no_worker_behind() -> None:
    before = workers()
    with pytest.raises(ValueError, match="no pictures"):
        _make("pca_bench", n=1, words="none", worker=True)
    assert workers() == before


def test_a_vector_of_which_one_can_not_start_leaves_no_worker_behind() -> None:
    from inhabit.frameworks.gymnasium import GymVectorEnv

    before = len(workers())

    class OnlyTwo:
        """Rollouts on a machine that has room for two simulators."""

        def __init__(self) -> None:
            self._factory = inhabit.rollouts("toy", n=1, worker=True)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._factory, name)

        def open(self) -> Any:
            if len(workers()) == before + 2:
                raise UnavailableError("There is no room.")
            return self._factory.open()

    with pytest.raises(UnavailableError, match="no room"):
        GymVectorEnv(OnlyTwo(), 3)
    assert len(workers()) == before


@pytest.mark.parametrize("index", [-1, 27])
def test_an_index_outside_the_action_space_is_refused(index: int) -> None:
    env = _make("toy", n=1)
    env.reset()
    with pytest.raises(ValueError, match="actions are numbered 0 to 26"):
        env.step(index)


def test_a_vector_without_episodes_or_with_a_window_is_refused() -> None:
    for wrong, told in (({"num_envs": 0}, "num_envs is 0"), ({"render_mode": "human"}, "'human'")):
        with pytest.raises(ValueError, match=told):
            gymnasium.make_vec("inhabit.gym:inhabit/toy-v0", **{"n": 1} | wrong)


@pytest.mark.parametrize("what", ["actions", "words"])
def test_a_form_that_there_is_not_is_refused(what: str) -> None:
    with pytest.raises(ValueError, match=f"{what} is 'texts', and none of: .*text"):
        _make("toy", n=1, **{what: "texts"})


@pytest.mark.slow
def test_indices_stay_the_same_in_rooms_of_different_kinds() -> None:
    env = _make("alfred", n=6, settings={"width": 64, "height": 64})
    kinds = set()
    for task in range(6):
        env.reset(options={"task": task})
        names = [a.text for a in env.rollout.session.env.vocabulary()]
        kinds.add(len(names))
        assert set(names) <= set(env.vocabulary)
        masked = {env.vocabulary[i] for i in np.flatnonzero(env.action_masks())}
        assert masked <= set(names)
    assert len(kinds) > 1, "The sample should hold several kinds of rooms."


def test_the_same_seed_gives_the_same_episodes() -> None:
    def play() -> list[Any]:
        env, found = _make("toy", n=5), []
        seen, info = env.reset(seed=3)
        for _ in range(3):
            found.append((info["task"], seen["goal"], seen["rgb"].tobytes()))
            seen, info = env.reset()
        return found

    assert play() == play()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_vector_steps_like_its_members_and_resets_them(threads: int) -> None:
    vector = gymnasium.make_vec(
        "inhabit.gym:inhabit/toy-v0", num_envs=3, n=4, max_steps=4, threads=threads
    )
    single = _make("toy", n=4, max_steps=4)
    seen, _ = vector.reset(seed=7)
    alone, _ = single.reset(seed=8)
    assert seen["rgb"].shape == (3, *alone["rgb"].shape)
    assert np.array_equal(seen["rgb"][1], alone["rgb"])
    for step in range(4):
        action = int(np.flatnonzero(single.action_masks())[0])
        seen, rewards, over, cut, infos = vector.step(np.array([action] * 3))
        alone, reward, *_ = single.step(action)
        assert np.array_equal(seen["rgb"][1], alone["rgb"]) and rewards[1] == reward
        assert cut.all() == (step == 3) and not over.any()
    assert infos["ending"][1] == "step_limit"
    seen, rewards, over, cut, infos = vector.step(np.array([0] * 3))
    alone, _ = single.reset()
    assert not (over | cut).any() and not rewards.any() and infos["ending"][1] is None
    assert np.array_equal(seen["rgb"][1], alone["rgb"])
    assert vector.action_masks().shape == (3, len(single.vocabulary))
    with pytest.raises(ValueError, match="4 seeds for 3 environments"):
        vector.reset(seed=[1, 2, 3, 4])
    vector.close()
