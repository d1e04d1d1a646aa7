"""Graphs, goals and script lines that are wrong: refused in a sentence that names the fault."""

from __future__ import annotations

import json
import re
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from present import needs_virtualhome
from sampling import every
from served import served
from waiting import PATIENCE

from inhabit.envs.core import Reason, SceneError, SimulatorError, Task
from inhabit.envs.virtualhome.env import make
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.graph.verbs import VERBS, LineError, ScriptLine, parse_line
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

pytestmark = needs_virtualhome
KITCHEN: dict[str, Any] = {"id": 1, "class_name": "kitchen", "category": "Rooms"}
YETI: dict[str, Any] = {"id": 2, "class_name": "yeti {0}", "category": "Props"}
MUG: dict[str, Any] = {"id": 3, "class_name": "mug", "category": "Props"}


def edge(a: Any, relation: Any, b: Any) -> dict[str, Any]:
    return {"from_id": a, "relation_type": relation, "to_id": b}


def boxed(box: Any) -> dict[str, Any]:
    return {"nodes": [{**KITCHEN, "bounding_box": box}], "edges": []}


def test_an_unknown_class_is_a_thing_like_others() -> None:
    world = FlatWorld.of({"nodes": [KITCHEN, YETI], "edges": [edge(2, "INSIDE", 1)]})
    assert [n.class_name for n in world.nodes()] == ["kitchen", "yeti {0}"]
    assert world.room(2) == 1


def test_a_name_may_have_braces() -> None:
    someone = {"id": 5, "class_name": "character", "category": "Characters"}
    running = {**YETI, "properties": ["CAN_OPEN"], "states": ["CLOSED", "ON"]}
    edges = [edge(2, "INSIDE", 1), edge(5, "INSIDE", 1), edge(5, "CLOSE", 2)]
    world = FlatWorld.of({"nodes": [KITCHEN, running, someone], "edges": edges})
    _, failure = world.step(parse_line("[open] <yeti> (2)"))
    assert failure is not None and "<yeti {0}> (2) is still on" in failure.message


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ({"nodes": [YETI], "edges": []}, "no room"),
        ({"nodes": [KITCHEN, YETI, MUG], "edges": [edge(2, "INSIDE", 3), edge(3, "INSIDE", 2)]},
         "Node 2 is INSIDE itself"),
        ({"nodes": [KITCHEN], "edges": [edge(1, "INSIDE", 9)]}, "node 9, which is not there"),
        ({"nodes": [KITCHEN], "edges": [edge(1, "BENEATH", 1)]}, "no relation 'BENEATH'"),
        ({"nodes": [{**MUG, "states": ["MOLTEN"]}], "edges": []}, "there is no 'MOLTEN'"),
        ({"nodes": [KITCHEN]}, "edges: Field required"),
        ({"nodes": [KITCHEN], "edges": [edge([1], "INSIDE", 1)]}, "edges.0.from_id"),
        ({"nodes": [KITCHEN], "edges": [edge(1, None, 1)]}, "edges.0.relation_type"),
        ({"nodes": [{**KITCHEN, "states": None}], "edges": []}, "nodes.0.states"),
        ({"nodes": [{**KITCHEN, "id": True}], "edges": []}, "nodes.0.id"),
        ({"nodes": ["kitchen"], "edges": []}, "nodes.0"),
        ({"nodes": [KITCHEN, KITCHEN], "edges": []}, "Two nodes of the graph have the id 1"),
        (boxed("x"), "bounding_box"),
        (boxed({"center": [0, 1]}), "bounding_box.center"),
        (boxed({"center": [0, 1, float("nan")], "size": [1, 1, 1]}), "bounding_box.center.2"),
        (boxed({"center": [0, 1, 0], "size": [1e30, 1, 1]}), "bounding_box.size.0"),
        (boxed({"center": [0, 1, 0], "size": [-1, 1, 1]}), "bounding_box.size.0"),
        (boxed({"center": [0, 1, 0], "size": [0, 1, 1]}), "without any extent"),
    ],
    ids=["no room", "ring", "missing node", "relation", "state", "no edges", "listed end",
         "no relation", "null states", "bool id", "node is a word", "id twice", "worded box",
         "half a box", "not a number", "too large", "negative", "flat room"],
)  # fmt: skip
def test_a_graph_that_can_not_be_lived_in(graph: dict[str, Any], words: str) -> None:
    with pytest.raises(SceneError) as told:
        FlatWorld.of(graph)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"states": {"fridge_1": ["OPEN", "CLOSED"]}}, "can't be both OPEN and CLOSED"),
        ({"states": {"fridge_1": ["AJAR"]}}, "no state 'AJAR'"),
        ({"states": {"fridge_9": ["OPEN"]}}, "no 'fridge_9'"),
        ({"moves": [{"thing": "mug_1", "relation": "ON", "target": "mug_1"}]}, "itself"),
        ({"moves": [{"thing": "mug_1", "relation": "INSIDE", "target": "fridge_1"},
                    {"thing": "fridge_1", "relation": "ON", "target": "mug_1"}]}, "on or in it"),
        ({"moves": [{"thing": "kitchen", "relation": "ON", "target": "bed_1"}]}, "a room"),
        ({"program": ["[open] <fridge>"]}, "program"),
    ],
)  # fmt: skip
def test_a_scene_that_can_not_be(change: dict[str, Any], words: str) -> None:
    goals = [{"kind": "action", "any_of": ["OPEN"]}]
    bad = Task(id="bad", env="virtualhome", kind="k", goal="g",
               scene={"flat": 0, "goals": goals, **change})  # fmt: skip
    env = make("embedded", VirtualHomeSettings(view="none"))
    with env, pytest.raises(SceneError) as told:
        env.reset(bad, seed=0)
    assert words in str(told.value)


