"""An MCP server with which any MCP client can play (extra `mcp`; package mcp 1.x).

One client, one episode at a time: the transport is the client's own pipe.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.fastmcp import FastMCP, Image
from mcp.server.fastmcp.exceptions import ToolError

from inhabit.agents.dialogue.prompt import instructions
from inhabit.envs.errors import UserError
from inhabit.envs.pictures import png
from inhabit.frameworks.rollout import RolloutFactory
from inhabit.frameworks.turn import Turn


def server(factory: RolloutFactory) -> FastMCP:
    """A server with the tools reset, observe, act and goal; `run("stdio")` serves it."""
    how = instructions("server")
    made = FastMCP(f"inhabit {factory.registration.name}", instructions=how)
    rollout = factory.open()

    @made.tool(structured_output=False)
    def reset(task: int = 0) -> list[Any]:
        """Begin an episode of the task with this number, from its start."""
        with _said():
            return _content(rollout.reset(task))

    @made.tool(structured_output=False)
    def observe() -> list[Any]:
        """Look again: the picture, what was said last, and what can be done now."""
        with _said():
            return _content(rollout.turn)

    @made.tool(structured_output=False)
    def act(action: str) -> list[Any]:
        """Do one thing, in words such as "go to the fridge"; "stop" ends the episode."""
        with _said():
            return _content(rollout.act(action))

    @made.tool(structured_output=False)
    def goal() -> str:
        """The instruction of this episode."""
        with _said():
            return rollout.task.goal

    return made


@contextmanager
def _said() -> Iterator[None]:
    """Turns errors that are for people into the tool's error, and no traceback."""
    try:
        yield
    except (UserError, RuntimeError) as error:
        raise ToolError(str(error)) from error


def _content(turn: Turn) -> list[Any]:
    return turn.blocks(str, lambda rgb: Image(data=png(rgb), format="png"))
