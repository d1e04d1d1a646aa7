"""Agents that ask no model: the expert, a random one, and one that plays a script."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Annotated

from pydantic import BeforeValidator

from inhabit.agents.core import STOP, Agent, Decision, Grant, View
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.core import UnavailableError
from inhabit.envs.marks import Words
from inhabit.envs.settings import NoSettings, SettingsModel


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


SCRIPTED = AgentRegistration(
    name="scripted",
    summary="plays the actions of --set actions='...; ...'",
    settings=ScriptedAgentSettings,
    make=lambda settings, model: Scripted(settings.actions),
)


class Random(Agent):
    """Picks uniformly at random; the choice depends on seed and step alone."""

    async def decide(self, view: View) -> Decision:
        """One candidate at random; stops where there is none."""
        if not view.candidates:
            return Decision(None, stop=True)
        # Python hashes a text seed with SHA-512, the same in every process and version.
        rng = random.Random(f"{view.seed}/{len(view.history)}")
        return Decision(rng.choice(view.candidates))


RANDOM = AgentRegistration(
    name="random",
    summary="picks a candidate uniformly at random",
    settings=NoSettings,
    make=lambda settings, model: Random(),
)


class ExpertAgent(Agent):
    """The upper bound of an environment, and the teacher for imitation learning."""

    async def decide(self, view: View) -> Decision:
        """The first action of a plan from here; stops when solved, or when there is no plan.

        Raises:
            UnavailableError: the run did not grant the environment's plan, or there is none.
        """
        if view.grants.plan is None:
            raise UnavailableError(
                "The agent 'expert' follows the environment's own plan, and none was granted: "
                "the environment has no expert, or the grant 'expert' was withheld. Choose another "
                "agent, such as --agent random."
            )
        plan = await view.grants.plan()
        if not plan:
            return Decision(None, stop=True, raw="Nothing is left to do, or no plan is known.")
        return Decision(plan[0])


EXPERT = AgentRegistration(
    name="expert",
    summary="follows the environment's own solution",
    settings=NoSettings,
    make=lambda settings, model: ExpertAgent(),
    needs=frozenset({Grant.EXPERT}),
)
GOLD = replace(EXPERT, name="gold", summary="the expert, for tasks that come with a solution")
REPLAY = replace(
    EXPERT,
    name="replay",
    summary="re-executes a task's recorded trajectory action by action (ALFRED)",
    wants={"replay": "id"},
)
