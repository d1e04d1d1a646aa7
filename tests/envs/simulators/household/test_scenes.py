"""Setting scenes: poses, states for many things, random spawns, materials and light, snapshots."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.state.world import SimObject


@pytest.fixture
def simulator() -> Simulator:
    return Simulator("FloorPlan1", width=60, height=60)


def first(simulator: Simulator, kind: str) -> SimObject:
    return next(t for t in simulator.things.values() if t.kind == kind)


def test_poses_move_what_is_listed_and_leave_the_rest(simulator: Simulator) -> None:
    apple, bread, basin = (first(simulator, kind) for kind in ("Apple", "Bread", "SinkBasin"))
    x, y, z = basin.box.center.tolist()
    pose = {"objectName": apple["name"], "position": {"x": x, "y": y, "z": z}}
    reply = simulator.act({"action": "SetObjectPoses", "objectPoses": [pose]})
    assert reply.success, reply.message
    moved = simulator.things[apple.id]
    assert moved["position"] == pytest.approx({"x": x, "y": y, "z": z})
    assert moved.parents == [basin.id]
    assert simulator.things[bread.id] is bread


def test_a_name_that_comes_twice_makes_a_copy(simulator: Simulator) -> None:
    apple = first(simulator, "Apple")
    here = {"objectName": apple["name"], "position": apple["position"]}
    there = {"objectName": apple["name"], "position": {**apple["position"], "x": 0.0}}
    assert simulator.act({"action": "SetObjectPoses", "objectPoses": [here, there]}).success
    apples = [t for t in simulator.things.values() if t.kind == "Apple"]
    assert len(apples) == 2
    assert len({t["name"] for t in apples}) == 2
    assert len({t.id for t in apples}) == 2


@pytest.mark.parametrize(
    ("name", "position", "named"),
    [
        ("Nothing_{0}", {"x": 0, "y": 1, "z": 0}, "Nothing_{0}"),
        (None, {"x": 90, "y": 1, "z": 0}, "outside"),
    ],
)
def test_a_pose_that_cannot_be_fails_and_the_others_are_used(
    simulator: Simulator, name: str | None, position: dict[str, float], named: str
) -> None:
    apple, bread = first(simulator, "Apple"), first(simulator, "Bread")
    good = {"objectName": apple["name"], "position": {"x": 0, "y": 1, "z": 0}}
    bad = {"objectName": name or bread["name"], "position": position}
    reply = simulator.act({"action": "SetObjectPoses", "objectPoses": [bad, good]})
    assert not reply.success and reply.code == ""
    assert named in reply.message
    assert simulator.things[apple.id]["position"] == pytest.approx({"x": 0, "y": 1, "z": 0})
    assert simulator.things[bread.id] is bread


def test_a_pose_without_numbers_moves_nothing(simulator: Simulator) -> None:
    apple = first(simulator, "Apple")
    good = {"objectName": apple["name"], "position": {"x": 0, "y": 1, "z": 0}}
    bad = {"objectName": apple["name"], "position": {"x": float("inf"), "y": 1, "z": 0}}
    assert not simulator.act({"action": "SetObjectPoses", "objectPoses": [good, bad]}).success
    assert simulator.things[apple.id] is apple


def test_furniture_that_moves_changes_where_one_can_walk(simulator: Simulator) -> None:
    cells = simulator.act({"action": "GetReachablePositions"}).value
    stool = first(simulator, "Stool")
    middle = cells[len(cells) // 2]
    pose = {"objectName": stool["name"], "position": {**middle, "y": stool["position"]["y"]}}
    assert simulator.act({"action": "SetObjectPoses", "objectPoses": [pose]}).success
    now = simulator.act({"action": "GetReachablePositions"}).value
    assert middle not in now


def test_states_of_all(simulator: Simulator) -> None:
    request = {"action": "SetStateOfAllObjects", "StateChange": "CanBeDirty", "forceAction": True}
    assert simulator.act(request).success
    assert all(t["isDirty"] for t in simulator.things.values() if t["dirtyable"])
    states = {"objectType": "Drawer", "stateChange": "openable", "isOpen": True}
    assert simulator.act({"action": "SetObjectStates", "SetObjectStates": states}).success
    assert all(t["isOpen"] for t in simulator.things.values() if t.kind == "Drawer")
    assert not first(simulator, "Fridge")["isOpen"]
    toggles = [{"objectType": "Faucet", "isOn": True}]
    assert simulator.act({"action": "SetObjectToggles", "objectToggles": toggles}).success
    assert first(simulator, "Faucet")["isToggled"]
    lacking = {"objectType": "Drawer", "stateChange": "openable"}
    reply = simulator.act({"action": "SetObjectStates", "SetObjectStates": lacking})
    assert not reply.success and "isOpen" in reply.message


def test_random_spawns_come_from_their_seed(simulator: Simulator) -> None:
    def spawn(seed: int) -> dict[str, object]:
        simulator.act({"action": "Reset", "sceneName": "FloorPlan1"})
        request = {"action": "InitialRandomSpawn", "randomSeed": seed, "placeStationary": True}
        assert simulator.act(request).success
        return {name: t["position"] for name, t in simulator.things.items()}

    once, again, other = spawn(1), spawn(1), spawn(2)
    assert once == again
    assert once != other


def test_spawns_make_duplicates(simulator: Simulator) -> None:
    wanted = [{"objectType": "Mug", "count": 3}]
    request = {"action": "InitialRandomSpawn", "randomSeed": 0, "numDuplicatesOfType": wanted}
    assert simulator.act(request).success
    assert sum(t.kind == "Mug" for t in simulator.things.values()) == 3
    none = [{"objectType": "Fridge", "count": 3}]
    reply = simulator.act({"action": "InitialRandomSpawn", "numDuplicatesOfType": none})
    assert not reply.success and "Fridge" in reply.message


def test_materials_and_light_change_the_picture_alone(simulator: Simulator) -> None:
    plain = simulator.frame()
    things = dict(simulator.things)
    assert simulator.act({"action": "RandomizeMaterials", "randomSeed": 5}).success
    painted = simulator.frame()
    assert (painted.rgb != plain.rgb).mean() > 0.3
    assert (painted.ids == plain.ids).mean() > 0.95
    assert simulator.act({"action": "ResetMaterials"}).success
    assert (simulator.frame().rgb == plain.rgb).all()
    light = {"action": "RandomizeLighting", "brightness": [0.3, 0.4], "randomizeColor": False}
    assert simulator.act(light).success
    assert simulator.frame().rgb.mean() < plain.rgb.mean()
    assert simulator.act({"action": "ResetLighting"}).success
    assert (simulator.frame().rgb == plain.rgb).all()
    assert simulator.things == things


def test_a_snapshot_brings_everything_back(simulator: Simulator) -> None:
    token = simulator.act({"action": "Snapshot"}).value
    things, agent, picture = dict(simulator.things), simulator.agent, simulator.frame().rgb
    for request in (
        {"action": "RotateRight"},
        {"action": "PickupObject", "objectId": first(simulator, "Apple").id, "forceAction": True},
        {"action": "RandomizeMaterials"},
        {"action": "ChangeResolution", "x": 32, "y": 48},
        {"action": "Reset", "sceneName": "FloorPlan201"},
    ):
        assert simulator.act(request).success
    assert simulator.act({"action": "Restore", "snapshot": token}).success
    assert simulator.scene == "FloorPlan1_physics"
    assert simulator.things == things
    assert simulator.agent == agent
    assert (simulator.frame().rgb == picture).all()
    assert simulator.act({"action": "Restore", "snapshot": token}).success
    assert simulator.act({"action": "Forget", "snapshot": token}).success
    assert not simulator.act({"action": "Restore", "snapshot": token}).success


def test_revisions_never_name_two_contents(simulator: Simulator) -> None:
    apple = first(simulator, "Apple").id
    token = simulator.act({"action": "Snapshot"}).value
    seen = {}
    for action in ("PickupObject", "Restore", "PickupObject", "DropHandObject", "Restore"):
        request = {"action": action}
        if action == "PickupObject":
            request |= {"objectId": apple, "forceAction": True}
        if action == "Restore":
            request |= {"snapshot": token}
        assert simulator.act(request).success
        for thing in simulator.things.values():
            key = (thing.id, thing.revision)
            assert seen.setdefault(key, thing.metadata) == thing.metadata


def test_pictures_have_the_size_and_view_that_were_asked_for(simulator: Simulator) -> None:
    assert simulator.frame().rgb.shape == (60, 60, 3)
    assert simulator.act({"action": "ChangeResolution", "x": 40, "y": 30}).success
    frame = simulator.frame()
    assert frame.rgb.shape == (30, 40, 3)
    assert frame.depth.shape == frame.ids.shape == (30, 40)
    assert np.isfinite(frame.depth).any()
    wide = simulator.frame().ids
    assert simulator.act({"action": "Initialize", "fieldOfView": 40}).success
    assert (simulator.frame().ids != wide).any()


def test_the_light_switch_darkens_the_room(simulator: Simulator) -> None:
    bright = simulator.frame().rgb.mean()
    switch = first(simulator, "LightSwitch").id
    request = {"action": "ToggleObjectOff", "objectId": switch, "forceAction": True}
    assert simulator.act(request).success
    assert simulator.frame().rgb.mean() < 0.8 * bright
    assert simulator.act({**request, "action": "ToggleObjectOn"}).success
    assert simulator.frame().rgb.mean() == bright


def test_pictures_are_those_of_the_state_however_it_came_about(simulator: Simulator) -> None:
    """What is drawn step by step is what an image from scratch would show."""
    drawer = next(t for t in simulator.things.values() if t.kind == "Drawer" and t.contents)
    inner = drawer.contents[0]
    start = simulator.act({"action": "Snapshot"}).value
    plain = simulator.frame()
    for request in (
        {"action": "PickupObject", "objectId": inner, "forceAction": True},
        {"action": "RotateRight"},
        {"action": "OpenObject", "objectId": drawer.id, "forceAction": True},
        {"action": "RandomizeMaterials", "randomSeed": 9},
        {"action": "BreakObject", "objectId": first(simulator, "Mug").id, "forceAction": True},
        {"action": "SliceObject", "objectId": first(simulator, "Bread").id, "forceAction": True},
        {"action": "SliceObject", "objectId": first(simulator, "Apple").id, "forceAction": True},
    ):
        assert simulator.act(request).success
        simulator.frame()
    assert simulator.act({"action": "Restore", "snapshot": start}).success
    again = simulator.frame()
    assert (again.rgb == plain.rgb).all()
    assert (again.depth == plain.depth).all()
    assert [again.names[i] for i in again.ids.ravel() if i >= 0] == [
        plain.names[i] for i in plain.ids.ravel() if i >= 0
    ]
    assert set(again.names) == set(plain.names)


def drawn(simulator: Simulator, id: str) -> NDArray[np.float64]:
    """Places (V, 3) of the corners of what is drawn for an object."""
    made: Any = simulator.act({"action": "GetInSceneAssetGeometry", "objectId": id}).value
    (mesh,) = made
    return np.array([[point[axis] for axis in "xyz"] for point in mesh["vertices"]])


@pytest.mark.parametrize(
    ("id", "side"),
    [("Cabinet|+01.76|+00.39|+02.35", 1), ("Cabinet|+01.51|+00.39|+02.36", -1)],
)
def test_a_door_hangs_on_the_edge_where_thors_cupboard_is(id: str, side: int) -> None:
    simulator = Simulator("FloorPlan27", width=60, height=60, release="5.0.0")
    box = simulator.things[id].box
    assert simulator.act({"action": "OpenObject", "objectId": id, "forceAction": True}).success
    own = (drawn(simulator, id) - box.center) @ box.axes
    ahead = own[own[:, 2] > box.half[2] + 0.1]
    assert len(ahead) and (side * ahead[:, 0] > 0).all()


def poses(simulator: Simulator) -> list[dict[str, object]]:
    return [
        {"objectName": t["name"], "position": t["position"], "rotation": t["rotation"]}
        for t in simulator.things.values()
        if t["pickupable"]
    ]


def test_a_recorded_counter_ends_at_the_drawers_below_it() -> None:
    simulator = Simulator("FloorPlan25", width=60, height=60)
    counter = first(simulator, "CounterTop").id
    drawer = simulator.things["Drawer|-01.13|+00.71|+00.42"].box

    def edge() -> float:
        places = drawn(simulator, counter)
        near = np.abs(places[:, 0] - drawer.center[0]) < 0.4
        return float(places[near & (places[:, 1] > drawer.high[1]), 2].max())

    assert edge() > drawer.high[2] + 0.2
    assert simulator.act({"action": "SetObjectPoses", "objectPoses": poses(simulator)}).success
    assert drawer.high[2] < edge() < drawer.high[2] + 0.06


@pytest.mark.parametrize(("above", "inside"), [(0.0, False), (0.05, True)])
def test_what_lies_on_the_floor_is_in_no_basket(above: float, inside: bool) -> None:
    simulator = Simulator("FloorPlan317", width=60, height=60)
    hamper, cloth = first(simulator, "LaundryHamper"), first(simulator, "Cloth")
    floor = simulator.things[hamper.id].box.low[1]
    x, _, z = hamper.box.center
    y = floor + above + cloth["position"]["y"] - float(cloth.box.low[1])
    pose = {
        "objectName": cloth["name"],
        "position": {"x": x, "y": y, "z": z},
        "rotation": cloth["rotation"],
    }
    assert simulator.act({"action": "SetObjectPoses", "objectPoses": [pose]}).success
    assert (hamper.id in simulator.things[cloth.id].parents) == inside


def test_a_sink_does_not_hide_its_basin() -> None:
    simulator = Simulator("FloorPlan405", width=300, height=300, release="5.0.0")
    pose = {"x": -2.5, "z": 0.25, "rotation": 270, "horizon": 60, "standing": True}
    assert simulator.act({"action": "TeleportFull", **pose, "forceAction": True}).success
    shown = simulator.shown()
    assert shown["Sink|-03.02|+00.87|+00.21|SinkBasin"] > shown["Sink|-03.02|+00.87|+00.21"]


@pytest.mark.parametrize(
    ("room", "id", "ahead"),
    [
        ("FloorPlan208", "Drawer|+01.76|+00.77|+01.09", (-1.0, 0.0, 0.0)),
        ("FloorPlan2", "Cabinet|-00.63|+02.02|-01.45", (0.0, 0.0, 1.0)),
    ],
)
def test_what_opens_has_its_front_where_thors_has(
    room: str, id: str, ahead: tuple[float, float, float]
) -> None:
    of_a_task = Simulator(room, width=60, height=60)
    as_in_thor = Simulator(room, width=60, height=60, release="5.0.0")
    before = of_a_task.things[id].box
    assert np.allclose(as_in_thor.things[id].box.axes[:, 2], ahead)
    assert not np.allclose(before.axes[:, 2], ahead)
    assert of_a_task.act({"action": "SetObjectPoses", "objectPoses": poses(of_a_task)}).success
    after = of_a_task.things[id].box
    assert np.allclose(after.axes[:, 2], ahead)
    assert np.allclose((after.low, after.high), (before.low, before.high))


@pytest.mark.parametrize(("beside", "inside"), [(0.06, True), (0.2, False)])
def test_what_leans_in_a_cup_is_in_it(beside: float, inside: bool) -> None:
    simulator = Simulator("FloorPlan28", width=60, height=60)
    cup, spoon = first(simulator, "Cup"), first(simulator, "Spoon")
    x, y, z = cup.box.center.tolist()
    at = {"x": x, "y": y, "z": z + beside}
    turn = {"x": 60.0, "y": 0.0, "z": 0.0}
    listed = [{"objectName": spoon["name"], "position": at, "rotation": turn}]
    assert simulator.act({"action": "SetObjectPoses", "objectPoses": listed}).success
    assert (simulator.things[spoon.id].parents == [cup.id]) is inside


def test_neither_cupboard_nor_rim_hides_what_lies_in_a_basin() -> None:
    simulator = Simulator("FloorPlan1", width=300, height=300, release="5.0.0")
    pose = {"x": -1.25, "z": -1.5, "rotation": 270, "horizon": 60, "standing": True}
    assert simulator.act({"action": "TeleportFull", **pose, "forceAction": True}).success
    assert simulator.shown()["Sink|-01.90|+00.97|-01.50|SinkBasin"] > 3_000


def test_recorded_furniture_is_open_where_something_stands_in_it() -> None:
    simulator = Simulator("FloorPlan430", width=60, height=60)
    table, bottle = first(simulator, "SideTable"), first(simulator, "SprayBottle")
    listed = poses(simulator)
    for pose in listed:
        if pose["objectName"] == bottle["name"]:
            x, _, z = table.box.center.tolist()
            pose["position"] = {"x": x, "y": float(bottle["position"]["y"]), "z": z}
    solid = len(drawn(simulator, table.id))
    assert simulator.act({"action": "SetObjectPoses", "objectPoses": listed}).success
    assert len(drawn(simulator, table.id)) != solid
