"""Places objects for a scene, from anywhere and without walking."""

from __future__ import annotations

from inhabit.envs.alfred.thor.body import AgentBody


def put_directly(body: AgentBody, thing: str, holder: str) -> str | None:
    """Put an object in or on a receptacle. A closed receptacle is opened and closed again.

    Args:
        body: whose hand is empty; it needs to be nowhere near.
        thing: THOR's id.
        holder: THOR's id.

    Returns:
        None, or the simulator's words for why it cannot be done; then the object lies on the floor
        before the agent, if it could be picked up at all.
    """
    if not body.tell("PickupObject", blind=True, objectId=thing, forceAction=True):
        return body.error[1]
    shut = body.world[holder].shut
    if shut:
        body.tell("OpenObject", blind=True, objectId=holder, forceAction=True)
    why = None
    if not body.tell(
        "PutObject", blind=True, objectId=holder, forceAction=True, placeStationary=True
    ):
        why = body.error[1] or "no reason given"
        body.tell("DropHandObject", blind=True, forceAction=True)
    if shut:
        body.tell("CloseObject", blind=True, objectId=holder, forceAction=True)
    return why


def within_reach(body: AgentBody, thing: str) -> bool:
    """Whether the agent can interact with an object from some cell, with its receptacle open."""
    shut = body.world.shut_in(body.world[thing])
    if shut is not None:
        body.tell("OpenObject", blind=True, objectId=shut.id, forceAction=True)
    poses = body.ask("GetInteractablePoses", objectId=thing, standings=[True], maxPoses=1)
    if shut is not None:
        body.tell("CloseObject", blind=True, objectId=shut.id, forceAction=True)
    return bool(poses)
