from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from present import needs_virtualhome
from served import served
from waiting import PATIENCE

from inhabit.envs.core import SimulatorError
from inhabit.envs.virtualhome.drawing.picture import node_of
from inhabit.envs.virtualhome.flats.build import build
from inhabit.envs.virtualhome.server import __main__ as starting
from inhabit.envs.virtualhome.server.actions import answer
from inhabit.envs.virtualhome.server.cameras import CHARACTER_CAMERAS
from inhabit.envs.virtualhome.server.flat import Flat
from inhabit.envs.virtualhome.server.listen import Server
from inhabit.envs.virtualhome.tasks.scene import folder, initial_graph, programs
from inhabit.envs.virtualhome.unity.client import VirtualHomeClient
from inhabit.envs.virtualhome.unity.protocol import ProtocolReply, ProtocolRequest

pytestmark = needs_virtualhome


@pytest.fixture(scope="module")
def flat() -> Flat:
    return Flat(5, 1)


@pytest.fixture(scope="module")
def serving() -> Iterator[Server]:
    """One for all who only ask."""
    with served() as server:
        yield server


def ask(flat: Flat, action: str, *strings: str, ints: tuple[int, ...] = ()) -> ProtocolReply:
    return answer(flat, ProtocolRequest(action=action, stringParams=strings, intParams=ints))


def node(flat: Flat, class_name: str) -> int:
    return next(n.id for n in flat.world.nodes() if n.class_name == class_name)


def character(mode: str = "fix_room", room: str = "kitchen", **more: Any) -> str:
    return json.dumps({"mode": mode, "initial_room": room, **more})


def test_it_listens_to_this_machine_alone(serving):
    assert serving.server_address[0] == "127.0.0.1"


def test_a_taken_port_is_one_sentence_and_code_3():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "inhabit.envs.virtualhome.server", "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == 3
    assert done.stderr.startswith(f"Can't listen on port {port}")
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_interrupt_while_it_starts_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: int) -> Flat:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["server"])
    monkeypatch.setattr(starting, "Flat", interrupted)
    assert starting.main() == 0


@pytest.mark.slow
def test_the_first_image_waits_for_no_compiler(tmp_path) -> None:
    """VirtualHome's client waits 30 seconds for an image, and compiling takes longer."""
    command = [sys.executable, "-m", "inhabit.envs.virtualhome.server", "--port", "0"]
    kernels = tmp_path / "numba"
    env = os.environ | {"NUMBA_CACHE_DIR": str(kernels)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env) as server:
        try:
            assert server.stderr is not None
            said = server.stderr.readline()
            client = VirtualHomeClient(port=int(said.split(":")[1].split(",")[0]))
            before = len([*kernels.rglob("*.nbi")])
            for mode in ("normal", "seg_inst", "seg_class", "depth"):
                client.camera_images([0], width=300, height=300, mode=mode)
            # Two small ones are of images in which the sky is seen, two of all others.
            assert before <= len([*kernels.rglob("*.nbi")]) <= before + 2
            assert before >= 10
        finally:
            server.terminate()


def test_two_servers_do_not_share_a_port(flat, serving):
    with pytest.raises(SimulatorError, match="something else listens"):
        Server(flat, serving.server_port)


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b'{"id": "1"}', 400), (b'{"action": 5}', 400), (b"\xff", 400), (b"", 400)],
)
def test_what_is_no_request_is_refused_and_the_next_is_answered(serving, body, status):
    line = http.client.HTTPConnection("127.0.0.1", serving.server_port, timeout=10)
    line.request("POST", "/", body=body)
    reply = line.getresponse()
    assert reply.status == status
    assert json.loads(reply.read())["message"]
    assert VirtualHomeClient(port=serving.server_port).alive()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example:8080"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null", "Content-Type": "text/plain"}, 403),
        ({"Host": "localhost:8080"}, 200),
        ({"Host": "127.0.0.1"}, 200),
        ({}, 200),
    ],
)
def test_pages_of_a_browser_are_refused(
    serving: Server, headers: dict[str, str], status: int
) -> None:
    line = http.client.HTTPConnection("127.0.0.1", serving.server_port, timeout=10)
    line.request("POST", "/", body=b'{"action": "camera_count"}', headers=headers)
    reply = line.getresponse()
    assert reply.status == status
    assert ("alone" in reply.read().decode()) == (status == 403)


