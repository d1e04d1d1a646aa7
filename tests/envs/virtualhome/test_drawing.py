from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from present import needs_virtualhome
from sampling import every
from waiting import PATIENCE

from inhabit.envs.simulators.render.shapes import shape
from inhabit.envs.simulators.render.shell import shell
from inhabit.envs.virtualhome.drawing.arranging import arrange, homes
from inhabit.envs.virtualhome.drawing.figure import free_cells
from inhabit.envs.virtualhome.drawing.layout import DrawnBox, resting
from inhabit.envs.virtualhome.drawing.looks import forms
from inhabit.envs.virtualhome.drawing.picture import FlatPicture, View
from inhabit.envs.virtualhome.drawing.rooms import pierced
from inhabit.envs.virtualhome.evolution.goals import crossed
from inhabit.envs.virtualhome.flats.boxes import Rest
from inhabit.envs.virtualhome.graph.verbs import ScriptLine, ScriptObject, parse_line
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world

pytestmark = needs_virtualhome

VIEWS: tuple[View, ...] = ("first_person", "over_the_shoulder", "top_down")
FLATS = [pytest.param(n, marks=pytest.mark.slow if n else ()) for n in range(7)]


def world(flat: int = 0, seed: int = 0, **scene: object) -> FlatWorld:
    fields = {"flat": flat, "seed": seed, "goals": (), **scene}
    return build_world(VirtualHomeScene.model_validate(fields))


def first(flat: FlatWorld, class_name: str) -> int:
    return next(n.id for n in flat.nodes() if n.class_name == class_name)


def after(flat: FlatWorld, *steps: str) -> FlatWorld:
    """`open fridge` is about the first fridge, `open fridge 54` about that one."""
    for step in steps:
        verb, *rest = step.split()
        things = []
        for k, word in enumerate(rest):
            if word.isdigit():
                continue
            told = rest[k + 1] if rest[k + 1 :] and rest[k + 1].isdigit() else None
            things.append(ScriptObject(word, int(told) if told else first(flat, word)))
        flat, failure = flat.step(ScriptLine(verb.upper(), tuple(things)))
        assert failure is None, failure
    return flat


def picture(
    flat: FlatWorld, view: View = "first_person", stage: FlatPicture | None = None
) -> np.ndarray:
    rgb = (stage or FlatPicture(flat)).take(flat, 1, view, 64, 48).rgb
    assert rgb is not None
    return rgb


def differs(one: np.ndarray, two: np.ndarray) -> float:
    """Share of pixels that are clearly another colour."""
    return float((np.abs(one.astype(int) - two.astype(int)).max(axis=2) > 12).mean())


def on_a_table(flat: FlatWorld) -> tuple[int, int]:
    """An apple and the table that it is on."""
    for node in flat.nodes():
        if node.class_name == "apple" and flat.targets(node.id, "ON"):
            return node.id, flat.targets(node.id, "ON")[0]
    raise AssertionError("no apple on a table")


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_a_world_has_one_picture_whatever_came_before(view: View):
    start = world(2, 5)
    apple, table = on_a_table(start)
    name = start.node(table).class_name
    steps = [f"walk {name} {table}", f"walk apple {apple}", f"grab apple {apple}", "walk sofa",
             f"putback apple {apple} sofa"]  # fmt: skip
    stage = FlatPicture(start)
    here = start
    for step in steps:
        here = after(here, step)
        through_all = picture(here, view, stage)
        assert (through_all == picture(here, view)).all()
    assert (picture(start, view, stage) == picture(start, view)).all()


@pytest.mark.slow
def test_the_same_bytes_in_another_process():
    script = (
        "import hashlib\n"
        "from inhabit.envs.virtualhome.drawing.picture import FlatPicture\n"
        "from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world\n"
        "world = build_world(VirtualHomeScene(flat=3, seed=9, goals=(), room='bedroom'))\n"
        "rgb = FlatPicture(world).take(world, 1, 'first_person', 64, 48).rgb\n"
        "print(hashlib.sha256(rgb.tobytes()).hexdigest())\n"
    )
    there = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    here = picture(world(3, 9, room="bedroom"))
    assert there.stdout.strip() == hashlib.sha256(here.tobytes()).hexdigest()


@pytest.mark.parametrize(
    ("kind", "room", "verb"),
    every(
        2,
        [
            ("closet", "bedroom", "open"),
            ("dresser", "bedroom", "open"),
            ("kitchencabinet", "kitchen", "open"),
            ("tv", "livingroom", "switchon"),
            ("stove", "kitchen", "switchon"),
            ("washingmachine", "bathroom", "open"),
            ("door", "livingroom", "close"),
        ],
    ),
)
def test_a_change_of_state_shows(kind: str, room: str, verb: str):
    near = after(world(1, 2, room=room), f"walk {kind}")
    stage = FlatPicture(near)
    before = picture(near, stage=stage)
    assert differs(before, picture(after(near, f"{verb} {kind}"), stage=stage)) > 0.01


