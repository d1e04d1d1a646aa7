"""THOR's preconditions, effects, messages and codes, through `Simulator.act`."""

import math
from typing import Any

import pytest

from inhabit.envs.simulators.household.simulator import ActionResult, Simulator
from inhabit.envs.simulators.household.state.world import SimObject

KITCHEN, BATHROOM, BEDROOM = "FloorPlan1", "FloorPlan401", "FloorPlan301"


class Hand:
    """Acts by force, on the first thing of a kind."""

    def __init__(self, scene: str) -> None:
        self.simulator = Simulator(scene, width=60, height=60)

    def act(self, action: str, kind: str | None = None, **arguments: Any) -> ActionResult:
        if kind is not None:
            arguments = {"objectId": self[kind].id, "forceAction": True, **arguments}
        return self.simulator.act({"action": action, **arguments})

    def do(self, action: str, kind: str | None = None, **arguments: Any) -> Any:
        reply = self.act(action, kind, **arguments)
        assert reply.success, (action, kind, reply.message)
        return reply.value

    def refused(self, action: str, kind: str | None = None, **arguments: Any) -> tuple[str, str]:
        reply = self.act(action, kind, **arguments)
        assert not reply.success
        return reply.message, reply.code

    def all(self, kind: str) -> list[SimObject]:
        return [t for t in self.simulator.things.values() if t.kind == kind and t.present]

    def __getitem__(self, kind: str) -> SimObject:
        return self.all(kind)[0]

    def put(self, kind: str, receptacle: str) -> None:
        self.do("PickupObject", kind)
        if self[receptacle]["openable"] and not self[receptacle]["isOpen"]:
            self.do("OpenObject", receptacle)
        self.do("PutObject", receptacle)


@pytest.fixture
def kitchen() -> Hand:
    return Hand(KITCHEN)


def test_an_action_that_thor_has_not(kitchen: Hand) -> None:
    message, code = kitchen.refused("MoveAhed")
    assert code == "InvalidAction"
    assert "MoveAhead" in message
    assert kitchen.simulator.act({}).code == "InvalidAction"
    assert kitchen.simulator.act({"action": ["MoveAhead"]}).code == "InvalidAction"
    assert kitchen.simulator.act({"action": "{0.__class__}"}).code == "InvalidAction"


@pytest.mark.parametrize(
    ("request_", "code", "named"),
    [
        ({"action": "PickupObject"}, "MissingArguments", "objectId"),
        ({"action": "TeleportFull", "x": 1, "z": 1}, "MissingArguments", "horizon"),
        ({"action": "TeleportFull", "rotation": 0, "horizon": 0}, "MissingArguments", "x, y, z"),
        ({"action": "RotateRight", "haste": 3}, "InvalidArgument", "haste"),
        ({"action": "RotateRight", "degrees": "ninety"}, "InvalidArgument", "degrees"),
        ({"action": "RotateRight", "degrees": float("nan")}, "", "degrees"),
        ({"action": "Teleport", "position": [1, 2, 3]}, "InvalidArgument", "position"),
        ({"action": "OpenObject", "objectId": "x", "openness": 2}, "", "openness"),
        ({"action": "ChangeResolution", "x": 0, "y": 10}, "", "pixels"),
        ({"action": "ChangeResolution", "x": 1e9, "y": 10}, "", "pixels"),
        ({"action": "Initialize", "gridSize": -1}, "", "gridSize"),
        ({"action": "Initialize", "fieldOfView": 200}, "", "fov"),
        ({"action": "Reset", "sceneName": "FloorPlan31"}, "", "FloorPlan31"),
        ({"action": "Restore", "snapshot": 77}, "", "77"),
        ({"action": "SetStateOfAllObjects", "StateChange": "CanFly"}, "", "CanFly"),
    ],
)
def test_wrong_arguments_are_named(
    kitchen: Hand, request_: dict[str, Any], code: str, named: str
) -> None:
    reply = kitchen.simulator.act(request_)
    assert not reply.success
    assert reply.code == code
    assert named in reply.message


def test_ids_that_are_not_in_the_scene(kitchen: Hand) -> None:
    for action in ("PickupObject", "OpenObject", "SliceObject", "ToggleObjectOn", "DirtyObject"):
        message, _ = kitchen.refused(action, objectId="Mug|{0}|%s\n", forceAction=True)
        assert "Mug|{0}|%s\n is not the objectId on any object in the scene" in message