@pytest.mark.slow
@pytest.mark.parametrize("port", ["99999", "-1", "x", "²"])
def test_what_is_no_port_is_one_sentence(port: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inhabit.envs.virtualhome.server", f"--port={port}"],
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 2
    assert "is not a port (0 to 65535)" in done.stderr


@pytest.mark.parametrize("length", [b"999999999", b"\xb2", b"9" * 5000])
def test_a_request_that_is_too_long_is_not_read(serving, length):
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length
    with socket.create_connection(("127.0.0.1", serving.server_port), timeout=10) as line:
        line.sendall(head + b"\r\n\r\n")
        assert b" 413 " in line.recv(200)
    assert VirtualHomeClient(port=serving.server_port).alive()


words = st.text(max_size=20)
requests = st.builds(
    ProtocolRequest,
    action=st.sampled_from(
        [*("version", "idle", "clear", "environment", "fast_reset", "environment_graph"),
         *("expand_scene", "add_character", "move_character", "render_script", "check_script"),
         *("camera_count", "character_cameras", "camera_data", "camera_image"),
         *("instance_colors", "observation", "add_camera", "update_camera", "set_time"),
         *("add_character_camera", "update_character_camera", "procedural_generation", "{}")]
    ),
    intParams=st.lists(st.integers(-3, 40), max_size=2).map(tuple),
    stringParams=st.lists(
        words
        | st.dictionaries(
            st.sampled_from(
                ["mode", "initial_room", "char_index", "image_width", "hours", "nodes", "edges",
                 "rotation", "recording"]
            ),
            st.none() | words | st.integers(-5, 30) | st.lists(st.dictionaries(words, words)),
        ).map(json.dumps),
        max_size=3,
    ).map(tuple),
)  # fmt: skip


@settings(max_examples=settings.default.max_examples // 5)
@given(st.lists(requests, max_size=6))
def test_whatever_is_asked_is_answered(asked):
    flat = Flat(0, 0)
    for request in asked:
        reply = answer(flat, request)
        assert reply.success or reply.message


def test_every_scene_has_its_rooms_and_the_seeds_differ():
    graphs = set()
    for scene in range(7):
        flat = Flat(scene, 0)
        rooms = [n for n in flat.world.nodes() if n.category == "Rooms"]
        assert len(flat.cameras) == 5 * len(rooms)
        graphs.add(json.dumps(flat.graph()))
    graphs.add(json.dumps(Flat(0, 1).graph()))
    assert len(graphs) == 8


def test_a_scene_is_the_same_after_a_generated_one():
    flat = Flat(1, 2)
    before = flat.graph()
    assert ask(flat, "procedural_generation", ints=(5,)).success
    generated = flat.graph()
    assert ask(flat, "fast_reset").success
    assert flat.graph() == generated
    assert ask(flat, "environment", ints=(1,)).success
    assert flat.graph() == before


def test_a_script_is_carried_out_whole_or_not_at_all():
    flat = Flat(0, 0)
    ask(flat, "add_character", character())
    before = flat.graph()
    table = f"<kitchentable> ({node(flat, 'kitchentable')})"
    lines = f"<char0> [walk] {table}", f"<char0> [open] {table}"
    reply = ask(flat, "render_script", "{}", *lines)
    assert not reply.success
    assert "line 2 of 2" in reply.message
    assert flat.graph() == before
    assert ask(flat, "render_script", "{}", lines[0]).success
    assert flat.graph() != before


def test_what_is_put_somewhere_has_its_box_there():
    flat = Flat(0, 0)
    ask(flat, "add_character", character())
    plate = next(
        n.id for n in flat.world.nodes()
        if n.class_name == "plate" and flat.world.targets(n.id, "ON")
    )  # fmt: skip
    table, sofa = flat.world.targets(plate, "ON")[0], node(flat, "sofa")
    name = flat.world.node(table).class_name
    script = (
        f"[walk] <{name}> ({table})", f"[walk] <plate> ({plate})", f"[grab] <plate> ({plate})",
        f"[walk] <sofa> ({sofa})", f"[putback] <plate> ({plate}) <sofa> ({sofa})",
    )  # fmt: skip
    reply = ask(flat, "render_script", "{}", *script)
    assert reply.success, reply.message
    boxes = {n["id"]: n["bounding_box"] for n in flat.graph()["nodes"]}
    for axis in (0, 2):
        apart = abs(boxes[plate]["center"][axis] - boxes[sofa]["center"][axis])
        assert apart < boxes[sofa]["size"][axis] / 2


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ([], [], "no room"),
        ([{"id": 1}], [], "nodes.0.class_name: Field required"),
        ([{"id": 1, "class_name": []}], [], "nodes.0.class_name: Input should be a valid string"),
        ([{"id": 1, "class_name": "kitchen", "category": "Rooms"}] * 2, [], "Two nodes"),
        ([{"id": 1, "class_name": "kitchen", "category": "Rooms", "states": ["MELTED"]}], [],
         "no 'MELTED'"),
        ([{"id": 1, "class_name": "kitchen", "category": "Rooms"}],
         [{"from_id": 1, "relation_type": "ON", "to_id": 7}], "which is not there"),
        ([{"id": 1, "class_name": "kitchen", "category": "Rooms"}],
         [{"from_id": 1, "relation_type": "BENEATH", "to_id": 1}], "no relation 'BENEATH'"),
        ([{"id": 1, "class_name": "kitchen", "category": "Rooms"},
          {"id": 2, "class_name": "mug", "prefab_name": "inhabit_\ud800"}], [], "hex escape"),
        ([{"id": 1, "class_name": "kitchen", "category": "Rooms"},
          {"id": 2, "class_name": "character", "stands_at": "ab"}], [], "nodes.1.stands_at"),
    ],
)  # fmt: skip
def test_a_bad_graph_is_refused_and_the_scene_stays(flat, nodes, edges, words):
    before = flat.world
    reply = ask(flat, "expand_scene", "{}", json.dumps({"nodes": nodes, "edges": edges}))
    assert not reply.success
    assert words in reply.message
    assert flat.world is before


