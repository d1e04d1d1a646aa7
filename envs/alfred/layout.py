"""ALFRED's own scenes in the present simulator: everything where it was recorded, by type."""

from __future__ import annotations

from envs.alfred.body import Body
from envs.alfred.scene import Recording
from envs.core import SceneError


def lay_out(body: Body, recording: Recording) -> None:
    """Put everything where ALFRED had it, switch its lamps, make things dirty and empty.

    Raises:
        SceneError: the simulator refuses it.
    """
    names: dict[str, list[str]] = {}
    for thing in body.world:
        if thing.pickupable:
            names.setdefault(thing.type, []).append(str(thing.record["name"]))
    poses = []
    used: dict[str, int] = {}
    for pose in recording.poses:
        same = names.get(pose.type)
        if same:
            number = used[pose.type] = used.get(pose.type, 0) + 1
            poses.append(
                {
                    "objectName": same[(number - 1) % len(same)],
                    "position": dict(zip("xyz", pose.position, strict=True)),
                    "rotation": dict(zip("xyz", pose.rotation, strict=True)),
                }
            )
    if not body.tell("SetObjectPoses", objectPoses=poses, placeStationary=True):
        raise SceneError(f"recording.poses: the simulator refuses it: {body.error[1]}")
    for thing in body.world:
        if thing.toggleable and thing.type in recording.lamps_on and not thing.on:
            body.tell("ToggleObjectOn", objectId=thing.id, forceAction=True)
        if thing.toggleable and thing.type in recording.lamps_off and thing.on:
            body.tell("ToggleObjectOff", objectId=thing.id, forceAction=True)
    if recording.dirty_and_empty:
        _soil(body)


def _soil(body: Body) -> None:
    for thing in body.world:
        if thing.record["dirtyable"] and not thing.record["isDirty"]:
            body.tell("DirtyObject", objectId=thing.id, forceAction=True)
        if thing.record["isFilledWithLiquid"]:
            body.tell("EmptyLiquidFromObject", objectId=thing.id)
