"""Locomotion: move, rotate, look up and down, crouch and teleport."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import cos, hypot, radians, sin

import numpy as np

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    Vector,
    done,
)
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.geometry import grid
from inhabit.envs.simulators.household.geometry.boxes import STEP
from inhabit.envs.simulators.household.geometry.grid import BODY, HEAD, KNEE, distance
from inhabit.envs.simulators.household.placement import surfaces
from inhabit.envs.simulators.household.state.agent import HIGHEST, LOWEST, AgentState

_LOOK_STEP = 30.0
"""Degrees by which the head tilts, by default."""
_OFF_GRID = 0.2
"""Maximum distance in metres from the center of a reachable cell."""


def _move(degrees: float) -> ActionFunction:
    """A step in a direction relative to the agent's view."""

    def move(
        house: House, *, move_magnitude: Number | None = None, force_action: bool = False
    ) -> None:
        length = house.settings.grid_size if move_magnitude is None else move_magnitude
        if length < 0 and house.agent.robot is None:
            raise Refusal(f"moveMagnitude can't be negative: {length}.")
        walk(house, degrees, length, force=force_action)

    return move


def walk(house: House, degrees: float, length: float, *, force: bool = False) -> None:
    """Walk straight on; on the grid, if the agent keeps to it.

    Args:
        house: where.
        degrees: direction, to the right of the agent's view.
        length: metres.
        force: through whatever is in the way.

    Raises:
        Refusal: something is in the way of the agent, or of its arm.
    """
    angle = radians(house.agent.rotation + degrees)
    dx, dz = length * sin(angle), length * cos(angle)
    x, z = house.agent.x + dx, house.agent.z + dz
    if house.settings.snap_to_grid and house.agent.robot is None:
        x, z = (round(v / house.settings.grid_size) * house.settings.grid_size for v in (x, z))
    steps = max(1, round(abs(length) / (STEP / 2)))
    for i in range(1, steps + 1) if not force else ():
        share = i / steps
        here = (
            house.agent.x + (x - house.agent.x) * share,
            house.agent.z + (z - house.agent.z) * share,
        )
        if not can_stand(house, *here):
            blocker = _in_the_way(house, *here)
            raise Refusal(
                f"{blocker} is blocking Agent {house.world.active} from moving by "
                f"({dx:.4f}, 0.0000, {dz:.4f})."
            )
    _take(house, replace(house.agent, x=x, z=z), force=force)


def _take(house: House, then: AgentState, *, force: bool = False) -> None:
    """Have the agent in another pose, unless its arm would be in something."""
    if then.robot is not None and not force:
        world = house.world
        hit = surfaces.in_the_way(world, then) - surfaces.in_the_way(world, house.agent)
        if hit:
            raise Refusal(f"Collided with static structure: '{min(hit)}' is in the arm's way.")
    house.world.agent = then


def can_stand(house: House, x: float, z: float) -> bool:
    """Whether the agent can be at a point: near a reachable cell, or clear of every object.

    On THOR's own grid of 0.25 m the room's cells alone decide.
    """
    if _agent_at(house, x, z) is not None:
        return False
    return _near_cell(house, x, z) or (not _on_grid(house, x, z) and _is_clear(house, x, z))


def _on_grid(house: House, x: float, z: float) -> bool:
    """Whether a point is a cell's center of the grid that the agent moves on."""
    if house.settings.grid_size != STEP:
        return False
    return all(abs(v / STEP - round(v / STEP)) < 1e-3 for v in (x, z))


def _agent_at(house: House, x: float, z: float) -> int | None:
    """Number of another agent whose body is at a point."""
    for number, other in house.world.others.items():
        now, then = (
            hypot(p - other.x, q - other.z) for p, q in ((house.agent.x, house.agent.z), (x, z))
        )
        if then < min(2 * BODY, now):  # whoever stands too near may walk away
            return number
    return None


def _is_clear(house: House, x: float, z: float) -> bool:
    return grid.fits(x, z, house.world.solids(), house.world.room.outline)


def _near_cell(house: House, x: float, z: float) -> bool:
    column, row = round(x / STEP), round(z / STEP)
    near_by = ((column + i, row + j) for i in (0, -1, 1) for j in (0, -1, 1))
    return any(
        cell in house.world.cells and hypot(cell[0] * STEP - x, cell[1] * STEP - z) <= _OFF_GRID
        for cell in near_by
    )


def _in_the_way(house: House, x: float, z: float) -> str:
    """Name of the object or agent that blocks a position, or the wall."""
    if (number := _agent_at(house, x, z)) is not None:
        return f"Agent {number}"
    floor, here = house.world.room.outline.floor, np.array([[x, z]])
    nearest = (0.25, "Wall")
    for thing in house.world.things.values():
        low, high = thing.box.low[1], thing.box.high[1]
        if thing.kind != "Floor" and high > floor + KNEE and low < floor + HEAD:
            nearest = min(nearest, (float(distance(thing.box, here)[0]), str(thing["name"])))
    return nearest[1]