@pytest.mark.parametrize(("relation", "class_name"), [("ON", "kitchentable"), ("INSIDE", "fridge")])
def test_an_object_that_a_program_adds_can_be_carried(relation, class_name):
    flat = Flat(5, 1)
    place = node(flat, class_name)
    graph = flat.graph()
    graph["nodes"] += [{"id": 9000, "class_name": "plate"}, {"id": 9001, "class_name": "apple"}]
    graph["edges"] += [
        {"from_id": 9001, "relation_type": "ON", "to_id": 9000},
        {"from_id": 9000, "relation_type": relation, "to_id": place},
    ]
    assert ask(flat, "expand_scene", "{}", json.dumps(graph)).success
    assert ask(flat, "add_character", character()).success
    opened = [f"<char0> [Open] <fridge> ({place})"] * (class_name == "fridge")
    taken = ["<char0> [Walk] <apple> (9001)", "<char0> [Grab] <apple> (9001)"]
    reply = ask(
        flat, "render_script", "{}", f"<char0> [Walk] <{class_name}> ({place})", *opened, *taken
    )
    assert reply.success, reply.message
    held = [e for e in flat.graph()["edges"] if e["to_id"] == 9001]
    assert [e["relation_type"] for e in held if e["relation_type"].startswith("HOLDS")]


