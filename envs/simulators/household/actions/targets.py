"""Resolves the target of an action, with THOR's error messages."""

from __future__ import annotations

from inhabit.envs.simulators.household.actions.arguments import Refusal
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.state.world import SimObject


def target(
    house: House, object_id: str, *, force: bool, code: str = "ObjectNotVisible"
) -> SimObject:
    """The object of that id, if it is visible and within reach.

    Args:
        house: where.
        object_id: THOR's objectId.
        force: also what is out of sight or reach.
        code: THOR's errorCode if it is not seen.

    Raises:
        Refusal: there is no such object, it isn't seen, or it exists no longer.
    """
    thing = house.world.things.get(object_id)
    if thing is None or thing.away is not None:
        raise Refusal(
            f"ArgumentException: objectId: {object_id} is not the objectId on any object in the "
            "scene!"
        )
    if not thing.present:
        raise Refusal(f"{object_id} is in pieces: it can't be used any more.", code)
    if not force and not house.sights()[object_id].visible:
        raise Refusal(
            "NullReferenceException: Target object not found within the specified visibility.", code
        )
    return thing


def held(house: House, message: str) -> SimObject:
    """The held object.

    Raises:
        Refusal: nothing; with `message`.
    """
    if house.agent.held is None:
        raise Refusal(message, "ObjectNotInInventory")
    return house.world.things[house.agent.held]


def demand(holds: bool, message: str, code: str = "") -> None:
    """Raise a refusal unless a condition holds.

    Raises:
        Refusal: it doesn't; with `message` and THOR's errorCode.
    """
    if not holds:
        raise Refusal(message, code)