def test_what_is_out_of_sight_is_refused_without_force(kitchen: Hand) -> None:
    fork = kitchen["Fork"].id  # in a closed drawer
    message, code = kitchen.refused("PickupObject", objectId=fork)
    assert "not found within the specified visibility" in message
    assert code == "ObjectNotVisible"
    kitchen.do("PickupObject", objectId=fork, forceAction=True)


def test_the_hand_holds_one_thing(kitchen: Hand) -> None:
    assert kitchen.refused("DropHandObject")[1] == "ObjectNotInInventory"
    assert kitchen.refused("PutObject", "Plate")[1] == "ObjectNotInInventory"
    kitchen.do("PickupObject", "Apple")
    assert kitchen["Apple"]["isPickedUp"]
    assert kitchen["Apple"]["parentReceptacles"] is None
    assert kitchen.refused("PickupObject", "Bread")[1] == "InventoryFull"
    assert kitchen.refused("PickupObject", "Fridge")[1] == "ObjectNotPickupable"


def test_putting_needs_an_open_receptacle_that_takes_it(kitchen: Hand) -> None:
    kitchen.do("PickupObject", "Apple")
    assert kitchen.refused("PutObject", "Fridge")[1] == "ReceptacleNotOpen"
    assert kitchen.refused("PutObject", "Tomato") == (
        "This target object is NOT a receptacle!",
        "ObjectNotAllowedInReceptacle",
    )
    toaster = kitchen["Toaster"]
    kitchen.do("GetInteractablePoses", objectId=toaster.id, maxPoses=1)
    pose = kitchen.do("GetInteractablePoses", objectId=toaster.id, maxPoses=1)[0]
    place = {axis: pose.pop(axis) for axis in "xyz"}
    kitchen.do("TeleportFull", position=place, **pose)
    message, code = kitchen.refused("PutObject", objectId=toaster.id)
    assert "is not a valid Object Type to be placed in" in message
    assert code == "ObjectNotAllowedInReceptacle"
    kitchen.do("OpenObject", "Fridge")
    kitchen.do("PutObject", "Fridge")
    assert kitchen["Apple"].parents == [kitchen["Fridge"].id]
    assert kitchen["Apple"].id in kitchen["Fridge"].contents
    assert kitchen.simulator.agent.held is None


def test_a_burner_takes_one_pan(kitchen: Hand) -> None:
    burner = next(b for b in kitchen.all("StoveBurner") if not b.contents)
    kitchen.do("PickupObject", "Pan")
    kitchen.do("PutObject", objectId=burner.id, forceAction=True)
    kitchen.do("PickupObject", "Pot")
    message, code = kitchen.refused("PutObject", objectId=burner.id, forceAction=True)
    assert "is full right now" in message and code == "ReceptacleFull"


def test_things_stand_on_what_they_are_put_on_without_overlap(kitchen: Hand) -> None:
    moved = ["Apple", "Bread", "Tomato", "Mug", "Plate", "Cup", "Bowl", "Pot", "Lettuce", "Book"]
    counter = max(kitchen.all("CounterTop"), key=lambda t: t.box.reach[0] * t.box.reach[2])
    for kind in moved:
        kitchen.do("PickupObject", kind)
        kitchen.do("PutObject", objectId=counter.id, forceAction=True)
    boxes = [kitchen[kind].box for kind in moved]
    for i, box in enumerate(boxes):
        assert box.low[1] == pytest.approx(counter.box.low[1], abs=0.01)
        assert counter.box.low[0] <= box.center[0] <= counter.box.high[0]
        for other in boxes[:i]:
            apart = abs(box.center - other.center) >= box.reach + other.reach - 1e-9
            turned = abs(box.axes).max(axis=0).min() < 0.99 or abs(other.axes).max() < 0.99
            assert apart[[0, 2]].any() or turned


