"""What can be done: a family of THOR's actions to a file, each a function of the house."""

from collections.abc import Mapping

from inhabit.envs.simulators.household.actions import (
    appearance,
    arguments,
    arm,
    arranging,
    cameras,
    handling,
    points,
    presence,
    queries,
    states,
    walking,
)
from inhabit.envs.simulators.household.actions.arguments import ThorAction

_FAMILIES = (
    walking,
    queries,
    handling,
    states,
    arranging,
    points,
    presence,
    cameras,
    appearance,
    arguments,
)

ACTIONS: Mapping[str, ThorAction] = {
    name: ThorAction(name, function)
    for family in _FAMILIES
    for name, function in family.ACTIONS.items()
}
"""THOR action name -> action."""
OF_ARM: Mapping[str, ThorAction] = {
    name: ThorAction(name, function) for name, function in arm.ACTIONS.items()
}
"""THOR action name -> action, for an agent with an arm, which has the others too."""

__all__ = ["ACTIONS", "OF_ARM"]