def test_what_is_in_a_closed_cupboard_is_not_drawn_and_in_an_open_one_it_is():
    start = world(0, 0)
    closet = first(start, "closet")
    inside = [n.id for n in start.nodes() if closet in start.targets(n.id, "INSIDE")]
    assert inside
    assert not set(inside) & arrange(start, homes(start)).places.keys()
    opened = after(start, "walk closet", "open closet")
    places = arrange(opened, homes(opened)).places
    assert set(inside) <= places.keys()
    for id_ in inside:
        assert places[closet].box.overlaps(places[id_].box)


def test_what_is_in_an_open_dresser_lies_in_the_drawers_before_it():
    near = after(world(0, 0), "walk dresser")
    dresser = first(near, "dresser")
    inside = [n.id for n in near.nodes() if dresser in near.targets(n.id, "INSIDE")]
    assert inside
    assert not set(inside) & arrange(near, homes(near)).places.keys()
    opened = after(near, "open dresser")
    places = arrange(opened, homes(opened)).places
    for id_ in inside:
        assert not places[dresser].box.overlaps(places[id_].box)
        assert places[dresser].box.overlaps(places[id_].box, gap=0.4)
        assert places[dresser].bottom < places[id_].bottom < places[dresser].top


def test_what_stood_on_the_stove_is_drawn_in_it_once_it_was_put_there():
    start = world(1, 0)
    stove, pot = first(start, "stove"), first(start, "cookingpot")
    assert start.targets(pot, "ON") == [stove]
    inside = after(
        start,
        "walk cookingpot", "grab cookingpot", "walk stove", "open stove", "putin cookingpot stove",
    )  # fmt: skip
    places = arrange(inside, homes(inside)).places
    assert places[pot].top < places[stove].top


@pytest.mark.parametrize("flat", [0, 4])
def test_what_goals_want_together_in_a_container_is_drawn_inside_it(flat: int):
    start = world(flat)
    names = {node.id: f"{node.class_name} {node.id}" for node in start.nodes()}

    def opened(now: FlatWorld, *ids: int) -> FlatWorld:
        for id_ in ids:
            now = after(now, f"walk {names[id_]}")
            if any(node.id == id_ and "CLOSED" in node.states for node in now.nodes()):
                now = after(now, f"open {names[id_]}")
        return now

    for goals, _ in crossed(start, random.Random(1)):
        for place in {goal.to_id for goal in goals}:
            now = start
            for thing in (goal.from_id for goal in goals):
                rooms = [now.room(thing)]
                now = opened(now, *(n for n in now.targets(thing, "INSIDE") if n not in rooms))
                now = after(now, f"walk {names[thing]}", f"grab {names[thing]}")
                now = after(opened(now, place), f"putin {names[thing]} {names[place]}")
            places = arrange(now, homes(now)).places
            for goal in goals:
                assert places[goal.from_id].top < places[place].top, names[goal.from_id]


def test_the_hand_shows_what_it_holds_and_the_table_no_longer():
    start = world(0, 0)
    apple, table = on_a_table(start)
    near = after(start, f"walk kitchentable {table}", f"walk apple {apple}")
    taken = after(near, f"grab apple {apple}")
    stage = FlatPicture(start)
    for flat, where in ((near, "on the table"), (taken, "in the hand")):
        frame = stage.take(flat, 1, "first_person", 320, 240)
        rows = np.nonzero(frame.ids == frame.names.index(str(apple)))[0]
        assert len(rows) > 10, where
        if where == "in the hand":
            assert rows.mean() > 160


def test_nothing_moves_that_nobody_moved():
    start = world(4, 1)
    home = homes(start)
    places = arrange(start, home).places
    for id_, place in places.items():
        assert place == home[id_]


@settings(max_examples=6)
@given(st.integers(0, 6), st.integers(0, 50), st.data())
def test_things_that_are_put_down_get_into_nothing(flat: int, seed: int, data: st.DataObject):
    graph = world(flat, seed)
    nodes = [*graph.nodes()]
    tables = [n for n in nodes if n.class_name in ("kitchentable", "desk", "sofa", "coffeetable")]
    small = [
        n for n in nodes
        if "GRABBABLE" in n.properties and forms()[n.class_name].place == "small"
        and max(forms()[n.class_name].size) < 0.3
    ]  # fmt: skip
    moved = data.draw(st.lists(st.sampled_from(small), min_size=1, max_size=4, unique=True))
    target = data.draw(st.sampled_from(tables))
    for node in moved:
        graph = put(graph, node.id, target.id)
    places = arrange(graph, homes(graph)).places
    assert {n.id for n in moved} <= places.keys()
    here = places[target.id].box
    for node in moved:
        box = places[node.id].box
        assert abs(box.x - here.x) < here.hx
        assert abs(box.z - here.z) < here.hz
        others = [
            places[i].box for i in places
            if i not in (node.id, target.id) and target.id in graph.targets(i, "ON")
        ]  # fmt: skip
        assert not any(box.overlaps(other) for other in others)


