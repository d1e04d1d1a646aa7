"""An image shows how the room is, whatever was drawn before: nothing of it hangs on the past."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from sampling import every

from inhabit.envs.simulators.household.placement.surfaces import surface
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.render.stage import Frame

FORCED = {"forceAction": True}
VERBS = ("OpenObject", "CloseObject", "ToggleObjectOn", "ToggleObjectOff", "SliceObject", "Put")


def _requests(simulator: Simulator, draw: random.Random, count: int) -> Iterator[Mapping[str, Any]]:
    """Things taken, put into each other, opened, switched, cut; and turns of the head."""
    for _ in range(count):
        things = [thing for thing in simulator.things.values() if thing.present]
        verb = draw.choice(VERBS)
        if verb == "Put":
            small = draw.choice([t.id for t in things if t["pickupable"]])
            places = [t.id for t in things if t["receptacle"] and t.id != small]
            if held := simulator.agent.held:
                yield {"action": "DropHandObject", "objectId": held, **FORCED}
            yield {"action": "PickupObject", "objectId": small, **FORCED}
            yield {"action": "PutObject", "objectId": draw.choice(places), **FORCED}
        else:
            yield {"action": verb, "objectId": draw.choice(things).id, **FORCED}
        yield {"action": "RotateRight", "degrees": 90}


def _same(one: Frame, other: Frame) -> bool:
    assert one.rgb is not None and other.rgb is not None
    return (
        one.names == other.names
        and np.array_equal(one.ids, other.ids)
        and np.array_equal(one.depth, other.depth)
        and np.array_equal(one.rgb, other.rgb)
    )


def _pair(room: str) -> tuple[Simulator, Simulator]:
    return Simulator(room, width=150, height=150), Simulator(room, width=150, height=150)


@pytest.mark.parametrize(
    "room", every(4, ["FloorPlan318", "FloorPlan2", "FloorPlan11", "FloorPlan205"])
)
def test_who_never_looked_sees_the_same(room: str) -> None:
    looking, late = _pair(room)
    done = 0
    for request in _requests(looking, random.Random(f"forget {room}"), 40):
        reply = looking.act(request)
        assert late.act(request) == reply
        done += reply.success
        seen = looking.frame()
        if done % 25 == 0:
            assert _same(late.frame(), seen), request
    assert done > 40
    for _ in range(4):
        assert _same(late.frame(), looking.frame())
        for simulator in (looking, late):
            simulator.act({"action": "RotateRight", "degrees": 90})


def test_what_lies_in_a_cup_lies_in_it_at_first_sight() -> None:
    """It is lifted out of the cup's bottom, which has to be drawn before it."""
    looking, late = _pair("FloorPlan1")
    names = {thing.kind: thing.id for thing in looking.things.values()}
    requests = [
        {"action": "PickupObject", "objectId": names["Spoon"], **FORCED},
        {"action": "PutObject", "objectId": names["Mug"], **FORCED},
        {"action": "PickupObject", "objectId": names["Mug"], **FORCED},
    ]
    for request in requests:
        assert looking.act(request).success
        looking.frame()
        assert late.act(request).success
    seen = late.frame()
    assert {names["Spoon"], names["Mug"]} <= {seen.names[i] for i in np.unique(seen.ids) if i >= 0}
    assert _same(seen, looking.frame())


@pytest.mark.parametrize("room", ["FloorPlan301", "FloorPlan316"])
def test_a_desk_that_was_moved_is_in_the_way_and_seen_and_loaded_where_it_is_now(
    room: str,
) -> None:
    looked, new = _pair(room)
    looked.frame()
    desk = next(t for t in new.things.values() if t.kind == "Desk" and t["moveable"])
    place = desk["position"] | {"x": desk["position"]["x"] + 0.5}
    pose = {"objectName": desk["name"], "position": place, "rotation": desk["rotation"]}
    for simulator in (looked, new):
        assert simulator.act({"action": "SetObjectPoses", "objectPoses": [pose]}).success
    assert _same(looked.frame(), new.frame())
    world, was = new._house.world, new._house.world.room.strips[desk.id]
    now = [solid.box for solid in world.solids() if solid.kind == "Desk"]
    for parts in (now, surface(world, world.things[desk.id]).areas):
        for before in was:
            away = np.add(before.center, (0.5, 0.0, 0.0))
            assert any(np.allclose(part.center, away) for part in parts)