def test_what_stands_on_a_moved_thing_comes_along() -> None:
    goals = [{"kind": "action", "any_of": ["OPEN"]}]
    moves = [{"thing": "mug_1", "relation": "ON", "target": "plate_1"},
             {"thing": "plate_1", "relation": "ON", "target": "bed_1"}]  # fmt: skip
    scene = VirtualHomeScene.model_validate({"flat": 0, "goals": goals, "moves": moves})
    world = build_world(scene)
    find = NodeNames(world).find
    (mug,), (plate,), (bed,) = find("mug_1"), find("plate_1"), find("bed_1")
    assert world.room(mug) == world.room(plate) == world.room(bed)
    assert (world.targets(mug, "ON"), world.targets(plate, "ON")) == ([plate], [bed])
    assert world.targets(mug, "INSIDE") == world.targets(plate, "INSIDE") == [world.room(bed)]


@pytest.mark.parametrize("box", every(2, [{"center": [0, 1, 0], "size": [-3, 3, 3]}, "x"]))
def test_a_graph_that_the_server_refuses_changes_nothing_there(box: Any) -> None:
    with served() as server:
        client = VirtualHomeClient(port=server.server_port, timeout=PATIENCE)
        before = client.graph()
        reply = client.ask("expand_scene", strings=("{}", json.dumps(boxed(box))))
        assert not reply.success and re.match("The graph, .*box", reply.message)
        assert client.graph() == before
        assert len(client.camera_images([0], width=32, height=24)) == 1


@pytest.mark.parametrize("action", sorted(name for name, verb in VERBS.items() if verb.arity == 1))
def test_in_no_room_nothing_is_done_and_nothing_trips(action: str) -> None:
    someone = {"id": 5, "class_name": "character", "category": "Characters"}
    line = parse_line(f"[{action}] <mug> (3)")
    held = edge(5, "HOLDS_RH", 3)
    for inside in ([edge(3, "INSIDE", 1)], [edge(5, "INSIDE", 1)], []):
        for edges in (inside, [*inside, held]):
            world = FlatWorld.of({"nodes": [KITCHEN, MUG, someone], "edges": edges})
            _, failure = world.step(line)
            assert failure == world.check(line)
            if action in ("WALK", "RUN", "WATCH"):
                assert failure is not None
            if failure is not None:
                assert failure.message
                assert failure.reason is not Reason.UNKNOWN_ACTION


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ({"kind": "state", "id": 99999, "state": "ON"}, "goals.0: there is no node 99999."),
        ({"kind": "state", "id": 1, "state": "OPNE"}, "no state 'OPNE'; nearest: OPEN"),
        ({"kind": "relation", "from_id": 1, "relation": "INSIDES", "to_id": 1}, "INSIDE"),
        ({"kind": "action", "any_of": ["FLY"]}, "no action 'FLY'"),
        ({"kind": "wish"}, "goals"),
    ],
)
def test_a_goal_over_what_does_not_exist(goal: dict[str, Any], words: str) -> None:
    good = next(iter(sample(1, seed=0)))
    scene = {"flat": 0, "goals": [goal]}
    bad = Task(id="bad", env="virtualhome", kind="k", goal="g", scene=scene)
    with make("embedded", VirtualHomeSettings(view="none")) as env:
        with pytest.raises(SceneError) as told:
            env.reset(bad, seed=0)
        assert words in str(told.value)
        env.reset(good, seed=0)
        assert env.actions()


@pytest.mark.parametrize(
    "line",
    ["", "open the fridge", "[open]", "[open] <fridge>", "[open] <fridge> (x)",
     "[fly] <fridge> (1)", "[putin] <mug> (1)", "<char0> [open] <fridge> (1) <mug> (2)",
     "[open] <fridge> (1)\n[x]", f"[open] <fridge> ({'9' * 5000})",
     f"<char{'9' * 5000}> [open] <fridge> (1)"],
)  # fmt: skip
def test_a_malformed_line_is_quoted(line: str) -> None:
    with pytest.raises(LineError) as told:
        parse_line(line)
    assert repr(line) in str(told.value)


@given(st.text(max_size=60))
def test_any_text_is_a_line_or_an_error(text: str) -> None:
    try:
        assert isinstance(parse_line(text), ScriptLine)
    except LineError as error:
        assert repr(text) in str(error)


def test_a_program_with_a_malformed_line_is_refused_with_its_task() -> None:
    goals = [{"kind": "action", "any_of": ["OPEN"]}]
    scene: dict[str, Any] = {"flat": 0, "goals": goals, "program": ["[open] the {fridge}"]}
    bad = Task(id="bad", env="virtualhome", kind="k", goal="g", scene=scene)
    env = make("embedded", VirtualHomeSettings(view="none"))
    with env, pytest.raises(SceneError, match=r"'bad', scene, program: .*the \{fridge\}"):
        env.reset(bad, seed=0)


def test_a_server_that_hangs_in_the_middle_of_a_script() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = VirtualHomeClient(port=silent.getsockname()[1], timeout=0.3)
        with pytest.raises(SimulatorError, match=r"did not answer 'render_script' within 0\.3 s"):
            client.run([parse_line("[standup]")])
