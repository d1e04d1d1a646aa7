"""ALFRED's own plan of a trajectory, acted through our skills."""

from __future__ import annotations

from collections.abc import Sequence

from envs.alfred.counterparts import counterpart
from envs.alfred.goals import SLICED
from envs.alfred.objects import Thing, World
from envs.alfred.scene import RecordedStep


class RecordedPlanner:
    """Says what is left of a recorded plan. What failed is not tried again.

    Before each interaction it goes to the thing, unless that is in view and in reach anyway; and
    where the thing has not been seen yet, it explores first: ALFRED's expert knew the room.
    """

    def __init__(self, world: World, plan: Sequence[RecordedStep]) -> None:
        self._left = [(step, self._thing(world, step)) for step in plan]

    @staticmethod
    def _thing(world: World, step: RecordedStep) -> Thing | None:
        """What a step is about; of a slice, what it is cut from."""
        whole = step.thing.model_copy(update={"type": step.thing.type.removesuffix(SLICED)})
        return counterpart(whole, list(world))
