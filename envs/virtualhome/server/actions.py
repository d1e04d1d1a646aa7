"""The actions of the protocol, executed on a flat."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.metadata import version

from pydantic_core import from_json

from inhabit.envs.core import SceneError
from inhabit.envs.virtualhome.drawing.layout import DrawnBox
from inhabit.envs.virtualhome.drawing.looks import forms
from inhabit.envs.virtualhome.drawing.rooms import room_at
from inhabit.envs.virtualhome.graph.verbs import LineError, ScriptLine, parse_parallel
from inhabit.envs.virtualhome.graph.world import Failure
from inhabit.envs.virtualhome.server import images
from inhabit.envs.virtualhome.server.cameras import CameraError
from inhabit.envs.virtualhome.server.flat import ONE_CHARACTER, Flat
from inhabit.envs.virtualhome.server.images import BadRequestError, done, json_reply, read
from inhabit.envs.virtualhome.unity.protocol import (
    CharacterPlace,
    ProtocolReply,
    ProtocolRequest,
    ScriptOptions,
    TimeOfDay,
)

_FLATS = 7
_NO_FILMS = (
    "This server records no videos: render_script without `recording`, and ask camera_image after "
    "each line."
)


def answer(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Execute a request. A failure is a reply with the reason."""
    action = _ACTIONS.get(request.action)
    if action is None:
        return ProtocolReply(
            id=request.id, success=False, message=f"Unknown action {request.action}"
        )
    try:
        reply = action(flat, request)
    except (BadRequestError, SceneError, CameraError, LineError) as error:
        return ProtocolReply(id=request.id, success=False, message=str(error))
    return reply.model_copy(update={"id": request.id})


