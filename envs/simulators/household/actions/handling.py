"""Actions on held objects: pick up, put, drop, throw, move and rotate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import cos, radians, sin

import numpy as np

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    Vector,
    demand,
    held,
    target,
)
from inhabit.envs.simulators.household.actions.states import TOUGH, smash
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry.boxes import Array, Box
from inhabit.envs.simulators.household.placement import placing
from inhabit.envs.simulators.household.placement.surfaces import (
    Surface,
    allowed,
    basin,
    capacity,
    surface,
)
from inhabit.envs.simulators.household.state.world import SimObject, shut
from inhabit.envs.simulators.household.types.things import BASINS, ENCLOSING

_ARM = 0.65
"""Preferred distance of a put object ahead of the agent's feet, metres."""
_HAND_REACH = 0.5
"""Maximum offset of a held object from its default position, metres."""
_AHEAD = 10.0
"""Force of a drop ahead, in newtons: it lands 0.2 m before the hand."""
_FRAGILE_FALL = 1.0
"""Height in metres from which crockery and glass break in a fall."""
_TUBS = frozenset((*BASINS, *BASINS.values()))


@dataclass(frozen=True, slots=True)
class _Landing:
    """Where real AI2-THOR puts things in a receptacle whose inside is looked into.

    Fitted to the masks of 392 objects that ALFRED's experts picked up where they had put them.
    """

    ahead: float
    """How far before the middle of the receptacle, in half depths; below 0, beyond it, as in
    basins."""
    left: float = -0.9
    right: float = 0.9
    """How far to the left and right of the receptacle's middle a thing may reach, as shares of half
    its width."""
    rise: float | None = None
    """Metres above the receptacle's bottom, but not above half its height; None: on its surface."""


_IN_TUB = _Landing(-0.1)
_IN_SINK = _Landing(-0.4, -0.7, 0.7, rise=0.13)
_BEHIND_DOOR = _Landing(0.25)
_LANDINGS: Mapping[str, _Landing] = {
    "Fridge": _Landing(0.25, rise=0.88),
    "Microwave": _Landing(0.2, -0.8, 0.2, rise=0.11),  # It has its panel on the right.
    **dict.fromkeys(("Bathtub", "BathtubBasin"), _IN_TUB),
    **dict.fromkeys(("Sink", "SinkBasin"), _IN_SINK),
}


def pick_up(house: House, *, object_id: str, force_action: bool = False) -> None:
    """Pick up an object with its contents."""
    thing = target(house, object_id, force=force_action)
    demand(
        thing["pickupable"],
        f"{object_id} must have the property CanPickup to be picked up.",
        "ObjectNotPickupable",
    )
    demand(
        house.agent.held is None,
        "Agent hand has something in it already! Can't pick up anything else",
        "InventoryFull",
    )
    demand(not thing["isBroken"], f"{object_id} is broken and can't be picked up.")
    demand(not thing["isPickedUp"], f"{object_id} is in the hand of another agent.")
    placing.lift(house.world, object_id)
    house.world.change(object_id, isPickedUp=True)
    house.world.agent = replace(house.agent, held=object_id)


