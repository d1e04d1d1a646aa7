"""What programs written for AI2-THOR meet: its rooms, and its rules to the letter.

The rules are those of unity/Assets/Scripts of AI2-THOR 5.0.0.
"""

from __future__ import annotations

import json
import lzma
import os
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sampling import every

from inhabit.envs.simulators.household.rooms.ithor import SCENES
from inhabit.envs.simulators.household.rooms.user_rooms import Catalog
from inhabit.envs.simulators.household.simulator import Simulator
from inhabit.envs.simulators.household.wire.packing import Json
from inhabit.envs.simulators.household.wire.session import ClientSession

ROOMS = Path(os.environ.get("INHABIT_DATA", "../shared/data")) / "thor_rooms" / "rooms.json.xz"


class Program:
    """A program that speaks with the simulator as AI2-THOR's client does."""

    def __init__(self, scene: str = "FloorPlan1") -> None:
        catalog = Catalog(as_thor=True)
        self.simulator = Simulator(scene, width=100, height=100, catalog=catalog, release="5.0.0")
        self._session = ClientSession(self.simulator, Json(), pictures=False)

    def step(self, action: str, **arguments: Any) -> Mapping[str, Any]:
        """The metadata after an action."""
        request = {"action": action, "sequenceId": 1, **arguments}
        metadata: Mapping[str, Any] = json.loads(self._session.answer(request).metadata)
        return metadata["agents"][0]  # type: ignore[no-any-return]

    def do(self, action: str, **arguments: Any) -> Mapping[str, Mapping[str, Any]]:
        """The objects by id after an action that must succeed."""
        metadata = self.step(action, **arguments)
        assert metadata["lastActionSuccess"], metadata["errorMessage"]
        return {o["objectId"]: o for o in metadata["objects"]}

    def named(self, kind: str) -> str:
        """The id of the first object of a type."""
        return next(id for id, thing in self.simulator.things.items() if thing.kind == kind)


@pytest.fixture
def program() -> Program:
    return Program()


@pytest.mark.skipif(not ROOMS.is_file(), reason=f"there is no {ROOMS}")
def test_names_ids_and_starts_are_those_of_release_5() -> None:
    rooms = json.loads(lzma.decompress(ROOMS.read_bytes()))
    catalog = Catalog(as_thor=True)
    for scene in SCENES:
        room, real = catalog.load(scene), rooms[scene]
        assert {o["objectId"]: o["name"] for o in room.objects} == real["names"], scene
        start = real["start"]
        assert room.start is not None
        assert room.start == pytest.approx([*start.values(), real["rotation"]], abs=1e-4)
        for thing in room.objects:
            links = {*(thing["parentReceptacles"] or ()), *(thing["receptacleObjectIds"] or ())}
            assert links <= real["names"].keys()


@pytest.mark.parametrize("scene", ["FloorPlan25", "FloorPlan302", "FloorPlan413", "FloorPlan420"])
def test_the_agent_starts_where_it_starts_in_thor_and_can_walk(scene: str) -> None:
    program = Program(scene)
    start, room = program.step("Pass")["agent"], program.simulator._house.world.room
    assert [*start["position"].values(), start["rotation"]["y"]] == [*(room.start or ())]
    here = {k: start["position"][k] for k in "xyz"}
    assert program.step("Teleport", position=here)["lastActionSuccess"]
    moved = [program.step(f"Move{way}")["lastActionSuccess"] for way in ("Ahead", "Back", "Left")]
    assert any(moved)


def test_tasks_keep_the_rooms_that_they_were_made_with() -> None:
    plain, room = Catalog().load("FloorPlan302"), Catalog(as_thor=True).load("FloorPlan302")
    assert plain.start is None and len(plain.objects) == len(room.objects)
    assert {o["objectId"] for o in plain.objects} != {o["objectId"] for o in room.objects}


@pytest.mark.parametrize("scene", ["FloorPlan318", "FloorPlan323"])
def test_what_release_5_renames_keeps_its_front_and_its_parts(scene: str) -> None:
    room = Catalog(as_thor=True).load(scene)
    parts = {id: (box,) for id, box in room.forwards.items()} | dict(room.strips)
    assert parts.keys() <= room.placed.keys()
    for id, boxes in parts.items():
        whole = room.placed[id]
        np.testing.assert_allclose(np.min([box.low for box in boxes], axis=0), whole.low)
        np.testing.assert_allclose(np.max([box.high for box in boxes], axis=0), whole.high)


