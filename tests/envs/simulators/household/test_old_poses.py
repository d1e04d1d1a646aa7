"""SetObjectPoses with the object names of release 2.1.0, as ALFRED's recorded scenes have them."""

from __future__ import annotations

from typing import Any

import pytest

from inhabit.envs.simulators.household.simulator import Simulator

ON_THE_FLOOR = [(-1.0, 0.1, 1.0), (-0.5, 0.1, 1.0), (0.0, 0.1, 1.0), (0.5, 0.1, 1.0)]


def old() -> Simulator:
    return Simulator("FloorPlan1", width=32, height=32, release="2.1.0")


def pose(name: str, place: tuple[float, float, float]) -> dict[str, Any]:
    at = dict(zip("xyz", place, strict=True))
    return {"objectName": name, "position": at, "rotation": {"x": 0.0, "y": 0.0, "z": 0.0}}


def places(simulator: Simulator, kind: str) -> list[tuple[float, ...]]:
    things = [thing for thing in simulator.things.values() if thing.kind == kind]
    return sorted(tuple(thing["position"][axis] for axis in "xyz") for thing in things)


def count(simulator: Simulator, kind: str) -> int:
    return len(places(simulator, kind))


@pytest.mark.parametrize("number", [1, 2, 4])
def test_there_are_as_many_objects_of_a_type_as_poses(number: int) -> None:
    simulator = old()
    assert count(simulator, "Apple") == 1 and count(simulator, "Vase") == 2
    for kind in ("Apple", "Vase"):
        poses = [pose(f"{kind}_0123abcd", place) for place in ON_THE_FLOOR[:number]]
        assert simulator.act({"action": "SetObjectPoses", "objectPoses": poses}).success
        assert places(simulator, kind) == [pytest.approx(one) for one in ON_THE_FLOOR[:number]]
    assert count(simulator, "Mug") == 1, "an unlisted type stays"


def test_types_that_were_renamed_are_found() -> None:
    simulator = old()
    poses = [pose("Glassbottle_0123abcd", ON_THE_FLOOR[0])]
    assert simulator.act({"action": "SetObjectPoses", "objectPoses": poses}).success
    assert places(simulator, "Bottle") == [pytest.approx(ON_THE_FLOOR[0])]


def test_what_is_no_name_of_that_release_is_refused_and_the_rest_is_done() -> None:
    simulator = old()
    poses = [pose("my mug", ON_THE_FLOOR[0]), pose("Apple_0123abcd", ON_THE_FLOOR[1])]
    result = simulator.act({"action": "SetObjectPoses", "objectPoses": poses})
    assert not result.success and "my mug" in result.message
    assert places(simulator, "Apple") == [pytest.approx(ON_THE_FLOOR[1])]


def test_a_type_that_the_room_lacks_is_left_out() -> None:
    simulator = old()
    poses = [pose("TeddyBear_0123abcd", ON_THE_FLOOR[0])]
    assert simulator.act({"action": "SetObjectPoses", "objectPoses": poses}).success


def test_other_releases_refuse_unknown_names_as_thor_does() -> None:
    simulator = Simulator("FloorPlan1", width=32, height=32)
    poses = [pose("Apple_0123abcd", ON_THE_FLOOR[0])]
    result = simulator.act({"action": "SetObjectPoses", "objectPoses": poses})
    assert not result.success and "Apple_0123abcd" in result.message