def put(
    house: House,
    *,
    object_id: str,
    receptacle_object_id: str | None = None,
    force_action: bool = False,
    place_stationary: bool = True,
    put_near_x_y: bool = False,
) -> None:
    """Put the held object on or in a receptacle, at the free place nearest to the hand.

    With `putNearXY` in a basin or behind a door at the place nearest to the middle of the view; and
    by force where there is no room, too: in among what lies there.
    """
    crowd = force_action and put_near_x_y
    thing = held(house, "Can't place an object if Agent isn't holding anything")
    receptacle = target(
        house, receptacle_object_id or object_id, force=force_action, code="ReceptacleNotVisible"
    )
    demand(
        receptacle["receptacle"] or receptacle.kind in ("Sink", "Bathtub"),
        "This target object is NOT a receptacle!",
        "ObjectNotAllowedInReceptacle",
    )
    demand(receptacle.id not in {thing.id, *house.world.within(thing.id)}, "Can't put it in itself")
    demand(
        not shut(receptacle),
        "Target openable Receptacle is CLOSED, can't place if target is not open!",
        "ReceptacleNotOpen",
    )
    demand(
        force_action or allowed(thing.kind, receptacle.kind),
        f"{thing['name']} is not a valid Object Type to be placed in {receptacle['name']}",
        "ObjectNotAllowedInReceptacle",
    )
    most = capacity(receptacle.kind)
    demand(
        crowd or most is None or len(house.world.put_in(receptacle.id)) < most,
        f"{receptacle['name']} is full right now",
        "ReceptacleFull",
    )
    landing = _landing(receptacle) if put_near_x_y else None
    wish, grounds = _wish(house, receptacle), [surface(house.world, receptacle)]
    if landing is not None:
        inside = basin(house.world, receptacle) or receptacle
        wish = _in_view(house, inside, landing)
        raised = _raised(grounds[0], inside.box, landing)
        grounds = [_narrowed(raised, inside.box, landing), raised]
    tries = [(ground, among) for among in (False, True)[: 1 + crowd] for ground in grounds]
    boxes = (
        placing.place(house.world, thing, ground, wish, among=among) for ground, among in tries
    )
    box = next((box for box in boxes if box is not None), None)
    if box is None:
        raise Refusal("No valid positions to place object found", "ReceptacleFull")
    own = surface(house.world, receptacle).owner.id
    let_go(house)
    placing.put(house.world, thing.id, box, dict.fromkeys((receptacle.id, own)))
    if not place_stationary:
        house.world.stir(thing.id)


def _wish(house: House, receptacle: SimObject) -> Array:
    """The preferred position: at arm's length, or at the front of a shelf.

    In a basin it is away from the rim, which would hide it.
    """
    agent, box = house.agent, receptacle.box
    if receptacle.kind in ENCLOSING - {"Box"}:
        quarter = box.axes[:, 2] * box.half[2] * 0.25
        return np.asarray(box.center + quarter)
    angle = radians(agent.rotation)
    hand = np.array((agent.x + _ARM * sin(angle), agent.y, agent.z + _ARM * cos(angle)))
    if receptacle.kind in _TUBS:
        inside = box.axes.T @ (hand - box.center)
        return np.asarray(box.center + box.axes @ np.clip(inside, -0.4 * box.half, 0.4 * box.half))
    return hand


def _landing(receptacle: SimObject) -> _Landing | None:
    """Where things land in a basin or behind a door; None elsewhere."""
    behind_door = receptacle.kind in ENCLOSING - {"Box"}
    return _LANDINGS.get(receptacle.kind, _BEHIND_DOOR if behind_door else None)


def _in_view(house: House, receptacle: SimObject, landing: _Landing) -> Array:
    """The preferred position: in front of the agent."""
    agent, box = house.agent, receptacle.box
    angle = radians(agent.rotation)
    right = np.array((cos(angle), 0.0, -sin(angle)))
    ahead = np.array((sin(angle), 0.0, cos(angle)))
    front = box.axes[:, 2] * box.half[2]
    if receptacle.kind in _TUBS:
        front = ahead * box.reach
    start = box.center + landing.ahead * front
    return np.asarray(start + (np.array((agent.x, 0.0, agent.z)) - start) @ right * right)


def _raised(ground: Surface, box: Box, landing: _Landing) -> Surface:
    """The surface at the height at which things land."""
    if landing.rise is None:
        return ground
    height = float(box.low[1] + min(landing.rise, box.reach[1]))
    headroom = ground.headroom + ground.height - height
    return replace(ground, height=height, headroom=headroom)


def _narrowed(ground: Surface, box: Box, landing: _Landing) -> Surface:
    """The part of a surface on which things land."""
    area, half = ground.areas[0], ground.areas[0].half.copy()
    half[0] = (landing.right - landing.left) / 2 * box.half[0]
    # Who stands before it has its own x on the left.
    off = -(landing.left + landing.right) / 2 * box.half[0]
    return replace(ground, areas=(Box(area.center + off * area.axes[:, 0], half, area.axes),))


def let_go(house: House) -> None:
    """Open the hand; the caller places the object."""
    house.world.agent = replace(house.agent, held=None, arm=(0.0, 0.0, 0.0), wrist=(0.0, 0.0, 0.0))


def drop(house: House) -> None:
    """Drop the held object onto what is below."""
    thing = held(house, "Nothing in hand to drop!")
    _fall(house, thing, thing.box.center)


