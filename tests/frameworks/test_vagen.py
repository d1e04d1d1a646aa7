from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.vagen import IMAGE, VagenEnv, VagenHandler
from inhabit.frameworks.verl_agent import EnvironmentManager


def _check(observation: Mapping[str, Any]) -> None:
    """The protocol of VAGEN's GymImageEnv: as many placeholders as images."""
    pictures = observation.get("multi_modal_input", {}).get(IMAGE, [])
    assert observation["obs_str"].count(IMAGE) == len(pictures) == 1
    assert pictures[0].mode == "RGB"


def test_an_episode_by_vagens_protocol() -> None:
    async def play() -> None:
        env = VagenEnv({"env": "toy", "n": 4, "max_actions_per_step": 20, "seed": 2})
        told = await env.system_prompt()
        assert "<answer>" in told["obs_str"] and IMAGE not in told["obs_str"]
        first, info = await env.reset(6)
        _check(first)
        task = rollouts("toy", 4, seed=2).tasks[2]
        assert info["task"] == task.id and task.goal in first["obs_str"]
        with rollouts("toy", 4, seed=2).open() as expert:
            expert.reset(2)
            plan = expert.session.plan()
        reply = f"<think>fly|swim</think><answer>{'|'.join(plan)}</answer>"
        seen, reward, done, info = await env.step(reply)
        _check(seen)
        assert done and info["success"] and reward > 0 and list(info["actions"]) == list(plan)
        _check((await env.reset(0))[0])
        _, _, done, info = await env.step("<answer>dance|go to the hall</answer>")
        assert not done and len(info["actions"]) == 1, "It replans after what had no effect."
        await env.close()

    asyncio.run(play())


def test_the_handler_makes_environments_that_share_tasks() -> None:
    async def play() -> None:
        handler = VagenHandler()
        one, two = [await handler.create_env({"env": "toy", "n": 3}) for _ in range(2)]
        assert (await one.reset(1))[0]["obs_str"] == (await two.reset(1))[0]["obs_str"]
        with pytest.raises(ValidationError, match="enviroment"):
            await handler.create_env({"env": "toy", "enviroment": "toy"})

    asyncio.run(play())


@pytest.mark.skipif("INHABIT_VAGEN" not in os.environ, reason="INHABIT_VAGEN: VAGEN's sources")
def test_it_has_all_that_vagens_base_class_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [os.environ["INHABIT_VAGEN"], *sys.path])
    from vagen.envs.gym_image_env import GymImageEnv

    assert {
        name for name in GymImageEnv.__abstractmethods__ if not hasattr(VagenEnv, name)
    } == set()
    mixed = type("Mixed", (VagenEnv, GymImageEnv), {})({"env": "toy"})
    assert isinstance(mixed, GymImageEnv) and mixed.config == {"env": "toy"}
    _check(asyncio.run(mixed.reset(0))[0])


def test_groups_of_verl_agent_start_alike_and_go_their_own_ways() -> None:
    manager = EnvironmentManager(rollouts("toy", 3, max_invalid=99), groups=2, group_size=2)
    seen, infos = manager.reset()
    assert seen["image"].shape[0] == 4 and [info["group"] for info in infos] == [0, 0, 1, 1]
    assert seen["text"][0] == seen["text"][1] != seen["text"][2]
    with rollouts("toy", 3).open() as expert:
        expert.reset(0)
        plan = expert.session.plan()
    batches, total = [[] for _ in range(4)], [[] for _ in range(4)]
    for text in [*plan, "dance"]:
        seen, rewards, dones, infos = manager.step([f"<action>{text}</action>", *["dance"] * 3])
        for i in range(4):
            batches[i].append({"active_masks": True})
            total[i].append(infos[i])
    assert list(dones) == [True, False, False, False]
    assert infos[0]["won"] and not infos[1]["won"] and rewards[0] == 0.0
    assert bool(infos[0]["is_action_valid"]) and not bool(infos[1]["is_action_valid"])
    rate = manager.success_evaluator(total_batch_list=batches, total_infos=total)
    assert rate["success_rate"].tolist() == [1.0, 0.0, 0.0, 0.0]
    _, infos = manager.reset()
    assert [info["task"][-1] for info in infos] == ["2", "2", "0", "0"]
    _, infos = manager.reset([{"task": 1}] * 4)
    assert {info["task"] for info in infos} == {rollouts("toy", 3).tasks[1].id}
    manager.close()
