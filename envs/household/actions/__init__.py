"""What can be done: a family of THOR's actions to a file, each a function of the house."""

from collections.abc import Mapping

from envs.household.actions import (
    arranging,
    asking,
    bulk,
    filming,
    handling,
    moods,
    states,
    walking,
)
from envs.household.actions.binding import Action

ACTIONS: Mapping[str, Action] = {
    name: Action(name, deed)
    for family in (walking, asking, handling, states, arranging, bulk, moods, filming)
    for name, deed in family.ACTIONS.items()
}
"""By THOR's name."""

__all__ = ["ACTIONS"]