def drop_ahead(house: House) -> None:
    """Drop the held object in front of the agent."""
    held(house, "Nothing in hand to drop!")
    throw(house, move_magnitude=_AHEAD)


def throw(house: House, *, move_magnitude: Number = 50.0) -> None:
    """Throw the held object ahead. Distance and breakage depend on the force."""
    thing = held(house, "Nothing in Hand to Throw!")
    angle, far = radians(house.agent.rotation), min(2.0, 0.02 * max(move_magnitude, 0.0))
    outline = house.world.room.outline
    landing = thing.box.center + far * np.array((sin(angle), 0.0, cos(angle)))
    landing[0] = np.clip(landing[0], outline.low[0] + 0.2, outline.high[0] - 0.2)
    landing[2] = np.clip(landing[2], outline.low[1] + 0.2, outline.high[1] - 0.2)
    _fall(house, thing, landing, thrown=far > 0.5)


def _fall(house: House, thing: SimObject, at: Array, *, thrown: bool = False) -> None:
    let_go(house)
    box, onto = placing.drop(house.world, thing, at)
    height = at[1] - box.center[1]
    placing.put(house.world, thing.id, box, [onto.id])
    house.world.stir(thing.id)
    if thing["breakable"] and thing.kind not in TOUGH and (thrown or height > _FRAGILE_FALL):
        smash(house, house.world.things[thing.id])


def move_held(house: House, *, ahead: Number = 0.0, right: Number = 0.0, up: Number = 0.0) -> None:
    """Move the held object, in metres in the agent's frame."""
    held(house, "Agent can only move hand if holding an item")
    x, y, z = house.agent.arm
    arm = (x + right, y + up, z + ahead)
    demand(
        sum(side * side for side in arm) <= _HAND_REACH**2,
        f"The hand can't be more than {_HAND_REACH} m from where things are held.",
    )
    house.world.agent = replace(house.agent, arm=arm)


def _move_held_along(direction: tuple[float, float, float]) -> ActionFunction:
    def move(house: House, *, move_magnitude: Number = 0.1) -> None:
        right, up, ahead = (move_magnitude * side for side in direction)
        move_held(house, ahead=ahead, right=right, up=up)

    return move


def rotate_held(
    house: House,
    *,
    pitch: Number = 0.0,
    yaw: Number = 0.0,
    roll: Number = 0.0,
    rotation: Vector | None = None,
) -> None:
    """Rotate the held object by three angles, or to a `rotation`; degrees."""
    held(house, "Can't rotate hand unless holding object")
    if rotation is not None:
        rotate_hand(house, x=rotation.x, y=rotation.y, z=rotation.z)
        return
    old = house.agent.wrist
    wrist = ((old[0] + pitch) % 360.0, (old[1] + yaw) % 360.0, (old[2] + roll) % 360.0)
    house.world.agent = replace(house.agent, wrist=wrist)


def rotate_hand(house: House, *, x: Number = 0.0, y: Number = 0.0, z: Number = 0.0) -> None:
    """Turn what is held to an angle, in degrees: release 2.1.0's name for it."""
    held(house, "Can't rotate hand unless holding object")
    house.world.agent = replace(house.agent, wrist=(x % 360.0, y % 360.0, z % 360.0))


_DIRECTIONS: Mapping[str, tuple[float, float, float]] = {
    "Ahead": (0.0, 0.0, 1.0),
    "Back": (0.0, 0.0, -1.0),
    "Right": (1.0, 0.0, 0.0),
    "Left": (-1.0, 0.0, 0.0),
    "Up": (0.0, 1.0, 0.0),
    "Down": (0.0, -1.0, 0.0),
}
ACTIONS: Mapping[str, ActionFunction] = {
    "PickupObject": pick_up,
    "PutObject": put,
    "PlaceHeldObject": put,
    "DropHandObject": drop,
    "DropHeldObject": drop,
    "DropHeldObjectAhead": drop_ahead,
    "ThrowObject": throw,
    "MoveHeldObject": move_held,
    **{f"MoveHeldObject{name}": _move_held_along(way) for name, way in _DIRECTIONS.items()},
    **{f"MoveHand{name}": _move_held_along(way) for name, way in _DIRECTIONS.items()},
    "RotateHand": rotate_hand,
    "RotateHeldObject": rotate_held,
}