def without(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return {o["objectId"]: o for o in metadata["objects"]}


@pytest.mark.parametrize("kind", ["Apple", "Fridge", "CounterTop", "Plate", "Stool", "SinkBasin"])
def test_disabling_takes_a_thing_off_every_list_and_enabling_is_the_identity(
    program: Program, kind: str
) -> None:
    """PhysicsRemoteFPSAgentController.cs: DisableObject and EnableObject are SetActive."""
    before, id = program.step("Pass"), program.named(kind)
    cells = program.simulator._house.world.cells
    gone = program.do("DisableObject", objectId=id)
    assert id not in gone and not program.simulator.act({"action": "OpenObject"}).success
    for thing in gone.values():
        assert id not in (thing["receptacleObjectIds"] or ())
        assert id not in (thing["parentReceptacles"] or ())
    assert program.do("DisableObject", objectId=id).keys() == gone.keys()
    poses = program.step("GetInteractablePoses", objectId=id)
    assert poses["lastActionSuccess"] and poses["actionReturn"] == []
    assert not program.step("PickupObject", objectId=id, forceAction=True)["lastActionSuccess"]
    program.do("EnableObject", objectId=id)
    assert without(program.step("Pass")) == without(before)
    assert program.simulator._house.world.cells == cells


def test_a_loop_that_makes_room_ends(program: Program) -> None:
    """As programs do it: the largest thing goes until few are left."""
    table = program.named("CounterTop")
    for _ in range(40):
        objects = program.do("Pass")
        inside = [i for i in objects[table]["receptacleObjectIds"] if objects[i]["pickupable"]]
        if not inside:
            break
        program.do("DisableObject", objectId=max(inside, key=lambda i: objects[i]["mass"]))
    assert not inside


def test_what_came_back_after_its_plate_had_moved_is_not_on_it(program: Program) -> None:
    plate, egg = program.named("Plate"), program.named("Egg")
    program.do("PickupObject", objectId=egg, forceAction=True)
    objects = program.do("PutObject", objectId=plate, forceAction=True)
    assert plate in objects[egg]["parentReceptacles"]
    program.do("DisableObject", objectId=egg)
    program.do("PickupObject", objectId=plate, forceAction=True)
    program.do(
        "PutObject",
        objectId=program.named("DiningTable")
        if any(t.kind == "DiningTable" for t in program.simulator.things.values())
        else program.named("CounterTop"),
        forceAction=True,
    )
    objects = program.do("EnableObject", objectId=egg)
    assert plate not in (objects[egg]["parentReceptacles"] or ())
    assert egg not in objects[plate]["receptacleObjectIds"]


def poses(objects: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"objectName": o["name"], "position": o["position"], "rotation": o["rotation"]}
        for o in objects.values()
        if o["pickupable"] or o["moveable"]
    ]


def test_poses_of_all_change_nothing(program: Program) -> None:
    before = program.do("Pass")
    after = program.do("SetObjectPoses", objectPoses=poses(before), placeStationary=False)
    assert after.keys() == before.keys()
    for id, thing in before.items():
        assert after[id]["position"] == pytest.approx(thing["position"], abs=1e-6)


@pytest.mark.parametrize("scene", ["FloorPlan8", "FloorPlan210", "FloorPlan330", "FloorPlan401"])
def test_poses_of_the_room_bring_its_receptacles_back(scene: str) -> None:
    program = Program(scene)
    before = program.do("Pass")
    program.do("InitialRandomSpawn", randomSeed=1)
    after = program.do("SetObjectPoses", objectPoses=poses(before))
    for id, thing in before.items():
        assert sorted(after[id]["parentReceptacles"] or ()) == sorted(
            thing["parentReceptacles"] or ()
        )
        assert sorted(after[id]["receptacleObjectIds"] or ()) == sorted(
            thing["receptacleObjectIds"] or ()
        )


def test_what_has_no_pose_is_disabled(program: Program) -> None:
    before = program.do("Pass")
    listed = [pose for pose in poses(before) if not pose["objectName"].startswith("Stool")][5:]
    names = {pose["objectName"] for pose in listed}
    after = program.do("SetObjectPoses", objectPoses=listed, skipMoveable=True)
    for id, thing in before.items():
        assert (id in after) == (not thing["pickupable"] or thing["name"] in names)
    after = program.do(
        "SetObjectPoses", objectPoses=listed, enablePhysicsJitter=False, forceRigidbodySleep=True
    )
    assert {o["name"] for o in after.values() if o["pickupable"] or o["moveable"]} == names


