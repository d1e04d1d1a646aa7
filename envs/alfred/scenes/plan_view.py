"""A task's room from above, for maps."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.alfred.language.naming import ObjectNames
from inhabit.envs.alfred.thor.objects import ThorObjects
from inhabit.envs.alfred.world.rooms import ROOMS, Rooms
from inhabit.envs.core import Task
from inhabit.envs.scene_plan import ScenePlan
from inhabit.envs.simulators.household.rooms.plan_view import plan_view


def scene_plan(task: Task, actions: Sequence[str | None]) -> ScenePlan | None:
    """Walls and furniture of an iTHOR room; records have the poses.

    Args:
        task: in that room.
        actions: are not needed.

    Returns:
        None for another room.

    Raises:
        UnavailableError: the rooms' package is missing.
    """
    name = task.scene.get("room")
    if not isinstance(name, str) or name not in ROOMS:
        return None
    room = Rooms().load(name)
    return plan_view(room, ObjectNames(ThorObjects(room.objects)).all())
