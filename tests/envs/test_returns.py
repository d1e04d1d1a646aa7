"""Environments that pay rewards: an episode ends where its return is reached."""

from __future__ import annotations

import numpy as np
import pytest

from inhabit.envs.core import Action, Determinism, Observation, Reason, Task
from inhabit.envs.returns import PaidStep, ReturnEnv


class Coins(ReturnEnv):
    """A coin for each step, and no end of its own."""

    determinism = Determinism.FRAMES
    steps = 0

    def begin(self, start: int, seed: int) -> PaidStep:
        self.steps = 0
        return PaidStep(Observation("A coin."), ("take",))

    def do(self, choice: str) -> PaidStep:
        self.steps += 1
        return PaidStep(Observation("A coin."), ("take",), 1.0)

    def close(self) -> None:
        pass


def test_nothing_happens_once_the_return_is_reached() -> None:
    with Coins(threshold=2.0) as env:
        env.reset(Task(id="t", env="coins", kind="k", goal="g", scene={}), seed=0)
        (take,) = env.actions()
        assert [env.act(take).over for _ in range(4)] == [False, True, True, True]
        assert env.steps == 2
        unknown = env.act(Action("dance", "dance"))
        assert (unknown.reason, unknown.over) == (Reason.UNKNOWN_ACTION, True)


@pytest.mark.parametrize("shape", [(8, 8, 1), (4, 8, 8)])
def test_an_array_of_gymnasium_that_is_no_image_is_told_in_numbers(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    gymnasium = pytest.importorskip("gymnasium")

    class Grey(gymnasium.Env):  # type: ignore[misc, name-defined]
        observation_space = gymnasium.spaces.Box(0, 255, shape, np.uint8)
        action_space = gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):  # type: ignore[no-untyped-def]
            return np.zeros(shape, np.uint8), {}

    from inhabit.envs.gymnasium_env import GymnasiumEnv

    name = f"inhabit/Grey{shape[0]}-v0"
    registry = gymnasium.envs.registration.registry
    monkeypatch.setattr(gymnasium.envs.registration, "registry", dict(registry))
    gymnasium.register(name, entry_point=lambda **options: Grey())
    with GymnasiumEnv(name, None) as env:
        seen = env.begin(0, 0).seen
    assert seen.rgb is None and seen.text.startswith("[[[0")
