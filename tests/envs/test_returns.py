"""Environments that pay rewards: an episode ends where its return is reached."""

from __future__ import annotations

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