@pytest.mark.parametrize("class_name", ["plate", "yeti"])
def test_an_object_that_a_program_adds_without_a_box_is_drawn(class_name: str) -> None:
    flat = Flat(5, 1)
    table, graph = node(flat, "kitchentable"), flat.graph()
    graph["nodes"].append({"id": 9000, "class_name": class_name})
    graph["edges"].append({"from_id": 9000, "relation_type": "ON", "to_id": table})
    assert ask(flat, "expand_scene", "{}", json.dumps(graph)).success
    boxes = {n["id"]: n.get("bounding_box") for n in flat.graph()["nodes"]}
    for axis in (0, 2):
        apart = abs(boxes[9000]["center"][axis] - boxes[table]["center"][axis])
        assert apart < boxes[table]["size"][axis] / 2
    seen = [json.loads(ask(flat, "observation", ints=(i,)).message) for i in range(20)]
    assert any("9000" in ids for ids in seen)


def test_a_graph_with_two_characters_is_refused(flat):
    graph = build(5, 1)
    people = [{"id": i, "class_name": "character", "category": "Characters"} for i in (1, 2)]
    reply = ask(flat, "expand_scene", "{}", json.dumps({**graph, "nodes": people + graph["nodes"]}))
    assert not reply.success
    assert "room for one" in reply.message


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (character(room="ballroom"), "no room 'ballroom'"),
        (character("fix_position", character_position={"x": 99}), "in no room"),
        ("{", "JSON"),
    ],
)
def test_a_character_that_can_not_be_there(flat, place, words):
    reply = ask(flat, "add_character", place)
    assert not reply.success
    assert words in reply.message


def test_a_camera_can_not_roll(flat):
    reply = ask(flat, "add_camera", json.dumps({"rotation": {"z": 20}}))
    assert not reply.success
    assert "roll" in reply.message


def test_a_first_person_camera_that_was_moved_back_sees_the_character() -> None:
    flat = Flat(0, 0)
    place = {"camera_name": "FIRST_PERSON", "position": {"y": 1.5, "z": -1.5}}
    assert ask(flat, "update_character_camera", json.dumps(place)).success
    at = flat.picture.home[node(flat, "kitchen")]
    put = character("fix_position", "", character_position={"x": at.x, "z": at.z})
    assert ask(flat, "add_character", put).success
    number = len(flat.cameras) - len(CHARACTER_CAMERAS) + CHARACTER_CAMERAS.index("FIRST_PERSON")
    seen = json.loads(ask(flat, "observation", ints=(number,)).message)
    assert "character" in seen.values()


def test_a_floor_at_another_height_is_brought_to_zero():
    """Characters stand at 0, whatever the heights in a graph from elsewhere."""
    pictures = []
    for height in (0.0, 1.25):
        flat, graph = Flat(5, 1), json.loads(json.dumps(build(5, 1)))
        for thing in graph["nodes"]:
            thing["bounding_box"]["center"][1] += height
        assert ask(flat, "expand_scene", "{}", json.dumps(graph)).success
        assert ask(flat, "add_character", character()).success
        fridge = f"<fridge> ({node(flat, 'fridge')})"
        assert ask(flat, "render_script", "{}", f"<char0> [Walk] {fridge}").success
        cameras = (flat.take(number, 32, 24, rgb=True).rgb for number in range(len(flat.cameras)))
        pictures.append([picture.astype(int) for picture in cameras])
    for one, other in zip(*pictures, strict=True):
        assert abs(one - other).mean() < 1


def test_night_is_darker_than_day():
    flat = Flat(0, 0)
    lamps = [n.id for n in flat.world.nodes() if n.class_name == "lightswitch"]
    graph = flat.graph()
    for thing in graph["nodes"]:
        if thing["id"] in lamps:
            thing["states"] = ["OFF"]
    assert ask(flat, "expand_scene", "{}", json.dumps(graph)).success
    day = flat.take(0, 32, 24, rgb=True).rgb
    assert ask(flat, "set_time", json.dumps({"hours": 23})).success
    night = flat.take(0, 32, 24, rgb=True).rgb
    assert day is not None
    assert night is not None
    assert night.mean() < 0.5 * day.mean()