@pytest.mark.parametrize(("near", "aside"), [(False, 0.0), (True, 0.2)])
def test_put_near_the_middle_of_the_view(near: bool, aside: float) -> None:
    simulator = Simulator("FloorPlan21")
    things = {t.kind: t.id for t in simulator.things.values() if t.kind in ("Apple", "Fridge")}
    fridge = simulator.things[things["Fridge"]].box
    front, side = fridge.axes[:, 2], fridge.axes[:, 0]
    x, _, z = fridge.center + front + 0.2 * side
    turn = math.degrees(math.atan2(-front[0], -front[2]))
    steps: list[dict[str, Any]] = [
        {"action": "Teleport", "x": x, "z": z, "rotation": turn},
        {"action": "OpenObject", "objectId": things["Fridge"]},
        {"action": "PickupObject", "objectId": things["Apple"]},
        {"action": "PutObject", "objectId": things["Fridge"], "putNearXY": near},
    ]
    assert all(simulator.act({**step, "forceAction": True}).success for step in steps)
    apple = simulator.things[things["Apple"]].box.center
    assert (apple - fridge.center) @ side == pytest.approx(aside, abs=0.06)
    base = simulator.things[things["Apple"]].box.low[1] - fridge.low[1]
    assert base == pytest.approx(0.88 if near else 0.8, abs=0.01)


@pytest.mark.parametrize(("kind", "rise"), [("SinkBasin", 0.13), ("Microwave", 0.11)])
def test_put_in_view_above_the_bottom_and_beside_the_panel(kind: str, rise: float) -> None:
    simulator = Simulator("FloorPlan1", width=60, height=60)
    things = {t.kind: t for t in simulator.things.values() if t.kind in ("Egg", kind)}
    into, egg = things[kind].box, things["Egg"].id
    x, _, z = into.center + into.axes[:, 2] - 0.3 * into.axes[:, 0]
    turn = math.degrees(math.atan2(-into.axes[0, 2], -into.axes[2, 2]))
    steps: list[dict[str, Any]] = [
        {"action": "Teleport", "x": x, "z": z, "rotation": turn},
        {"action": "PickupObject", "objectId": egg},
        {"action": "PutObject", "objectId": things[kind].id, "putNearXY": True},
    ]
    if kind == "Microwave":
        steps.insert(1, {"action": "OpenObject", "objectId": things[kind].id})
    assert all(simulator.act({**step, "forceAction": True}).success for step in steps)
    box = simulator.things[egg].box
    assert box.low[1] - into.low[1] == pytest.approx(min(rise, into.reach[1]), abs=1e-6)
    right = -float(into.to_own(box.center)[0])
    most = 0.2 if kind == "Microwave" else 0.7
    assert right + box.half[[0, 2]].min() <= most * into.half[0] + 1e-6


def test_a_plate_takes_along_what_lies_on_it(kitchen: Hand) -> None:
    kitchen.put("Apple", "Plate")
    before = kitchen["Apple"].box.center - kitchen["Plate"].box.center
    kitchen.do("PickupObject", "Plate")
    assert kitchen["Apple"].parents == [kitchen["Plate"].id]
    kitchen.do("OpenObject", "Fridge")
    kitchen.do("PutObject", "Fridge")
    after = kitchen["Apple"].box.center - kitchen["Plate"].box.center
    assert after[1] == pytest.approx(before[1], abs=0.002)
    assert (after**2).sum() == pytest.approx((before**2).sum(), abs=0.001)
    kitchen.do("CloseObject", "Fridge")
    assert kitchen["Apple"]["temperature"] == "Cold"


def test_a_thing_cannot_be_put_in_itself(kitchen: Hand) -> None:
    kitchen.put("Cup", "Bowl")
    kitchen.do("PickupObject", "Bowl")
    assert not kitchen.act("PutObject", "Bowl").success
    assert not kitchen.act("PutObject", "Cup").success


def test_drawers_carry_what_is_in_them(kitchen: Hand) -> None:
    drawer = next(d for d in kitchen.all("Drawer") if d.contents)
    inner = drawer.contents[0]
    before = kitchen.simulator.things[inner].box.center
    kitchen.do("OpenObject", objectId=drawer.id, forceAction=True)
    out = kitchen.simulator.things[inner].box.center - before
    assert out @ drawer.box.axes[:, 2] == pytest.approx(0.8 * 2 * drawer.box.half[2])
    kitchen.do("CloseObject", objectId=drawer.id, forceAction=True)
    assert kitchen.simulator.things[inner].box.center == pytest.approx(before)


