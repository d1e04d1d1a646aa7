from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pixels import WORLDS, factory_of, of_parts, shown

from inhabit.envs.core import TaskError
from inhabit.frameworks.factory import rollouts

gym = pytest.importorskip("skyrl_gym", reason="needs the extra `skyrl`")


@pytest.mark.parametrize(("env", "n"), WORLDS)
def test_a_conversation_holds_the_pixels_of_every_step(env: str, n: int) -> None:
    from inhabit.frameworks.skyrl import dataset_rows

    factory = factory_of(env, n)
    with _registered(factory):
        rows = dataset_rows(factory, "inhabit")
        for row, episode in zip(rows, shown(env, n), strict=True):
            conversation, steps, metrics = _generate(row, episode.texts)
            assert row["prompt"][0]["content"] in conversation[1]["content"][0]["text"]
            users = [one["content"] for one in conversation if one["role"] == "user"]
            assert [of_parts(parts) for parts in users] == episode.pixels
            assert sum(step["reward"] for step in steps) == pytest.approx(episode.value)
            assert [step["done"] for step in steps] == [False] * (len(steps) - 1) + [True]
            assert metrics == {"success": 1, "conditions": 1, "steps": len(episode.texts)}


def test_the_limit_of_skyrl_ends_the_conversation() -> None:
    from inhabit.frameworks.skyrl import dataset_rows

    factory = rollouts("toy", 2)
    with _registered(factory):
        row = {**dataset_rows(factory, "inhabit")[1], "max_turns": 2}
        _, steps, metrics = _generate(row, ["dance with the moon"] * 5)
        assert len(steps) == 2 and metrics["success"] == 0
        assert steps[0]["metadata"]["reason"]
        with pytest.raises(TaskError):
            gym.make("inhabit", env_config={}, extras={"task": 7})


@contextmanager
def _registered(factory: Any) -> Iterator[None]:
    from skyrl_gym.envs.registration import deregister, register

    from inhabit.frameworks.skyrl import environment_class

    register("inhabit", entry_point=environment_class(factory))
    try:
        yield
    finally:
        deregister("inhabit")


def _generate(row: Any, replies: Any) -> tuple[list[Any], list[Any], Any]:
    """A trajectory as SkyRL's multimodal generator makes it; the messages of the last step too."""
    extras = {name: value for name, value in row.items() if name not in ("prompt", "env_class")}
    env = gym.make(row["env_class"], env_config={}, extras={"max_turns": 99, **extras})
    conversation, _ = env.init(list(row["prompt"]))
    steps = []
    for reply in replies:
        steps.append(env.step(reply))
        conversation += [{"role": "assistant", "content": reply}, *steps[-1]["observations"]]
        if steps[-1]["done"]:
            break
    metrics = env.get_metrics()
    env.close()
    return conversation, steps, metrics
