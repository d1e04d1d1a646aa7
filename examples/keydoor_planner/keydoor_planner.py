"""A planner for `keydoor` that looks at the image: no model, and no help from the environment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from inhabit.agents.core import Agent, Decision, View
from inhabit.agents.registry import AgentRegistration

AGENT, KEY, DOOR = (30, 90, 200), (230, 180, 30), (120, 70, 30)


class Settings(BaseModel):
    """Nothing to set."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class KeyDoorPlanner(Agent):
    """Walks to the key, takes it, walks to the door, and unlocks it."""

    async def decide(self, view: View) -> Decision:
        rgb = view.observation.rgb
        at = None if rgb is None else _find(rgb, AGENT)
        if rgb is None or at is None:
            return Decision(None, stop=True, reasoning="No picture, or nobody in it.")
        carries = "key" in view.observation.text
        goal = _find(rgb, DOOR if carries else KEY) or at
        dx, dy = goal[0] - at[0], goal[1] - at[1]
        if dx:
            text = "go east" if dx > 0 else "go west"
        elif dy:
            text = "go south" if dy > 0 else "go north"
        else:
            text = "unlock the door" if carries else "take the key"
        return Decision(await view.parse(text), reasoning=f"The goal is {dx}, {dy} pixels away.")


def _find(rgb: NDArray[np.uint8], colour: tuple[int, int, int]) -> tuple[int, int] | None:
    """Column and row in the middle of what has that colour."""
    rows, columns = np.nonzero((rgb == colour).all(axis=2))
    if not len(rows):
        return None
    return int(columns.min() + columns.max()) // 2, int(rows.min() + rows.max()) // 2


REGISTRATION = AgentRegistration(
    name="keydoor_planner",
    summary="plays keydoor by looking at the picture",
    settings=Settings,
    make=lambda settings, model: KeyDoorPlanner(),
)
