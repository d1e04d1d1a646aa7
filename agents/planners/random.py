"""Draws among the candidates: the floor that every planner has to clear."""

from __future__ import annotations

import random

from inhabit.agents.core import Agent, Decision, View
from inhabit.agents.models.core import Model
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.settings import SettingsModel


class RandomSettings(SettingsModel):
    """Nothing to set: the draw follows the seed of the episode."""


class Random(Agent):
    """Every candidate is as likely as any other; the draw depends on seed and step alone."""

    async def decide(self, view: View) -> Decision:
        """One candidate by lot; stops where there is none."""
        if not view.candidates:
            return Decision(None, stop=True)
        # Seeded by a text: Python hashes that with SHA-512, alike in every process and version.
        rng = random.Random(f"{view.seed}/{len(view.history)}")
        return Decision(rng.choice(view.candidates))


def _make(settings: RandomSettings, model: Model | None) -> Agent:
    return Random()


REGISTRATION = AgentRegistration(
    name="random",
    summary="picks a candidate uniformly at random",
    settings=RandomSettings,
    make=_make,
)