def test_what_was_cut_may_be_listed_and_what_broke_has_no_pose(program: Program) -> None:
    program.do("SliceObject", objectId=program.named("Apple"), forceAction=True)
    plate = program.named("Plate")
    objects = program.do("BreakObject", objectId=plate, forceAction=True)
    assert program.step("GetInteractablePoses", objectId=plate)["actionReturn"] == []
    assert program.do("SetObjectPoses", objectPoses=poses(objects)).keys() == objects.keys()


def test_copies_have_thors_names(program: Program) -> None:
    before = program.do("Pass")
    mug = next(o for o in before.values() if o["objectType"] == "Mug")
    more = [
        {"objectName": mug["name"], "position": {"x": x, "y": 0.1, "z": 1.0}} for x in (-1.0, 0.0)
    ]
    asked = [*poses(before), *more]
    after = program.do("SetObjectPoses", objectPoses=asked)
    new = {id: o["name"] for id, o in after.items() if id not in before}
    numbers = (len(asked) - 2, len(asked) - 1)
    assert new == {f"{mug['objectId']}_copy_{n}": f"{mug['name']}_copy_{n}" for n in numbers}
    again = program.do("SetObjectPoses", objectPoses=asked)
    assert {id: o["name"] for id, o in again.items()} == {id: o["name"] for id, o in after.items()}
    wanted = [{"objectType": "Apple", "count": 3}]
    before = program.do("Reset", sceneName="FloorPlan1")
    after = program.do("InitialRandomSpawn", randomSeed=1, numDuplicatesOfType=wanted)
    apple = next(o for o in before.values() if o["objectType"] == "Apple")
    assert {o["name"] for id, o in after.items() if id not in before} == {
        f"{apple['name']}_random_copy_{n}" for n in (0, 1)
    }


@pytest.mark.parametrize("kind", ["Apple", "Bread", "Lettuce", "Potato", "Tomato"])
def test_slices(program: Program, kind: str) -> None:
    """SliceObject.cs: one slice for each child of the prefab, numbered from 0, named from 1."""
    id = program.named(kind)
    before = program.do("Pass")
    after = program.do("SliceObject", objectId=id, forceAction=True)
    made = [o for other, o in after.items() if other not in before]
    count = {"Apple": 3, "Bread": 8, "Lettuce": 8, "Potato": 9, "Tomato": 7}[kind]
    assert [o["objectId"] for o in made] == [f"{id}|{kind}Sliced_{k}" for k in range(count)]
    name = before[id]["assetId"] or kind
    assert [o["name"] for o in made] == [f"{name}_Slice_{k}" for k in range(1, count + 1)]
    assert after[id]["isSliced"] and not after[id]["visible"]
    answer = program.step("GetInteractablePoses", objectId=id)
    assert answer["lastActionSuccess"] and answer["actionReturn"] == []


def test_liquids(program: Program) -> None:
    """Fill.cs: coffee is hot, and what is tilted by more than 90 degrees is empty."""
    mug = program.named("Mug")
    coffee = {"fillLiquid": "coffee", "forceAction": True}
    objects = program.do("FillObjectWithLiquid", objectId=mug, **coffee)
    assert objects[mug]["temperature"] == "Hot" and objects[mug]["fillLiquid"] == "coffee"
    program.do("PickupObject", objectId=mug, forceAction=True)
    assert program.do("RotateHeldObject", rotation={"x": 80, "y": 0, "z": 0})[mug]["fillLiquid"]
    objects = program.do("RotateHeldObject", rotation={"x": 100, "y": 0, "z": 0})
    assert not objects[mug]["isFilledWithLiquid"] and objects[mug]["fillLiquid"] is None


def test_an_open_fridge_cools(program: Program) -> None:
    """ColdZone.cs: what is in it is cold at once, whether the door is open or not."""
    fridge, apple = program.named("Fridge"), program.named("Apple")
    program.do("OpenObject", objectId=fridge, forceAction=True)
    program.do("PickupObject", objectId=apple, forceAction=True)
    objects = program.do("PutObject", objectId=fridge, forceAction=True)
    assert objects[apple]["temperature"] == "Cold" and objects[fridge]["isOpen"]


