"""Labelled images of the embedded household, to train the small planner's vision model.

Each shows a room as an agent might see it: while looking around or facing an object, with drawers
open or closed, objects in their own or in random places, and possibly a held object. The simulator
runs in this process.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.skills.vantage import direction
from inhabit.envs.alfred.thor.body import HIGHEST, HORIZON_STEP, LOWEST, AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.world.rooms import Kind, Split, rooms
from inhabit.envs.core import Observation, SceneObject
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.state.agent import EYE_STANDING

_FIELD_OF_VIEW = 60
"""Degrees, as ALFRED's."""
_NEAR = 1.3
"""Maximum distance in metres from which an object is viewed."""
_HORIZONS = (0.0, 30.0)
"""Degrees below the horizontal when looking around."""
_OPEN, _SPAWNED, _PAINTED, _BEFORE = 0.3, 0.5, 0.7, 0.6
"""Probabilities that an openable object is open, objects are moved, colours are randomized, and the
pose faces an object."""


def glimpses(
    split: Split, *, rounds: int, each: int, side: int, seed: int, holds: float = 0.15
) -> Iterator[tuple[Observation, Sequence[SceneObject]]]:
    """Images with masks and the names of their objects.

    Args:
        split: the rooms.
        rounds: how often each room is entered, as another one each time.
        each: images every time.
        side: of the square images, pixels.
        seed: of everything that is drawn.
        holds: probability that an object is held in a round in a room.
    """
    names = [name for kind in Kind for name in rooms(kind, split)]
    simulator = Simulator(names[0], width=side, height=side)
    simulator.act({"action": "Initialize", "fieldOfView": _FIELD_OF_VIEW})
    for turn in range(rounds):
        rng = random.Random(f"glimpses {split} {seed} {turn}")
        for name in rng.sample(names, len(names)):
            simulator.act({"action": "Reset", "sceneName": name})
            _rearrange(simulator, rng, holds)
            places = simulator.act({"action": "GetReachablePositions"}).value
            assert isinstance(places, list), "A room has places to stand in."
            for _ in range(each):
                simulator.act(_pose(simulator, places, rng))
                yield _seen(simulator)


def _rearrange(simulator: Simulator, rng: random.Random, holds: float) -> None:
    """Randomize the room. A change that fails is skipped."""
    if rng.random() < _SPAWNED:
        simulator.act({"action": "InitialRandomSpawn", "randomSeed": rng.randrange(10**6)})
    if rng.random() < _PAINTED:
        simulator.act({"action": "RandomizeMaterials", "randomSeed": rng.randrange(10**6)})
    things = [dict(thing.metadata) for thing in simulator.things.values() if thing.present]
    for thing in things:
        if thing["openable"] and rng.random() < _OPEN:
            simulator.act(_forced("OpenObject", thing))
        if thing["toggleable"] and rng.random() < 0.5:
            off = "ToggleObjectOff" if thing["isToggled"] else "ToggleObjectOn"
            simulator.act(_forced(off, thing))
    carried = [thing for thing in things if thing["pickupable"]]
    if carried and rng.random() < holds:
        simulator.act(_forced("PickupObject", rng.choice(carried)))


def _forced(action: str, thing: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"action": action, "objectId": thing["objectId"], "forceAction": True}


def _pose(simulator: Simulator, places: Sequence[Any], rng: random.Random) -> Mapping[str, Any]:
    """A pose that faces an object, or a random one."""
    pose = None
    if rng.random() < _BEFORE:
        pose = _before(simulator, places, rng)
    if pose is None:
        place = rng.choice(places)
        turn = rng.choice((0, 90, 180, 270)) + rng.choice((0, 60, 120, 180, 240, 300))
        pose = AgentPose(place["x"], place["y"], place["z"], turn % 360, rng.choice(_HORIZONS))
    return {
        "action": "TeleportFull",
        "position": {"x": pose.x, "y": pose.y, "z": pose.z},
        "rotation": {"x": 0, "y": pose.rotation, "z": 0},
        "horizon": pose.horizon,
        "standing": True,
        "forceAction": True,
    }


def _before(simulator: Simulator, places: Sequence[Any], rng: random.Random) -> AgentPose | None:
    """A pose that faces an object; its type is sampled first, so that none is rare."""
    present = [thing for thing in simulator.things.values() if thing.present]
    kind = rng.choice(sorted({thing.kind for thing in present}))
    thing = ThorObject.of(
        {**rng.choice([t for t in present if t.kind == kind]).metadata, "visible": False}
    )
    near = [p for p in places if 0.2 <= thing.reach(p["x"], p["z"]) <= _NEAR]
    if not near:
        return None
    place = rng.choice(near)
    level = AgentPose(place["x"], place["y"], place["z"], 0.0, 0.0)
    bearing, below = direction(level, thing.center, EYE_STANDING)
    tilt = min(max(round(below / HORIZON_STEP) * HORIZON_STEP, HIGHEST), LOWEST)
    return AgentPose(level.x, level.y, level.z, round(bearing / 90) * 90 % 360, float(tilt))


def _seen(simulator: Simulator) -> tuple[Observation, Sequence[SceneObject]]:
    frame = simulator.frame()
    records = [t.metadata for t in simulator.things.values() if t.present]
    world = ThorObjects({**record, "visible": False} for record in records)
    things = [
        SceneObject(
            name=record.id,
            kind=word(record.type),
            states={"open": record.open, "on": record.on},
            held=record.held,
        )
        for record in world
    ]
    seen = Observation("", rgb=frame.rgb, instances=frame.ids, names=frame.names)
    return seen, things