def put(flat: FlatWorld, thing: int, target: int) -> FlatWorld:
    """As if it had been carried there."""
    graph = flat.graph()
    kept = [
        e for e in graph["edges"]
        if not (e["from_id"] == thing and e["relation_type"] in ("ON", "INSIDE"))
    ]  # fmt: skip
    there = [(thing, "ON", target), (thing, "INSIDE", flat.room(target))]
    new = [{"from_id": a, "relation_type": r, "to_id": b} for a, r, b in there]
    return FlatWorld.of({"nodes": graph["nodes"], "edges": kept + new})


def test_what_was_dropped_lies_on_the_floor_of_the_room_where_it_was():
    start = world(0, 0)
    apple, _ = on_a_table(start)
    flat = after(start, f"walk apple {apple}", f"grab apple {apple}", "walk bedroom",
                 f"drop apple {apple}")  # fmt: skip
    home = homes(flat)
    place = arrange(flat, home).places[apple]
    assert place.bottom == pytest.approx(0.0, abs=1e-6)
    bedroom = home[first(flat, "bedroom")].box
    assert abs(place.x - bedroom.x) < bedroom.hx
    assert abs(place.z - bedroom.z) < bedroom.hz


@pytest.mark.parametrize("flat", FLATS)
def test_the_character_stands_free_in_its_room_and_looks_at_what_it_walked_to(flat: int):
    start = world(flat, 3, room="kitchen")
    stage = FlatPicture(start)
    kinds = ("fridge", "kitchentable", "sofa", "tv", "bookshelf", "bed", "closet", "toilet")
    for kind in kinds:
        here = after(start, f"walk {kind}")
        shot = stage.shot(here)
        body = shot.figures[1].place
        room = stage.home[here.room(1)].box
        assert abs(body.x - room.x) < room.hx
        assert abs(body.z - room.z) < room.hz
        frame = stage.take(here, 1, "first_person", 80, 60)
        seen = (frame.ids == frame.names.index(str(first(here, kind)))).mean()
        assert seen > 0.03, kind


def test_sitting_and_lying():
    start = world(0, 0)
    sofa = first(start, "sofa")
    near = after(start, "walk sofa")
    stage = FlatPicture(start)
    seated = after(near, "sit sofa")
    figure = stage.shot(seated).figures[1]
    assert figure.shape == "PersonSitting"
    assert stage.home[sofa].box.overlaps(figure.place.box)
    assert stage.shot(after(seated, "standup")).figures[1].shape == "Person"


def test_who_sits_down_is_still_the_same_person():
    for seed in range(8):
        clothes = {shape(k, (0.5, 1.5, 0.5), seed=seed).palette
                   for k in ("Person", "PersonSitting", "PersonLying")}  # fmt: skip
        assert len(clothes) == 1


@pytest.mark.slow
def test_evening_lamps_and_switches():
    noon = world(0, 0)
    stage = FlatPicture(noon)
    by_day = picture(noon, stage=stage).mean()
    switch = next(
        n.id for n in noon.nodes()
        if n.class_name == "lightswitch" and noon.room(n.id) == noon.room(1)
    )  # fmt: skip
    for hour, brighter in ((12.0, 0.0), (23.0, 1.8)):
        lit = world(0, 0, time=hour)
        dark = after(lit, f"walk lightswitch {switch}", f"switchoff lightswitch {switch}")
        lit = after(lit, f"walk lightswitch {switch}")
        own = FlatPicture(lit)
        assert picture(lit, stage=own).mean() > brighter * picture(dark, stage=own).mean()
    assert picture(world(0, 0, time=23.0)).mean() < by_day


@pytest.mark.parametrize("flat", FLATS)
def test_flats_have_at_least_150_things_apart_from_each_other(flat: int):
    for seed in range(4):
        graph = world(flat, seed)
        solid = [
            n for n in graph.nodes()
            if n.category not in ("Rooms", "Characters", "Doors") and n.class_name != "rug"
        ]  # fmt: skip
        assert len(solid) >= 150
        home = homes(graph)
        related = {
            (a, b) for n in solid for r in ("ON", "INSIDE") for a in [n.id]
            for b in graph.targets(n.id, r)
        }  # fmt: skip
        let_in = {"sink", "faucet"}
        for one, two in combinations(solid, 2):
            if {one.class_name, two.class_name} & let_in:
                continue
            if (one.id, two.id) in related or (two.id, one.id) in related:
                continue
            drawn_up = {one.class_name, two.class_name}
            if "chair" in drawn_up and drawn_up & {"kitchentable", "desk"}:
                continue
            assert not home[one.id].box.overlaps(home[two.id].box), (one, two)


