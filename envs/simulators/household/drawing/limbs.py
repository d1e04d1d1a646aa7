"""What an agent's arm looks like: bars from joint to joint, and a hand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from inhabit.envs.simulators.household.geometry.boxes import Array
from inhabit.envs.simulators.household.state.agent import AgentState
from inhabit.envs.simulators.household.state.robot_arm import LENGTH, SHOULDER
from inhabit.envs.simulators.render.mesh import Mesh
from inhabit.envs.simulators.render.shapes.finishes import plain
from inhabit.envs.simulators.render.sweep import tube

_GREY = plain(0.55, 0.56, 0.58, gloss=0.3)
_PARTS = (
    ("base", float(SHOULDER[2]), 0.05),
    ("upper", LENGTH / 2, 0.04),
    ("lower", LENGTH / 2, 0.035),
    ("hand", 0.07, 0.03),
)
"""Name, length and radius in metres of what begins at each joint."""


def limbs(agent: AgentState) -> Iterator[tuple[str, Mesh, Array, Array]]:
    """The parts of an agent's arm: name, mesh, orientation (3, 3) and place (3,) in the world."""
    if agent.robot is None:
        return
    base = agent.base()
    for (name, length, radius), (place, axes) in zip(_PARTS, agent.robot.joints, strict=True):
        yield name, _bar(length, radius), base.axes @ axes, base.to_world(place)


@cache
def _bar(length: float, radius: float) -> Mesh:
    return tube(((0.0, 0.0, 0.0), (0.0, 0.0, length)), radius, _GREY, sides=12)
