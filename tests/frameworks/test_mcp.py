from __future__ import annotations

import asyncio
import io
import sys
from typing import Any

import numpy as np
import pytest
from PIL import Image

from inhabit.frameworks.factory import rollouts

mcp = pytest.importorskip("mcp", reason="needs the extra `mcp`")


def test_a_client_plays_an_episode_through_the_pipe() -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    command = [
        "-c",
        "from inhabit.cli import main; main()",
        "mcp",
        "toy",
        "--n",
        "3",
        "--seed",
        "4",
    ]

    async def play() -> None:
        server = StdioServerParameters(command=sys.executable, args=command)
        async with stdio_client(server) as pipes, ClientSession(*pipes) as client:
            await client.initialize()
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} == {"reset", "observe", "act", "goal"}

            async def call(name: str, **arguments: Any) -> Any:
                return await client.call_tool(name, arguments)

            early = await call("observe")
            assert early.isError and "call reset" in early.content[0].text
            shown = await call("reset", task=1)
            goal = (await call("goal")).content[0].text
            with rollouts("toy", 3, seed=4).open() as here:
                turn = here.reset(1)
                assert goal == here.task.goal and _text(shown) == turn.text
                assert np.array_equal(_picture(shown.content[1]), turn.picture)
                for text in here.session.plan():
                    turn = here.act(text)
                    shown = await call("act", action=text)
                    assert not shown.isError and _text(shown) == turn.text
                    assert np.array_equal(_picture(shown.content[1]), turn.picture)
            assert "The goal is reached" in _text(shown)
            late = await call("act", action="go to the hall")
            assert late.isError and "has ended" in late.content[0].text
            missing = await call("reset", task=9)
            assert missing.isError and "There is no task 9" in missing.content[0].text

    asyncio.run(play())


def _text(shown: Any) -> str:
    return "".join(one.text for one in shown.content if one.type == "text")


def _picture(content: Any) -> Any:
    import base64

    assert content.type == "image" and content.mimeType == "image/png"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(content.data))))
