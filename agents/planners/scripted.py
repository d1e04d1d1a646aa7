"""Plays a list of actions, one a step: for tests, examples and exact reproductions."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from inhabit.agents.core import STOP, Agent, Decision, View
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.marks import Words
from inhabit.envs.settings import SettingsModel


def _lines(value: object) -> object:
    """Split a text, as the command line passes it, at semicolons and newlines."""
    if not isinstance(value, str):
        return value
    return tuple(a for a in (part.strip() for part in value.replace("\n", ";").split(";")) if a)


class ScriptedAgentSettings(SettingsModel):
    """The script."""

    actions: Annotated[
        tuple[str, ...], BeforeValidator(_lines, json_schema_input_type=str), Words()
    ] = ()
    """Actions separated by semicolons, one per step; stop ends the episode, as does the end of the
    list."""


class Scripted(Agent):
    """The n-th text at the n-th step, parsed by the environment."""

    def __init__(self, actions: tuple[str, ...]) -> None:
        self._actions = actions

    async def decide(self, view: View) -> Decision:
        """The scripted action of this step; a text that can't be parsed is kept as `raw`."""
        step = len(view.history)
        raw = self._actions[step] if step < len(self._actions) else STOP
        if raw == STOP:
            return Decision(None, stop=True, raw=raw)
        return Decision(await view.parse(raw), raw=raw)


REGISTRATION = AgentRegistration(
    name="scripted",
    summary="plays the actions of --set actions='...; ...'",
    settings=ScriptedAgentSettings,
    make=lambda settings, model: Scripted(settings.actions),
)
