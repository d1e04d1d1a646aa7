"""The framework's side holds the pixels of every step: MCP, OpenEnv, TRL, VAGEN and verl-agent.

The other doors have tests of their own, as they need interpreters of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from pixels import WORLDS, digest, factory_of, of_parts, of_png, shown
from serving import served

from inhabit.frameworks.rollout import RolloutFactory

Door = Callable[[RolloutFactory, int, Sequence[str]], list[str]]
"""(episodes, task, actions) -> a digest for each picture that arrived."""


def by_mcp(factory: RolloutFactory, task: int, texts: Sequence[str]) -> list[str]:
    """Through MCP's own client and server."""
    pytest.importorskip("mcp.server.fastmcp", reason="needs the extra `mcp`")
    from mcp.shared.memory import create_connected_server_and_client_session

    from inhabit.frameworks.mcp import server

    async def play() -> list[str]:
        made = server(factory)._mcp_server
        async with create_connected_server_and_client_session(made) as client:
            told = [await client.call_tool("reset", {"task": task})]
            told += [await client.call_tool("act", {"action": text}) for text in texts]
        return [of_png(part.data) for one in told for part in one.content if part.type == "image"]

    return asyncio.run(play())


def by_openenv(factory: RolloutFactory, task: int, texts: Sequence[str]) -> list[str]:
    """Through OpenEnv's server, WebSocket and client."""
    pytest.importorskip("openenv", reason="needs the extra `openenv`")
    from inhabit.envs.host.server_gate import Gate
    from inhabit.frameworks.openenv import InhabitClient, TextAction, application

    gate = Gate("127.0.0.1")
    with served(application({"sampled": factory}, gate)) as port:
        address = f"http://127.0.0.1:{port}/{gate.token}"
        with InhabitClient(base_url=address).sync() as client:
            acts = (TextAction(text=text) for text in texts)
            seen = [client.reset(index=task), *map(client.step, acts)]
    return [
        of_parts([{"type": "image_url", "image_url": {"url": one.observation.image}}])
        for one in seen
    ]


def by_trl(factory: RolloutFactory, task: int, texts: Sequence[str]) -> list[str]:
    """By TRL's calls of an environment."""
    from inhabit.frameworks.trl import environment_class

    env = environment_class(factory)()
    told = [env.reset(task=task), *(env.act(action=text) for text in texts)]
    blocks = [block for one in told for block in one if block["type"] == "image"]
    env._rollout.close()
    return [digest(np.asarray(block["image"])) for block in blocks]


def by_vagen(factory: RolloutFactory, task: int, texts: Sequence[str]) -> list[str]:
    """By VAGEN's protocol."""
    from inhabit.frameworks.vagen import IMAGE, VagenEnv

    async def play() -> list[str]:
        env = VagenEnv({"env": factory.registration.name}, factory)
        seen = [(await env.reset(task))[0]]
        for text in texts:
            seen.append((await env.step(f"<answer>{text}</answer>"))[0])
        await env.close()
        return [digest(np.asarray(one["multi_modal_input"][IMAGE][0])) for one in seen]

    return asyncio.run(play())


def by_verl_agent(factory: RolloutFactory, task: int, texts: Sequence[str]) -> list[str]:
    """By verl-agent's protocol."""
    from inhabit.frameworks.verl_agent import EnvironmentManager

    manager = EnvironmentManager(factory, groups=1, group_size=1)
    seen = [manager.reset([{"task": task}])[0]]
    seen += [manager.step([f"<action>{text}</action>"])[0] for text in texts]
    manager.close()
    return [digest(np.asarray(one["image"][0])) for one in seen]


@pytest.mark.parametrize(
    ("env", "n"),
    [pytest.param(*one, marks=() if one[0] == "toy" else pytest.mark.slow) for one in WORLDS],
)
@pytest.mark.parametrize("door", [by_mcp, by_openenv, by_trl, by_vagen, by_verl_agent])
def test_it_holds_the_pixels_of_every_step(door: Door, env: str, n: int) -> None:
    for task, episode in enumerate(shown(env, n)):
        assert door(factory_of(env, n), task, episode.texts) == episode.pixels
