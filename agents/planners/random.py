"""Picks candidates uniformly at random: the lower bound for every planner."""

from __future__ import annotations

import random

from inhabit.agents.core import Agent, Decision, View
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.settings import NoSettings


class Random(Agent):
    """Picks uniformly at random; the choice depends on seed and step alone."""

    async def decide(self, view: View) -> Decision:
        """One candidate at random; stops where there is none."""
        if not view.candidates:
            return Decision(None, stop=True)
        # Python hashes a text seed with SHA-512, the same in every process and version.
        rng = random.Random(f"{view.seed}/{len(view.history)}")
        return Decision(rng.choice(view.candidates))


REGISTRATION = AgentRegistration(
    name="random",
    summary="picks a candidate uniformly at random",
    settings=NoSettings,
    make=lambda settings, model: Random(),
)
