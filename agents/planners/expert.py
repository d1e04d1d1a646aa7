"""Follows the environment's own solution, planned anew at every step."""

from __future__ import annotations

from dataclasses import replace

from inhabit.agents.core import Agent, Decision, Grant, View
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.core import UnavailableError
from inhabit.envs.settings import NoSettings


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
                "planner, such as --agent random."
            )
        plan = await view.grants.plan()
        return Decision(plan[0]) if plan else Decision(None, stop=True)


REGISTRATION = AgentRegistration(
    name="expert",
    summary="follows the environment's own solution",
    settings=NoSettings,
    make=lambda settings, model: ExpertAgent(),
    needs=frozenset({Grant.EXPERT}),
)
GOLD = replace(
    REGISTRATION,
    name="gold",
    summary="the expert, for tasks that come with a solution",
)
REPLAY = replace(
    REGISTRATION,
    name="replay",
    summary="re-executes a task's recorded trajectory action by action (ALFRED)",
    wants={"replay": "id"},
)
