"""ALFRED's own scenes in the present simulator: everything where it was recorded, by type."""

from __future__ import annotations

from envs.alfred.body import Body
from envs.alfred.counterparts import counterpart
from envs.alfred.objects import apart
from envs.alfred.scene import RecordedStep, Recording
from envs.alfred.stowing import stow, within_reach
from envs.core import SceneError

_MOVED = 0.3
"""Metres from where it was recorded; a thing that is further off is another, or was moved."""


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
    for step in recording.plan:
        _bring_to_light(body, step)


def _bring_to_light(body: Body, step: RecordedStep) -> None:
    """Put a thing of the plan on what held it, where it can't be got at in the room of today.

    A sofa that has become higher since AI2-THOR 2.1 would have swallowed what lay on it.
    """
    things = list(body.world)
    thing = counterpart(step.thing, things)
    if thing is None or not thing.pickupable:
        return
    if apart(step.thing.position, thing.position) > _MOVED or within_reach(body, thing.id):
        return  # Or it is meant where it is later on: as a slice, or put down.
    recorded = counterpart(step.holder, things) if step.holder is not None else None
    for holder in (recorded, *body.world.around(thing)):
        if holder is not None and holder.receptacle and stow(body, thing.id, holder.id) is None:
            return


def _soil(body: Body) -> None:
    for thing in body.world:
        if thing.record["dirtyable"] and not thing.record["isDirty"]:
            body.tell("DirtyObject", objectId=thing.id, forceAction=True)
        if thing.record["isFilledWithLiquid"]:
            body.tell("EmptyLiquidFromObject", objectId=thing.id)
