"""VirtualHome's own client and environment, unmodified, against our server."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from present import needs_its_interpreter, needs_virtualhome
from served import served
from waiting import PATIENCE

from inhabit.envs.virtualhome.graph.library import interpreter, simulation
from inhabit.envs.virtualhome.server.cameras import CHARACTER_CAMERAS

pytestmark = [needs_virtualhome, needs_its_interpreter]
DRIVER = Path(__file__).with_name("official_driver.py")


def drive(what: str) -> dict[str, Any]:
    with served() as server:
        done = subprocess.run(
            [str(interpreter()), str(DRIVER), str(simulation()), str(server.server_port), what],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return told


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    return drive("rows")


def test_the_connection_is_alive(rows):
    assert rows["idle"] is True


def test_scenes_are_loaded_and_unknown_ones_refused(rows):
    assert rows["reset"] is True
    assert rows["fast_reset"] is True
    assert rows["reset_nowhere"] is False


def test_the_graph_has_nodes_and_edges(rows):
    ok, keys, count = rows["environment_graph"]
    assert ok
    assert keys == ["edges", "nodes"]
    assert count > 100


def test_a_graph_is_taken_for_the_scene(rows):
    assert rows["expand_scene"] == [True, {}]
    assert rows["expand_scene_strange"] == [True, {"missing_prefabs": ["yeti"]}]


def test_a_ring_is_refused_in_a_sentence(rows):
    ok, message = rows["expand_scene_ring"]
    assert not ok
    assert "INSIDE itself" in message


def test_there_is_one_character_and_its_id_is_1(rows):
    assert rows["add_character"] is True
    assert rows["second_character"] is False
    assert rows["character_id"] == 1


def test_the_character_moves_where_it_is_told_to(rows):
    assert rows["move_character"] is True
    assert rows["moved_into"] is True
    assert rows["move_character_outside"] is False


def test_scripts_are_carried_out_or_say_why_not(rows):
    assert rows["no_character"] == [False, "No character added yet!"]
    assert rows["render_script"] == [True, {"0": {"message": "Success"}}]
    ok, message = rows["render_script_far"]
    assert not ok
    assert "is not close to" in message["0"]["message"]


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("render_script_several", "one character"),
        ("render_script_malformed", "not a script line"),
        ("render_script_film", "no videos"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_sentence(rows, row, part):
    ok, message = rows[row]
    assert not ok
    assert part in message


def test_scripts_are_checked_without_being_carried_out(rows):
    assert rows["check_script"] == [True, "Script is executable"]
    ok, message = rows["check_script_far"]
    assert not ok
    assert "is not close to" in message


def test_a_character_brings_its_cameras(rows):
    ok, static = rows["camera_count"]
    assert ok
    assert rows["add_character_camera"][0]
    assert rows["update_character_camera"][0]
    assert rows["camera_count_with_character"] == static + len(CHARACTER_CAMERAS) + 1
    ok, names = rows["character_cameras"]
    assert ok
    assert json.loads(names) == [*CHARACTER_CAMERAS, "mine"]


def test_cameras_tell_their_matrices(rows):
    ok, (camera,) = rows["camera_data"]
    assert ok
    assert len(camera["world_to_camera_matrix"]) == 4
    assert camera["projection_matrix"][3] == [0.0, 0.0, -1.0, 0.0]


@pytest.mark.parametrize(
    ("mode", "shape", "dtype"),
    [
        ("normal", [72, 96, 3], "uint8"),
        ("depth", [72, 96], "uint16"),
        ("seg_inst", [72, 96, 3], "uint8"),
        ("seg_class", [72, 96, 3], "uint8"),
    ],
)
def test_pictures_are_decoded_by_the_client(rows, mode, shape, dtype):
    ok, its_shape, its_dtype, values = rows["camera_images"][mode]
    assert ok
    assert (its_shape, its_dtype) == (shape, dtype)
    assert values > 3


def test_every_color_of_an_instance_picture_has_its_node(rows):
    ok, nodes, different, seen, unknown = rows["instance_colors"]
    assert ok
    assert different == nodes
    assert seen > 3
    assert unknown == 0


def test_a_camera_tells_what_it_sees(rows):
    ok, seen = rows["get_visible_objects"]
    assert ok
    assert "kitchentable" in seen.values()


def test_cameras_of_the_user(rows):
    ok, message = rows["add_camera"]
    assert ok
    assert message == f"New camera created. Id:{rows['camera_count_with_character']}"
    assert rows["update_camera"][0]
    assert rows["camera_image_mine"] is True
    assert rows["camera_image_nowhere"] is False


def test_time_and_generated_scenes(rows):
    assert rows["set_time"] is True
    assert rows["procedural_generation"] == [True, "4"]


def test_what_needs_physics_is_refused_in_a_sentence(rows):
    assert rows["activate_physics"] is False
    assert "nothing falls here" in rows["exchanged"]["activate_physics"][1]["message"]
    assert rows["remove_terrain"] is True
    ok, message = rows["point_cloud"]
    assert not ok
    assert message.startswith("Unknown action point_cloud: ask camera_image for depth")


def test_the_rest_is_unknown(rows):
    assert rows["unknown"]["success"] is False
    assert rows["unknown"]["message"] == "Unknown action make_coffee"


NOT_TO_BE_HAD = ("activate_physics", "point_cloud")
PROTOCOL = (
    *("idle", "clear", "environment", "fast_reset", "environment_graph", "expand_scene"),
    *("add_character", "move_character", "render_script", "check_script", "camera_count"),
    *("character_cameras", "camera_data", "camera_image", "instance_colors", "observation"),
    *("add_camera", "update_camera", "add_character_camera", "update_character_camera"),
    *("set_time", "remove_terrain", "clear_procedural", "procedural_generation", *NOT_TO_BE_HAD),
)
"""Every action that the official client asks for."""
IN_JSON = (
    *("environment_graph", "expand_scene", "camera_data", "character_cameras"),
    *("instance_colors", "observation", "point_cloud"),
)


def test_no_row_of_the_official_client_is_left_out(rows):
    source = (simulation() / "unity_simulator" / "comm_unity.py").read_text("utf-8")
    assert set(re.findall(r"'action': '(\w+)'", source)) == set(PROTOCOL)


@pytest.mark.parametrize("action", PROTOCOL)
def test_every_row_is_answered_in_its_form(rows, action):
    asked, reply = rows["exchanged"][action]
    assert set(reply) == {"id", "success", "message", "value", "message_list"}
    assert reply["id"] == asked
    assert isinstance(reply["value"], int)
    assert all(isinstance(picture, str) for picture in reply["message_list"])
    assert isinstance(reply["message"], str)
    if action == "render_script":  # the first is asked for before there is a character
        assert (reply["success"], reply["message"]) == (False, "No character added yet!")
    else:
        assert reply["success"] is (action not in NOT_TO_BE_HAD)
    if action in IN_JSON:
        json.loads(reply["message"])
    assert bool(reply["message_list"]) is (action == "camera_image")


@pytest.mark.slow
def test_the_official_environment_runs():
    told = drive("environment")
    assert 4 < told["first"] < told["all"]
    assert "CLOSED" in told["states"][0]
    assert "CLOSED" in told["states"][1]
    assert "OPEN" in told["states"][2]
    assert told["then"] > told["first"]
    assert told["finished"] == [0, False, ["finished", "graph"]]
    assert told["actions"] == told["then"]
    assert told["image"] == [48, 64, 3]