def test_opening_and_closing(kitchen: Hand) -> None:
    kitchen.do("OpenObject", "Fridge", openness=0.5)
    assert kitchen["Fridge"]["isOpen"] and kitchen["Fridge"]["openness"] == 0.5
    kitchen.do("OpenObject", "Fridge")
    assert "already open" in kitchen.refused("OpenObject", "Fridge")[0]
    kitchen.do("CloseObject", "Fridge")
    assert "already closed" in kitchen.refused("CloseObject", "Fridge")[0]
    assert "is not an Openable object" in kitchen.refused("OpenObject", "CounterTop")[0]


def test_a_microwave_runs_only_closed(kitchen: Hand) -> None:
    kitchen.put("Potato", "Microwave")
    assert (
        kitchen.refused("ToggleObjectOn", "Microwave")[0] == "Target must be closed to Toggle On!"
    )
    kitchen.do("CloseObject", "Microwave")
    kitchen.do("ToggleObjectOn", "Microwave")
    assert kitchen.refused("OpenObject", "Microwave")[0] == "Target must be OFF to open!"
    assert kitchen["Potato"]["temperature"] == "Hot" and kitchen["Potato"]["isCooked"]
    assert "already on" in kitchen.refused("ToggleObjectOn", "Microwave")[0]
    kitchen.do("ToggleObjectOff", "Microwave")
    assert "already off" in kitchen.refused("ToggleObjectOff", "Microwave")[0]
    assert "is not toggleable" in kitchen.refused("ToggleObjectOn", "Fridge")[0]


def test_a_knob_heats_what_is_on_its_burner(kitchen: Hand) -> None:
    knob = kitchen["StoveKnob"]
    kitchen.do("PickupObject", "Pan")
    kitchen.do("PutObject", objectId=knob["controlledObjects"][0], forceAction=True)
    kitchen.do("SliceObject", "Potato")
    kitchen.do("PickupObject", "PotatoSliced")
    kitchen.do("PutObject", "Pan")
    kitchen.do("ToggleObjectOn", objectId=knob.id, forceAction=True)
    assert kitchen["Pan"]["temperature"] == "Hot"
    slices = [s for s in kitchen.all("PotatoSliced") if s.parents == [kitchen["Pan"].id]]
    assert [s["isCooked"] for s in slices] == [True]


def test_the_tap_cleans_and_fills(kitchen: Hand) -> None:
    kitchen.do("DirtyObject", "Mug")
    assert "already dirty" in kitchen.refused("DirtyObject", "Mug")[0]
    kitchen.put("Mug", "SinkBasin")
    assert kitchen["Mug"]["isDirty"]
    kitchen.do("ToggleObjectOn", "Faucet")
    assert not kitchen["Mug"]["isDirty"]
    assert kitchen["Mug"]["fillLiquid"] == "water"
    kitchen.do("ToggleObjectOff", "Faucet")
    kitchen.do("EmptyLiquidFromObject", "Mug")
    assert "already empty" in kitchen.refused("EmptyLiquidFromObject", "Mug")[0]
    kitchen.put("Mug", "CoffeeMachine")
    kitchen.do("ToggleObjectOn", "CoffeeMachine")
    assert kitchen["Mug"]["fillLiquid"] == "coffee" and kitchen["Mug"]["temperature"] == "Hot"


def test_filling(kitchen: Hand) -> None:
    assert "CanBeFilled" in kitchen.refused("FillObjectWithLiquid", "Plate")[0]
    assert kitchen.refused("FillObjectWithLiquid", "Cup", fillLiquid="gold")[1] == ""
    kitchen.do("FillObjectWithLiquid", "Cup", fillLiquid="wine")
    assert "already filled" in kitchen.refused("FillObjectWithLiquid", "Cup")[0]


def test_slices_lie_where_the_whole_lay(kitchen: Hand) -> None:
    apple = kitchen["Apple"]
    kitchen.do("SliceObject", "Apple")
    slices = kitchen.all("AppleSliced")
    assert [s.id for s in slices] == [f"{apple.id}|AppleSliced_{i}" for i in (1, 2)]
    for piece in slices:
        assert piece.parents == apple.parents
        assert apple.box.holds(piece.box.center, 0.001)
        assert piece["pickupable"] and not piece["sliceable"]
    whole = kitchen.simulator.things[apple.id]
    assert whole["isSliced"] and not whole.present
    assert not kitchen.simulator.visibility()[apple.id].visible
    assert not kitchen.act("PickupObject", objectId=apple.id, forceAction=True).success
    assert "CanBeSliced" in kitchen.refused("SliceObject", "Mug")[0]