def test_a_scene_loaded_anew_is_at_noon():
    flat = Flat(0, 0)
    first = flat.take(0, 32, 24, rgb=True).rgb
    assert ask(flat, "set_time", json.dumps({"hours": 23})).success
    assert ask(flat, "environment", ints=(0,)).success
    again = flat.take(0, 32, 24, rgb=True).rgb
    assert first is not None and again is not None
    assert (again == first).all()


def has_eai() -> bool:
    from inhabit.envs.core import UnavailableError

    try:
        folder()
    except UnavailableError:
        return False
    return True


@pytest.mark.skipif(not has_eai(), reason="eai-eval is not here: run `inhabit setup virtualhome`")
def test_a_graph_without_boxes_gets_some():
    flat = Flat(0, 0)
    graph = initial_graph(programs()[0])
    reply = ask(flat, "expand_scene", "{}", json.dumps(graph))
    assert reply.success, reply.message
    shown = flat.graph()
    boxed = [n for n in shown["nodes"] if n.get("bounding_box")]
    assert len(boxed) > 0.4 * len(shown["nodes"])
    assert len(flat.cameras) == 5 * 4 + 6
    assert flat.figure is not None
    above = flat.take(len(flat.cameras) - len(CHARACTER_CAMERAS), 64, 48, rgb=False)
    assert flat.world.characters()[0] in {node_of(above.names[i]) for i in above.ids.ravel()}
    rgb = flat.take(4, 64, 48, rgb=True).rgb
    assert rgb is not None
    assert len({tuple(pixel) for pixel in rgb.reshape(-1, 3).tolist()}) > 50


def test_what_is_held_moves_along() -> None:
    flat = Flat(0, 0)
    assert ask(flat, "add_character", character()).success
    mug = node(flat, "mug")
    (counter,) = flat.world.targets(mug, "ON")
    lines = (f"<char0> [walk] <mug> ({mug})", f"<char0> [grab] <mug> ({mug})")
    assert ask(flat, "render_script", "{}", *lines).success
    bedroom = node(flat, "bedroom")
    x, _, z = flat.world.sources[bedroom]["bounding_box"]["center"]
    there = character("fix_position", "", character_position={"x": x, "z": z})
    assert ask(flat, "move_character", there).success
    assert flat.world.targets(mug, "INSIDE") == [bedroom]
    back = f"<char0> [walk] <kitchencounter> ({counter})", f"<char0> [putobjback] <mug> ({mug})"
    assert ask(flat, "check_script", *back).success
    assert ask(flat, "render_script", "{}", f"<char0> [drop] <mug> ({mug})").success
    assert flat.world.targets(mug, "INSIDE") == [bedroom]


def test_a_character_that_was_put_somewhere_walks_to_another_room() -> None:
    flat = Flat(0, 0)
    at = flat.picture.home[node(flat, "kitchen")]
    put = character("fix_position", "", character_position={"x": at.x, "z": at.z})
    assert ask(flat, "add_character", put).success
    bedroom = node(flat, "bedroom")
    assert ask(flat, "render_script", "{}", f"<char0> [walk] <bedroom> ({bedroom})").success
    assert flat.figure is not None
    body, room = flat.figure.place, flat.picture.home[bedroom].box
    assert abs(body.x - room.x) < room.hx and abs(body.z - room.z) < room.hz


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e400"])
def test_a_camera_is_nowhere_infinite(number: str, flat: Flat) -> None:
    place = f'{{"position": {{"x": {number}}}}}'
    reply = ask(flat, "add_camera", place)
    assert not reply.success and "finite" in reply.message
