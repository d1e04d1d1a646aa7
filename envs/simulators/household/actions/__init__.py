"""What can be done: a family of THOR's actions to a file, each a function of the house."""

from collections.abc import Mapping

from inhabit.envs.simulators.household.actions import (
    arranging,
    bulk,
    cameras,
    engine,
    guidance,
    handling,
    points,
    presence,
    pushing,
    queries,
    randomization,
    raycasts,
    states,
    walking,
)
from inhabit.envs.simulators.household.actions.arguments import ThorAction

_FAMILIES = (
    walking,
    queries,
    guidance,
    raycasts,
    handling,
    pushing,
    states,
    arranging,
    points,
    presence,
    bulk,
    randomization,
    cameras,
    engine,
)

ACTIONS: Mapping[str, ThorAction] = {
    name: ThorAction(name, function)
    for family in _FAMILIES
    for name, function in family.ACTIONS.items()
}
"""THOR action name -> action."""

__all__ = ["ACTIONS"]
