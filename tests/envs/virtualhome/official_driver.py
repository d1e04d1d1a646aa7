"""Drives VirtualHome's own client, in its own interpreter, and prints what came of it as JSON.

Usage: official_driver.py SIMULATION_FOLDER PORT {rows|environment}

The client is used as it is, but for two names that new Pythons and numpys no longer have.
"""

import collections
import collections.abc
import contextlib
import json
import sys

import numpy as np

folder, port, what = sys.argv[1:4]
sys.path.insert(0, folder)

from unity_simulator import comm_unity  # noqa: E402

collections.Iterable = collections.abc.Iterable


class _OldNumpy:
    """numpy with `fromstring`, which numpy 2.3 took away for bytes."""

    def __getattr__(self, name):
        return np.frombuffer if name == "fromstring" else getattr(np, name)


comm_unity.np = _OldNumpy()


def rows():
    comm = comm_unity.UnityCommunication(port=port)
    told = {"exchanged": {}}
    post = comm.post_command

    def noted(request, repeat=False):
        reply = post(request, repeat)
        told["exchanged"].setdefault(request["action"], [request["id"], reply])
        return reply

    comm.post_command = noted
    told["idle"] = comm.check_connection()
    told["reset"] = comm.reset(2)
    told["reset_nowhere"] = comm.reset(99)
    told["fast_reset"] = comm.fast_reset(2)
    static = comm.camera_count()
    told["camera_count"] = static
    ok, graph = comm.environment_graph()
    told["environment_graph"] = [ok, sorted(graph), len(graph["nodes"])]
    told["expand_scene"] = comm.expand_scene(graph)
    strange = {
        "nodes": [*graph["nodes"], {**graph["nodes"][-1], "id": 9000, "class_name": "yeti"}],
        "edges": graph["edges"],
    }
    told["expand_scene_strange"] = comm.expand_scene(strange)
    ring = [{"from_id": 9000, "relation_type": "INSIDE", "to_id": 9000}]
    told["expand_scene_ring"] = comm.expand_scene({**strange, "edges": graph["edges"] + ring})
    comm.expand_scene(graph)
    told["add_character_camera"] = comm.add_character_camera([0, 1.8, -1], [20, 0, 0], name="mine")
    told["update_character_camera"] = comm.update_character_camera([0, 2, -2], name="mine")
    told["no_character"] = comm.render_script(["<char0> [walk] <kitchen> (11)"])
    told["add_character"] = comm.add_character("Chars/Female1", initial_room="kitchen")
    told["second_character"] = comm.add_character("Chars/Male1", initial_room="bedroom")
    ok, graph = comm.environment_graph()
    ids = {}
    for node in graph["nodes"]:
        ids.setdefault(node["class_name"], node["id"])
    told["character_id"] = ids["character"]
    room = next(n for n in graph["nodes"] if n["class_name"] == "bedroom")
    told["move_character"] = comm.move_character(0, room["bounding_box"]["center"])
    told["move_character_outside"] = comm.move_character(0, [900, 0, 900])
    _, graph = comm.environment_graph()
    told["moved_into"] = [
        e["to_id"]
        for e in graph["edges"]
        if e["from_id"] == ids["character"] and e["relation_type"] == "INSIDE"
    ] == [room["id"]]
    table = f"<kitchentable> ({ids['kitchentable']})"
    plate = f"<plate> ({ids['plate']})"
    quick = {"recording": False, "skip_animation": True}
    told["render_script_far"] = comm.render_script([f"<char0> [grab] {plate}"], **quick)
    told["check_script"] = comm.check([f"<char0> [walk] {table}"])
    told["check_script_far"] = comm.check([f"<char0> [grab] {plate}"])
    told["render_script"] = comm.render_script(
        [f"<char0> [walk] {table}", f"<char0> [turnto] {table}"], **quick
    )
    told["render_script_several"] = comm.render_script(
        [f"<char0> [walk] {table}|<char1> [walk] {table}"], **quick
    )
    told["render_script_malformed"] = comm.render_script(["<char0> walk the dog"], **quick)
    told["render_script_film"] = comm.render_script([f"<char0> [walk] {table}"], recording=True)
    told["character_cameras"] = comm.character_cameras()
    _, count = comm.camera_count()
    told["camera_count_with_character"] = count
    first_person = static[1] + 1
    told["camera_data"] = comm.camera_data([first_person])
    told["camera_images"] = {}
    for mode in ("normal", "depth", "seg_inst", "seg_class"):
        ok, images = comm.camera_image([first_person], mode=mode, image_width=96, image_height=72)
        told["camera_images"][mode] = [
            ok,
            list(images[0].shape),
            str(images[0].dtype),
            len(np.unique(images[0])),
        ]
        if mode == "seg_inst":
            seen = {tuple(int(c) for c in pixel[::-1]) for pixel in images[0].reshape(-1, 3)}
    ok, colors = comm.instance_colors()
    known = {tuple(round(255 * c) for c in color): int(i) for i, color in colors.items()}
    told["instance_colors"] = [ok, len(colors), len(known), len(seen), len(seen - known.keys())]
    told["get_visible_objects"] = comm.get_visible_objects(first_person)
    told["add_camera"] = comm.add_camera([2, 1.5, 2], [10, 45, 0], field_view=60)
    told["update_camera"] = comm.update_camera(count, [2, 1.5, 2], [10, 90, 0], field_view=60)
    told["camera_image_mine"] = comm.camera_image([count], image_width=32, image_height=24)[0]
    told["camera_image_nowhere"] = comm.camera_image([999], image_width=32, image_height=24)[0]
    told["set_time"] = comm.set_time(22, 30)
    told["procedural_generation"] = comm.procedural_generation(4)
    told["activate_physics"] = comm.activate_physics()
    told["remove_terrain"] = comm.remove_terrain()
    told["point_cloud"] = comm.point_cloud()
    told["unknown"] = comm.post_command({"id": "1", "action": "make_coffee"})
    return told


def environment():
    with contextlib.redirect_stdout(sys.stderr):
        from environment.unity_environment import UnityEnvironment

        env = UnityEnvironment(num_agents=1, base_port=int(port), observation_types=["partial"])
        seen = env.reset(environment_id=1, init_rooms=["kitchen", "bedroom"])
        told = {"first": len(seen[0]["nodes"]), "all": len(env.get_graph()["nodes"])}
        cabinet = next(n for n in seen[0]["nodes"] if n["class_name"] == "kitchencabinet")
        name = f"<kitchencabinet> ({cabinet['id']})"
        told["states"] = []
        for action in (f"[open] {name}", f"[walk] {name}", f"[open] {name}"):
            seen, reward, done, info = env.step({0: action})
            told["states"].append(
                next(n["states"] for n in seen[0]["nodes"] if n["id"] == cabinet["id"])
            )
        told["then"] = len(seen[0]["nodes"])
        told["finished"] = [reward, done, sorted(info)]
        told["actions"] = len(env.get_action_space()[0])
        image = env.get_observation(0, "image", info={"image_width": 64, "image_height": 48})
        told["image"] = [*image.shape]
        return told


sys.stdout.write(json.dumps({"rows": rows, "environment": environment}[what]()) + "\n")
