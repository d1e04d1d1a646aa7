"""Acts what the task's own recording did, step by step, where the environment has such a thing."""

from __future__ import annotations

from inhabit.agents.core import Agent, Grant
from inhabit.agents.models.core import Model
from inhabit.agents.planners.expert import ExpertAgent, ExpertSettings
from inhabit.agents.registry import AgentRegistration


def _make(settings: ExpertSettings, model: Model | None) -> Agent:
    return ExpertAgent()


REGISTRATION = AgentRegistration(
    name="replay",
    summary="acts a recorded trajectory again, low-level step by step (ALFRED's)",
    settings=ExpertSettings,
    make=_make,
    needs=frozenset({Grant.EXPERT}),
    wants={"replay": "id"},
)