def _turn(sign: float) -> ActionFunction:
    def turn(house: House, *, degrees: Number | None = None) -> None:
        turn_by(house, sign * (house.settings.rotate_step if degrees is None else degrees))

    return turn


def turn_by(house: House, degrees: float) -> None:
    """Turn to the right, degrees.

    Raises:
        Refusal: something is in the way of the agent's arm.
    """
    _take(house, house.agent.turned(degrees))


def _tilt(sign: int, beyond: str, code: str) -> ActionFunction:
    """Tilt the camera up (-1) or down (1)."""

    def tilt(house: House, *, degrees: Number = _LOOK_STEP) -> None:
        horizon = round(house.agent.horizon + sign * degrees, 4)
        if not HIGHEST <= horizon <= LOWEST:
            raise Refusal(f"can't look {beyond} the forward horizon", code)
        house.world.agent = replace(house.agent, horizon=horizon)

    return tilt


def rotate_to(house: House, *, rotation: Number | Vector) -> None:
    """Turn to a heading, in degrees: an action of releases before 3."""
    angle = rotation.y if isinstance(rotation, Vector) else rotation
    house.world.agent = replace(house.agent, rotation=angle % 360.0)


def look_to(house: House, *, horizon: Number) -> None:
    """Tilt the camera to a horizon, in degrees: an action of releases before 3."""
    if not HIGHEST <= horizon <= LOWEST:
        raise Refusal(f"horizon must be in [{HIGHEST:g}:{LOWEST:g}]; it is {horizon:g}.")
    house.world.agent = replace(house.agent, horizon=horizon)


def _posture(standing: bool, already: str) -> ActionFunction:
    """Stand, or crouch."""

    def posture(house: House) -> None:
        if house.agent.standing is standing:
            raise Refusal(f"Already {already}.")
        house.world.agent = replace(house.agent, standing=standing)

    return posture


def teleport(
    house: House,
    *,
    position: Vector | None = None,
    x: Number | None = None,
    z: Number | None = None,
    rotation: Number | Vector | None = None,
    horizon: Number | None = None,
    standing: bool | None = None,
    force_action: bool = False,
) -> None:
    """Teleport. Missing arguments keep their values.

    The height is the floor's and `y` is ignored: there is one floor.
    """
    agent = house.agent
    if position is not None:
        x, z = position.x, position.z
    to_x, to_z = agent.x if x is None else x, agent.z if z is None else z
    turn = rotation.y if isinstance(rotation, Vector) else rotation
    down = agent.horizon if horizon is None else round(horizon, 4)
    if not HIGHEST <= down <= LOWEST and not force_action:
        raise Refusal(f"Each horizon must be in [{HIGHEST:g}:{LOWEST:g}]. You gave {down:g}.")
    if not force_action and not can_stand(house, to_x, to_z):
        blocker = _in_the_way(house, to_x, to_z)
        raise Refusal(f"Cannot teleport to ({to_x:.4f}, {to_z:.4f}): {blocker} is in the way.")
    house.world.agent = replace(
        agent,
        x=to_x,
        z=to_z,
        rotation=agent.rotation if turn is None else turn % 360.0,
        horizon=down,
        standing=agent.standing if standing is None else standing,
    )


def teleport_full(
    house: House,
    *,
    rotation: Number | Vector,
    horizon: Number,
    standing: bool | None = None,
    position: Vector | None = None,
    x: Number | None = None,
    z: Number | None = None,
    force_action: bool = False,
) -> None:
    """Teleport to a pose; `standing` is optional, as in release 2.1.0."""
    if position is None and (x is None or z is None):
        raise Refusal(
            "Action: TeleportFull is missing the following arguments: x, y, z.", "MissingArguments"
        )
    teleport(
        house,
        position=position,
        x=x,
        z=z,
        rotation=rotation,
        horizon=horizon,
        standing=standing,
        force_action=force_action,
    )


ACTIONS: Mapping[str, ActionFunction] = {
    "MoveAhead": _move(0.0),
    "MoveRight": _move(90.0),
    "MoveBack": _move(180.0),
    "MoveLeft": _move(270.0),
    "RotateRight": _turn(1.0),
    "RotateLeft": _turn(-1.0),
    "LookUp": _tilt(-1, f"up beyond {-HIGHEST:g} degrees above", "LookUpCantExceedMax"),
    "LookDown": _tilt(1, f"down beyond {LOWEST:g} degrees below", "LookDownCantExceedMin"),
    "Rotate": rotate_to,
    "Look": look_to,
    "Crouch": _posture(False, "crouching"),
    "Stand": _posture(True, "standing"),
    "Teleport": teleport,
    "TeleportFull": teleport_full,
    "Pass": done,
    "Done": done,
    "NoOp": done,
}