def _version(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    return done(f"inhabit {version('inhabit')}, protocol of VirtualHome 2.3.0")


def _idle(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    return done()


def _environment(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    if request.intParams:
        flat.load(request.intParams[0], flat.first_seed)
    else:
        flat.load(flat.scene, flat.seed)
    return done()


def _procedural(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Any number selects a flat."""
    seed = abs(request.intParams[0]) if request.intParams else flat.seed + 1
    flat.load(seed % _FLATS, seed)
    return done(str(seed))


def _graph(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    return json_reply(flat.graph())


def _expand(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    if len(request.stringParams) < 2:
        raise BadRequestError("expand_scene lacks its graph, the second string parameter.")
    try:
        graph = from_json(request.stringParams[1])
    except ValueError as error:
        raise BadRequestError(f"Error deserializing params: {error}") from error
    if not isinstance(graph, dict) or not all(
        isinstance(graph.get(key), list) and all(isinstance(item, dict) for item in graph[key])
        for key in ("nodes", "edges")
    ):
        raise BadRequestError('The graph must be {"nodes": [{...}], "edges": [{...}]}.')
    characters = [n for n in graph["nodes"] if n.get("class_name") == "character"]
    if len(characters) > 1:
        raise BadRequestError(ONE_CHARACTER)
    flat.show(graph)
    names = {n.class_name for n in flat.world.nodes() if n.category != "Rooms"}
    strange = sorted(names - forms().keys())
    return json_reply({"missing_prefabs": strange} if strange else {})


def _add_character(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    place = read(CharacterPlace, request)
    if place.mode == "fix_position":
        room = _room_around(flat, place)
        at = (place.character_position.x, place.character_position.z)
    else:
        room, at = _room_named(flat, place.initial_room), None
    flat.add_character(room, at, place.character_resource)
    return done()


def _move_character(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    place = read(CharacterPlace, request)
    if place.char_index != 0:
        raise BadRequestError(f"There is no character {place.char_index}.")
    spot = (place.character_position.x, place.character_position.z)
    flat.move_character(_room_around(flat, place), spot)
    return done()


def _room_named(flat: Flat, name: str) -> int:
    rooms = [n for n in flat.world.nodes() if n.category == "Rooms"]
    wanted = [n.id for n in rooms if n.class_name.replace("_", "") == name.replace("_", "")]
    if wanted:
        return wanted[0]
    if name:
        have = ", ".join(n.class_name for n in rooms)
        raise BadRequestError(f"There is no room {name!r} in this scene; there are {have}.")
    return rooms[0].id


def _room_around(flat: Flat, place: CharacterPlace) -> int:
    x, z = place.character_position.x, place.character_position.z
    home = flat.picture.home
    for node in flat.world.nodes():
        if node.category == "Rooms" and node.id in home:
            box = home[node.id].box
            if abs(x - box.x) <= box.hx and abs(z - box.z) <= box.hz:
                return node.id
    near = room_at(DrawnBox(x, 0.0, z, (0.0, 0.0, 0.0)), home, flat.world.sources)
    raise BadRequestError(
        f"The position ({x:g}, {z:g}) is in no room"
        + (f"; the first room's middle is ({home[near].x:g}, {home[near].z:g})." if near else ".")
    )


def _script(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    options = read(ScriptOptions, request)
    if options.recording:
        raise BadRequestError(_NO_FILMS)
    if not flat.world.characters():
        raise BadRequestError("No character added yet!")
    lines = _lines(request.stringParams[1:])
    failed = flat.check(lines) if options.skip_execution else flat.run(lines)
    message = "Success" if failed is None else _sentence(failed, len(lines))
    json_reply = json.dumps({"0": {"message": message}})
    return ProtocolReply(success=failed is None, message=json_reply)


def _check_script(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    if not flat.world.characters():
        raise BadRequestError("No character added yet!")
    lines = _lines(request.stringParams)
    failed = flat.check(lines)
    if failed is None:
        return done("Script is executable")
    return ProtocolReply(success=False, message=_sentence(failed, len(lines)))


def _lines(texts: tuple[str, ...]) -> list[ScriptLine]:
    if not texts:
        raise BadRequestError("The script has no line.")
    return [line for text in texts for line in _of_one(text)]


def _of_one(text: str) -> list[ScriptLine]:
    lines = [*parse_parallel(text)]
    if len(lines) > 1 or any(line.character for line in lines):
        raise BadRequestError(f"{text!r} is about several characters. {ONE_CHARACTER}")
    return lines


def _sentence(failed: tuple[int, Failure], count: int) -> str:
    number, failure = failed
    where = f"line {number + 1} of {count}: " if count > 1 else ""
    return f"{where}{failure.message}"


def _set_time(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    flat.set_hour(read(TimeOfDay, request).hour)
    return done()


def _no_physics(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    raise BadRequestError(
        "Unknown action activate_physics: nothing falls here, and things rest where they are put."
    )


def _no_terrain(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Nothing to do: objects in our flats rest already."""
    return done("There is no terrain.")


def _no_points(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    # The official client parses the message as JSON, also after a failure.
    why = "Unknown action point_cloud: ask camera_image for depth, and camera_data for where from."
    return ProtocolReply(success=False, message=json.dumps(why))


_ACTIONS: Mapping[str, Callable[[Flat, ProtocolRequest], ProtocolReply]] = {
    "version": _version,
    "idle": _idle,
    "clear": _idle,
    "clear_procedural": _idle,
    "environment": _environment,
    "fast_reset": _environment,
    "procedural_generation": _procedural,
    "environment_graph": _graph,
    "expand_scene": _expand,
    "add_character": _add_character,
    "move_character": _move_character,
    "render_script": _script,
    "check_script": _check_script,
    "camera_count": images.camera_count,
    "character_cameras": images.character_cameras,
    "camera_data": images.camera_data,
    "camera_image": images.camera_image,
    "instance_colors": images.instance_colors,
    "observation": images.observation,
    "add_camera": images.add_camera,
    "update_camera": images.update_camera,
    "add_character_camera": images.add_character_camera,
    "update_character_camera": images.update_character_camera,
    "set_time": _set_time,
    "activate_physics": _no_physics,
    "remove_terrain": _no_terrain,
    "point_cloud": _no_points,
}