def test_a_hole_is_cut_where_the_door_is_and_nowhere_else():
    wall = dict(shell((0, 0, 0), (4, 2.6, 3), "kitchen", 1))["wall_north"]
    low, high = (1.0, -0.1, 2.9), (1.9, 2.0, 3.1)
    cut = pierced(wall, low, high)
    middles = cut.vertices[cut.faces].mean(axis=1)
    inside = ((middles > np.array(low)) & (middles < np.array(high))).all(axis=1)
    assert not inside.any()
    assert area(cut) == pytest.approx(area(wall) - 0.9 * 2.0, abs=0.2)
    assert pierced(wall, (0, 5, 0), (1, 6, 1)) is wall


def area(mesh: object) -> float:
    corners = mesh.vertices[mesh.faces]  # type: ignore[attr-defined]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(np.linalg.norm(across, axis=1).sum() / 2)


def test_a_crammed_room_still_has_a_place_to_stand():
    room = DrawnBox(0.0, 1.3, 0.0, (3.0, 2.6, 3.0))
    assert free_cells(room, [DrawnBox(0.0, 1.0, 0.0, (3.0, 2.0, 3.0))]).tolist() == [[0.0, 0.0]]
    assert len(free_cells(room, [])) > 100


def test_rooms_and_furniture_of_kilometres_take_no_kilometres_of_memory():
    vast = DrawnBox(0.0, 1.3, 0.0, (9000.0, 2.6, 9000.0))
    assert 0 < len(free_cells(vast, [])) <= 1001**2
    size, top = (0.1, 0.1, 0.1), [Rest(1.0, 9.0)]
    assert resting(size, vast, top, [vast.floor.box]).bottom == pytest.approx(vast.top)


@given(
    st.floats(-5, 5), st.floats(-5, 5), st.sampled_from([0.0, 90.0, 180.0, 270.0]),
    st.floats(-5, 5), st.floats(-5, 5), st.sampled_from([0.0, 90.0, 180.0, 270.0]),
)  # fmt: skip
def test_what_is_carried_along_keeps_its_place_on_what_carries_it(
    x: float, z: float, yaw: float, u: float, v: float, turn: float
):
    before = DrawnBox(x, 0.4, z, (1.0, 0.8, 0.6), yaw)
    moved = DrawnBox(u, 1.4, v, (1.0, 0.8, 0.6), turn)
    cup = DrawnBox(*before.out(0.3, 0.45, 0.1), (0.1, 0.1, 0.1), yaw)
    carried = cup.carried(before, moved)
    assert np.allclose((carried.x, carried.y, carried.z), moved.out(0.3, 0.45, 0.1))
    assert (carried.yaw - turn) % 360 == pytest.approx(0.0)


def test_unknown_classes_are_boxes_and_lines_still_read():
    start = world(0, 0)
    graph = json.loads(json.dumps(start.graph()))
    table = first(start, "kitchentable")
    graph["nodes"].append(
        {**graph["nodes"][-1], "id": 9000, "class_name": "sonic {screwdriver}",
         "prefab_name": None, "bounding_box": {"center": [2, 1, 2], "size": [0.1, 0.1, 0.1]}}
    )  # fmt: skip
    graph["edges"].append({"from_id": 9000, "relation_type": "ON", "to_id": table})
    flat = FlatWorld.of(graph)
    assert picture(flat).shape == (48, 64, 3)
    assert parse_line("[walk] <sonic {screwdriver}> (9000)").things[0].id == 9000


def test_without_boxes_things_are_in_cupboards_and_curtains_below_the_ceiling():
    kinds = ("kitchencabinet", "bathroomcabinet", "washingmachine", "basketforclothes")
    nodes = [{"id": 1, "class_name": "kitchen", "category": "Rooms"}]
    nodes += [{"id": 10 + i, "class_name": kind} for i, kind in enumerate((*kinds, "curtains"))]
    nodes += [{"id": 20 + i, "class_name": "plate"} for i in range(len(kinds))]
    pairs = [(node["id"], 1) for node in nodes[1:]] + [(20 + i, 10 + i) for i in range(len(kinds))]
    edges = [{"from_id": a, "relation_type": "INSIDE", "to_id": b} for a, b in pairs]
    places = homes(FlatWorld.of({"nodes": nodes, "edges": edges}))
    for i in range(len(kinds)):
        assert places[20 + i].top < places[10 + i].top
    assert places[10 + len(kinds)].top < places[1].top
