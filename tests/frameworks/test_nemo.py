"""NeMo Gym's own agent, unchanged, plays through its server and client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from pixels import WORLDS, factory_of, of_png, shown
from serving import served

from inhabit.frameworks.factory import rollouts

nemo_gym = pytest.importorskip("nemo_gym", reason="needs the package nemo-gym")


@pytest.fixture(autouse=True)
def without_a_config_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """NeMo Gym reads its settings from here instead of from the command line."""
    monkeypatch.setenv("NEMO_GYM_CONFIG_DICT", "{}")


@pytest.mark.parametrize(("env", "n"), WORLDS)
def test_the_model_gets_the_pixels_of_every_step(env: str, n: int) -> None:
    from inhabit.frameworks.nemo import dataset_rows

    factory = factory_of(env, n)
    for row, episode in zip(dataset_rows(factory), shown(env, n), strict=True):
        calls = [_call(i, json.dumps({"action": text})) for i, text in enumerate(episode.texts)]
        told, requests = _run(factory, row, calls)
        assert len(requests) == len(episode.texts)
        asked = [_pixels(one["input"][-1]) for one in requests]
        last = told["info"]["tool_outputs"][-1]
        assert [*asked, _pixels(last)] == episode.pixels
        assert told["reward"] == pytest.approx(episode.value)
        assert told["terminated"] and told["info"]["success"]


def test_a_reply_without_a_call_is_an_action_and_gets_text() -> None:
    from inhabit.frameworks.nemo import dataset_rows

    factory = rollouts("toy", 1)
    said = {"type": "output_text", "text": "go to the moon", "annotations": []}
    kind = {"type": "message", "role": "assistant", "status": "completed", "id": "m"}
    stop = _call(1, '{"action": "stop"}')
    told, requests = _run(factory, dataset_rows(factory)[0], [{**kind, "content": [said]}, stop])
    assert "Pictures come with the results" in requests[1]["input"][-1]["content"]
    assert told["info"]["ending"] == "stopped" and told["reward"] == 0


def _call(number: int, arguments: str) -> dict[str, Any]:
    kind = {"type": "function_call", "name": "act", "status": "completed"}
    return {**kind, "call_id": f"call-{number}", "arguments": arguments}


def _pixels(item: Any) -> str:
    parts = item["output"] if "output" in item else item["content"]
    (url,) = [part["image_url"] for part in parts if part["type"] == "input_image"]
    return of_png(url.partition("base64,")[2])


def _run(factory: Any, row: Any, replies: Sequence[Any]) -> tuple[Any, list[Any]]:
    """What NeMo Gym's agent returns for a row, and what it asked the model."""
    from nemo_gym.base_resources_server import BaseResourcesServerConfig
    from nemo_gym.server_utils import BaseServerConfig, ServerClient
    from omegaconf import OmegaConf
    from responses_api_agents.gymnasium_agent.app import (
        GymnasiumAgent,
        GymnasiumAgentConfig,
        GymnasiumAgentRunRequest,
    )
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from inhabit.frameworks.nemo import server_class

    requests: list[Any] = []
    left = iter(replies)

    async def respond(request: Request) -> JSONResponse:
        requests.append(await request.json())
        told = {"id": str(len(requests)), "model": "scripted", "object": "response"}
        rest = {"created_at": 0, "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
        return JSONResponse({**told, **rest, "output": [next(left)]})

    model = Starlette(routes=[Route("/v1/responses", respond, methods=["POST"])])

    place = {"host": "127.0.0.1", "port": 0, "entrypoint": "app.py"}
    head = BaseServerConfig(host="127.0.0.1", port=0)
    nowhere = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create({}))
    own = BaseResourcesServerConfig(name="inhabit", **place)
    server = server_class(factory)(config=own, server_client=nowhere)
    with served(server.setup_webserver()) as env, served(model) as brain:
        at = {
            "inhabit": {"resources_servers": {"inhabit": {**place, "port": env}}},
            "policy": {"responses_api_models": {"policy": {**place, "port": brain}}},
        }
        client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(at))
        told = GymnasiumAgentConfig(
            name="agent",
            resources_server={"type": "resources_servers", "name": "inhabit"},
            model_server={"type": "responses_api_models", "name": "policy"},
            max_steps=99,
            **place,
        )
        agent = GymnasiumAgent(config=told, server_client=client)
        body = GymnasiumAgentRunRequest.model_validate(row)
        done = asyncio.run(_closing(agent.run(Request({"type": "http", "headers": []}), body)))
    return done.model_dump(), requests


async def _closing(running: Any) -> Any:
    from nemo_gym import server_utils

    try:
        return await running
    finally:
        client = server_utils.get_global_aiohttp_client()
        await client.close()
        server_utils._GLOBAL_AIOHTTP_CLIENT = None