@pytest.mark.parametrize("seed", every(4, range(4)))
def test_containment_is_symmetric(seed: int) -> None:
    """Contains.cs: a receptacle lists what is in its box, and that lists the receptacle."""
    program = Program(SCENES[30 * seed + 3])
    for _ in range(2):
        objects = program.do("InitialRandomSpawn", randomSeed=seed, allowFloor=True)
        for id, thing in objects.items():
            for outer in (thing["parentReceptacles"] or ()) if thing["pickupable"] else ():
                assert id in objects[outer]["receptacleObjectIds"]
            for inner in thing["receptacleObjectIds"] or ():
                if objects[inner]["pickupable"]:
                    assert id in (objects[inner]["parentReceptacles"] or ())


def test_what_lies_low_is_on_the_floor_too(program: Program) -> None:
    apple, floor = program.named("Apple"), program.named("Floor")
    place = dict(zip("xyz", (-1.0, 0.05, 0.5), strict=True))
    objects = program.do("PlaceObjectAtPoint", objectId=apple, position=place)
    assert objects[apple]["parentReceptacles"] == [floor]
    assert apple in objects[floor]["receptacleObjectIds"]


def test_what_is_held_is_seen_and_holds_nothing(program: Program) -> None:
    plate, egg = program.named("Plate"), program.named("Egg")
    program.do("PickupObject", objectId=egg, forceAction=True)
    program.do("PutObject", objectId=plate, forceAction=True)
    program.do("PickupObject", objectId=plate, forceAction=True)
    objects = program.do("LookDown", degrees=30)
    assert objects[plate]["visible"] and objects[plate]["isInteractable"]
    assert objects[plate]["receptacleObjectIds"] == []
    assert objects[egg]["parentReceptacles"] is None
    back = program.do("PutObject", objectId=program.named("CounterTop"), forceAction=True)
    assert back[plate]["receptacleObjectIds"] == [egg] and plate in back[egg]["parentReceptacles"]


def test_small_things(program: Program) -> None:
    metadata = program.step("Pass")
    assert metadata["errorCode"] is None and metadata["errorMessage"] == ""
    assert program.step("GetSceneBounds")["actionReturn"] == metadata["sceneBounds"]
    planes = program.step("Initialize")["actionReturn"]
    assert planes == {"cameraNearPlane": 0.01, "cameraFarPlane": 20.0}
    before = program.step("Pass")["agent"]
    refused = program.step("MoveAhead", agentId=1)
    assert not refused["lastActionSuccess"] and "agentId" in refused["errorMessage"]
    assert refused["agent"] == before


OLDER: Mapping[str, Mapping[str, Any]] = {
    "OpenObject": {"moveMagnitude": 0.5},
    "GetShortestPath": {"rotation": {"x": 0, "y": 90, "z": 0}, "allowedError": 0.05},
}


@pytest.mark.parametrize("action", OLDER)
def test_arguments_of_other_releases(program: Program, action: str) -> None:
    id, force = program.named("Fridge"), {"forceAction": True} if action == "OpenObject" else {}
    objects = program.do(action, objectId=id, **OLDER[action], **force)
    assert action != "OpenObject" or objects[id]["openness"] == 0.5


def test_a_thing_is_teleported_but_not_out_of_the_hand_or_into_another(program: Program) -> None:
    mug, apple = program.named("Mug"), program.named("Apple")
    level, there = {"x": 0.0, "y": 0.0, "z": 0.0}, {"x": -1.0, "y": 1.5, "z": 1.0}
    objects = program.do("TeleportObject", objectId=mug, position=there, rotation=level)
    assert objects[mug]["position"] == pytest.approx(there)
    again = {"position": there, "rotation": level}
    assert not program.step("TeleportObject", objectId=apple, **again)["lastActionSuccess"]
    program.do("PickupObject", objectId=mug, forceAction=True)
    assert "hand" in program.step("TeleportObject", objectId=mug, **again)["errorMessage"]
    metadata = program.step("TeleportObject", objectId=mug, allowTeleportOutOfHand=True, **again)
    assert metadata["lastActionSuccess"] and metadata["inventoryObjects"] == []


def test_what_lay_on_a_thing_that_is_teleported_stays_and_is_no_longer_on_it(
    program: Program,
) -> None:
    plate, apple = program.named("Plate"), program.named("Apple")
    program.do("PickupObject", objectId=apple, forceAction=True)
    before = program.do("PutObject", objectId=plate, forceAction=True)
    there, level = {"x": -1.0, "y": 1.5, "z": 1.0}, {"x": 0.0, "y": 0.0, "z": 0.0}
    after = program.do("TeleportObject", objectId=plate, position=there, rotation=level)
    assert after[apple]["position"] == before[apple]["position"]
    assert plate in before[apple]["parentReceptacles"]
    assert plate not in after[apple]["parentReceptacles"]
    assert after[plate]["receptacleObjectIds"] == []


