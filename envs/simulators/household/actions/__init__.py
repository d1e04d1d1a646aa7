"""What can be done: a family of THOR's actions to a file, each a function of the house."""

from collections.abc import Mapping

from inhabit.envs.simulators.household.actions import (
    arranging,
    bulk,
    cameras,
    handling,
    queries,
    randomization,
    states,
    walking,
)
from inhabit.envs.simulators.household.actions.arguments import ThorAction

ACTIONS: Mapping[str, ThorAction] = {
    name: ThorAction(name, function)
    for family in (walking, queries, handling, states, arranging, bulk, randomization, cameras)
    for name, function in family.ACTIONS.items()
}
"""THOR action name -> action."""

__all__ = ["ACTIONS"]