def test_what_is_held_is_not_sliced(kitchen: Hand) -> None:
    kitchen.do("PickupObject", "Apple")
    assert "agent's hand" in kitchen.refused("SliceObject", "Apple")[0]


def test_toast(kitchen: Hand) -> None:
    kitchen.do("SliceObject", "Bread")
    kitchen.put("BreadSliced", "Toaster")
    kitchen.do("ToggleObjectOn", "Toaster")
    toast = kitchen.simulator.things[kitchen["Toaster"].contents[0]]
    assert toast["isCooked"] and toast["temperature"] == "Hot"


def test_an_egg_spills(kitchen: Hand) -> None:
    egg = kitchen["Egg"].id
    kitchen.do("BreakObject", "Egg")
    assert kitchen["EggCracked"].id == f"{egg}|EggCracked_0"
    kitchen.do("CookObject", "EggCracked")
    assert kitchen["EggCracked"]["isCooked"]


def test_breaking(kitchen: Hand) -> None:
    kitchen.do("BreakObject", "Mug")
    assert kitchen["Mug"]["isBroken"]
    assert "already broken" in kitchen.refused("BreakObject", "Mug")[0]
    assert "is broken" in kitchen.refused("PickupObject", "Mug")[0]
    assert "CanBreak" in kitchen.refused("BreakObject", "Apple")[0]


def test_what_is_broken_is_not_filled(kitchen: Hand) -> None:
    kitchen.put("Mug", "CoffeeMachine")
    kitchen.do("BreakObject", "Mug")
    kitchen.do("ToggleObjectOn", "CoffeeMachine")
    assert not kitchen["Mug"]["isFilledWithLiquid"]
    wanted = {"stateChange": "canFillWithLiquid", "isFilledWithLiquid": True}
    kitchen.do("SetObjectStates", SetObjectStates=wanted)
    assert kitchen["Cup"]["isFilledWithLiquid"] and not kitchen["Mug"]["isFilledWithLiquid"]


def test_throwing_breaks_what_is_fragile(kitchen: Hand) -> None:
    kitchen.do("PickupObject", "Plate")
    kitchen.do("ThrowObject", moveMagnitude=100.0)
    assert kitchen["Plate"]["isBroken"]
    assert kitchen.simulator.agent.held is None


def test_what_is_dropped_lies_on_what_is_below() -> None:
    bedroom = Hand(BEDROOM)
    bedroom.do("PickupObject", "Book")
    bedroom.do("DropHandObject")
    book = bedroom["Book"]
    assert len(book.parents) == 1
    parent = bedroom.simulator.things[book.parents[0]]
    assert book.id in parent.contents
    assert book.box.low[1] == pytest.approx(parent.box.high[1], abs=0.01)


def test_towels_hang() -> None:
    bathroom = Hand(BATHROOM)
    bathroom.do("PickupObject", "Towel")
    assert bathroom.refused("PutObject", "HandTowelHolder")[1] != ""
    bathroom.do("PutObject", "TowelHolder")
    towel, holder = bathroom["Towel"], bathroom["TowelHolder"]
    assert towel.box.high[1] == pytest.approx(holder.box.low[1] + 0.06)


def test_moving_what_is_held(kitchen: Hand) -> None:
    assert kitchen.refused("MoveHeldObject", ahead=0.1)[1] == "ObjectNotInInventory"
    kitchen.do("PickupObject", "Mug")
    before = kitchen["Mug"].box.center
    kitchen.do("MoveHeldObjectUp", moveMagnitude=0.2)
    moved = kitchen["Mug"].box.center - before
    assert moved[1] == pytest.approx(0.2)
    assert not kitchen.act("MoveHeldObject", ahead=2.0).success
    kitchen.do("RotateHeldObject", yaw=90.0)
    assert kitchen["Mug"]["rotation"]["y"] % 360 == pytest.approx(
        (kitchen.simulator.agent.rotation + 90) % 360
    )


@pytest.mark.slow
def test_all_that_can_be_removed_is_removed_and_the_room_is_drawn(kitchen: Hand) -> None:
    for name in [t.id for t in kitchen.simulator.things.values() if t.kind != "Floor"]:
        kitchen.do("RemoveFromScene", objectId=name)
        kitchen.simulator.frame(rgb=False)
    assert {t.kind for t in kitchen.simulator.things.values()} == {"Floor"}