@pytest.mark.parametrize("action", ["PlaceObjectAtPoint", "TeleportObject"])
def test_nobody_walks_through_furniture_that_was_moved(action: str) -> None:
    program = Program("FloorPlan201")
    free = program.step("GetReachablePositions")["actionReturn"]
    there, level = {**free[len(free) // 2], "y": 0.5}, {"x": 0.0, "y": 0.0, "z": 0.0}
    pose = {"position": there, "rotation": level, "forceAction": True}
    program.do(action, objectId=program.named("ArmChair"), **pose)
    now = program.step("GetReachablePositions")["actionReturn"]
    assert {**there, "y": free[0]["y"]} not in now


def test_what_is_breakable_again(program: Program) -> None:
    plate = program.named("Plate")
    assert not program.do("MakeAllObjectsUnbreakable")[plate]["breakable"]
    assert program.do("MakeObjectBreakable", objectId=plate)[plate]["breakable"]
    fridge = program.named("Fridge")
    assert not program.do("MakeObjectBreakable", objectId=fridge)[fridge]["breakable"]


def test_the_rules_differ_between_programs_and_tasks() -> None:
    """Old records replay: tasks keep two slices, closed fridges and poses of some things."""
    plain = Simulator("FloorPlan1", width=32, height=32)
    kinds = Counter(thing.kind for thing in plain.things.values())
    apple = next(id for id, thing in plain.things.items() if thing.kind == "Apple")
    assert plain.act({"action": "SliceObject", "objectId": apple, "forceAction": True}).success
    after = Counter(thing.kind for thing in plain.things.values())
    assert after - kinds == {"AppleSliced": 2}


def test_a_mesh_fills_its_box_and_scales_with_it(program: Program) -> None:
    mug = program.named("Mug")

    def ends() -> tuple[Any, Any]:
        (mesh,) = program.step(
            "GetInSceneAssetGeometry", objectId=mug, triangles=True, normals=True
        )["actionReturn"]
        places = np.array([[point[axis] for axis in "xyz"] for point in mesh["vertices"]])
        assert max(mesh["triangles"]) < len(places) == len(mesh["normals"])
        return places.min(axis=0), places.max(axis=0)

    low, high = ends()
    box = program.simulator.things[mug].box
    assert (low >= box.low - 0.02).all() and (high <= box.high + 0.02).all()
    program.do("ScaleObject", objectId=mug, scale=2.0, forceAction=True)
    larger = program.simulator.things[mug].box
    assert np.allclose(larger.half, 2 * box.half) and larger.low[1] == pytest.approx(box.low[1])
    assert np.allclose(np.subtract(*ends()), 2 * (low - high), atol=1e-5)


def test_one_more_is_in_the_hand(program: Program) -> None:
    before = program.do("Pass")
    after = program.do("CreateObject", objectType="Apple")
    (new,) = after.keys() - before.keys()
    assert (
        after[new]["isPickedUp"] and program.step("Pass")["inventoryObjects"][0]["objectId"] == new
    )


def test_what_is_cut_or_broken_is_not_copied(program: Program) -> None:
    program.do("SliceObject", objectId=program.named("Apple"), forceAction=True)
    program.do("BreakObject", objectId=program.named("Plate"), forceAction=True)
    for kind in ("Apple", "Plate"):
        assert f"has no {kind}" in program.step("CreateObject", objectType=kind)["errorMessage"]


def test_states_are_drawn_by_a_seed(program: Program) -> None:
    drawn = []
    for seed in (1, 2, 1):
        program.do("Reset", sceneName="FloorPlan1")
        objects = program.do("RandomToggleStateOfAllObjects", randomSeed=seed)
        drawn.append({id: (o["isOpen"], o["isDirty"], o["isToggled"]) for id, o in objects.items()})
        assert all(not o["isOpen"] or o["openable"] for o in objects.values())
    assert drawn[0] == drawn[2] != drawn[1]


@pytest.mark.parametrize(
    "scene", every(2, ["FloorPlan3", "FloorPlan211", "FloorPlan320", "FloorPlan408"])
)
def test_what_is_visible_is_drawn_and_what_is_drawn_in_reach_is_visible(scene: str) -> None:
    """Both, but for the floor, of which a part within reach has to be in view.

    In BaseFPSAgentController.cs the distance is that to the nearest of a thing's points, here that
    to its box as seen from above, 1.5 m at most.
    """
    program = Program(scene)
    draw, seen = random.Random(scene), 0
    cells = program.step("GetReachablePositions")["actionReturn"]
    pick = draw.choice([i for i, t in program.simulator.things.items() if t["pickupable"]])
    for hands in ("empty", "full"):
        if hands == "full":
            program.do("PickupObject", objectId=pick, forceAction=True)
        for _ in range(6):
            turn, horizon = draw.randrange(0, 360, 45), draw.choice([0, 30, 60])
            cell = draw.choice(cells)
            metadata = program.step("TeleportFull", **cell, rotation=turn, horizon=horizon)
            frame = program.simulator.frame(rgb=False)
            drawn = {frame.names[i] for i in np.unique(frame.ids[frame.ids >= 0])}
            for thing in metadata["objects"]:
                box = program.simulator.things[thing["objectId"]].box
                near = box.distance_from_axis(cell["x"], cell["z"]) <= 1.5
                if thing["objectType"] == "Floor":
                    assert not thing["visible"] or thing["objectId"] in drawn
                else:
                    assert thing["visible"] == (thing["objectId"] in drawn and near)
                assert thing["isInteractable"] == thing["visible"]
                seen += thing["visible"]
    assert seen > 30


def test_running_water_fills_what_stands_in_the_basin(program: Program) -> None:
    """Fill.cs: what is under a running tap is full of water."""
    mug, basin = program.named("Mug"), program.named("SinkBasin")
    program.do("PickupObject", objectId=mug, forceAction=True)
    program.do("PutObject", objectId=basin, forceAction=True)
    objects = program.do("ToggleObjectOn", objectId=program.named("Faucet"), forceAction=True)
    assert objects[mug]["isFilledWithLiquid"] and objects[mug]["fillLiquid"] == "water"
    assert objects[mug]["temperature"] == "RoomTemp"


def test_what_is_put_in_a_sink_is_not_in_the_cupboard_below_it() -> None:
    """In FloorPlan1 the cupboard's box reaches into the basin."""
    program = Program("FloorPlan1")
    mug, sink = program.named("Mug"), program.named("Sink")
    program.do("PickupObject", objectId=mug, forceAction=True)
    things = program.do("PutObject", objectId=sink, forceAction=True)
    assert {id.split("|")[0] for id in things[mug]["parentReceptacles"]} == {"Sink"}
    poses = program.step("GetInteractablePoses", objectId=mug)["actionReturn"]
    program.do("TeleportFull", **poses[0])
    program.do("PickupObject", objectId=mug)


def test_what_was_let_go_moves_until_the_next_action(program: Program) -> None:
    """SimObjPhysics.cs: `isMoving` is true of what is in motion, and what is placed is not."""
    apple = program.named("Apple")
    for action in ("DropHeldObject", "ThrowObject"):
        program.do("PickupObject", objectId=apple, forceAction=True)
        metadata = program.step(action, forceAction=True)
        assert [o["objectId"] for o in metadata["objects"] if o["isMoving"]] == [apple]
        assert not metadata["isSceneAtRest"]
        metadata = program.step("Pass")
        assert not any(o["isMoving"] for o in metadata["objects"]) and metadata["isSceneAtRest"]
    program.do("PickupObject", objectId=apple, forceAction=True)
    counter = program.named("CounterTop")
    assert not program.do("PutObject", objectId=counter, forceAction=True)[apple]["isMoving"]


def test_an_argument_of_release_2_is_refused(program: Program) -> None:
    mug, counter = program.named("Mug"), program.named("CounterTop")
    program.do("PickupObject", objectId=mug, forceAction=True)
    refused = program.step("PutObject", objectId=mug, receptacleObjectId=counter, forceAction=True)
    assert refused["errorCode"] == "InvalidArgument" and refused["inventoryObjects"]
    program.do("PutObject", objectId=counter, forceAction=True)


def test_bounds_hold_walls_and_ceiling(program: Program) -> None:
    """AI2-THOR 5.0.0 says 4.97 x 2.70 x 5.49 m of FloorPlan1."""
    size = program.step("Pass")["sceneBounds"]["size"]
    assert [*size.values()] == pytest.approx([4.97, 2.70, 5.49], abs=0.05)
