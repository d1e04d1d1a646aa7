"""SetObjectPoses as programs for release 2.1.0 request it, with the object names of that release.

ALFRED's recorded scenes name objects as in "Mug_a1b2c3d4": the type, and a number that today's
rooms do not have. Every pose goes to an object of its type.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import Refusal, Vector
from inhabit.envs.simulators.household.actions.arranging import ObjectPose, lay, xyz_of
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.rooms.old_release import RENAMED, rotation_today
from inhabit.envs.simulators.household.state.world import SimObject, World

_OLD_NAME = re.compile(r"([A-Za-z]+)_[0-9a-f]{8}")


def set_old_object_poses(
    house: House, *, object_poses: list[ObjectPose], place_stationary: bool = True
) -> JsonValue:
    """Move objects to the requested poses; names of release 2.1.0 stand for their types.

    Of a type that has more objects than poses, the others leave the room, as in THOR. Types that no
    room of today's has at this place are left out.
    """
    del place_stationary
    named = {str(thing["name"]) for thing in house.world.things.values()}
    today = [pose for pose in object_poses if pose.object_name in named]
    old = [pose for pose in object_poses if pose.object_name not in named]
    by_type = _by_type(house.world)
    used: Counter[str] = Counter()
    for pose in dict.fromkeys(old):  # some lists have a pose twice
        type = _type(pose.object_name)
        if type is None:
            today.append(pose)  # refused with THOR's sentence
        elif same := by_type.get(type):
            today.append(_renamed(pose, type, same[used[type] % len(same)]))
            used[type] += 1
    for type, number in used.items():
        for thing in by_type[type][number:]:
            house.world.remove(thing.id)
    if faults := lay(house, today):
        raise Refusal(" ".join(faults), undone=False)
    return None


def _by_type(world: World) -> Mapping[str, Sequence[SimObject]]:
    found = defaultdict(list)
    for thing in world.things.values():
        if thing["pickupable"] and thing.present and thing.id != world.agent.held:
            found[thing.kind].append(thing)
    return found


def _type(name: str) -> str | None:
    """The type in a name of release 2.1.0; None if it is no such name."""
    match = _OLD_NAME.match(name)
    return RENAMED.get(match[1], match[1]) if match else None


def _renamed(pose: ObjectPose, type: str, thing: SimObject) -> ObjectPose:
    turned = rotation_today(type, xyz_of(pose.rotation))
    name = str(thing["name"])
    return ObjectPose(objectName=name, position=pose.position, rotation=Vector(**turned))
