"""The protocol's actions about cameras."""

from __future__ import annotations

from envs.virtualhome.drawing.picture import node_of
from envs.virtualhome.server.answers import RefusedError, done, read, told
from envs.virtualhome.server.cameras import matrices
from envs.virtualhome.server.flat import Flat
from envs.virtualhome.server.images import MODES, color_of, encode
from envs.virtualhome.wire import CameraPlace, ImageOptions, Reply, Request


def camera_count(flat: Flat, request: Request) -> Reply:
    """How many there are."""
    return Reply(success=True, value=len(flat.cameras))


def character_cameras(flat: Flat, request: Request) -> Reply:
    """Names of those that go with the character."""
    return told(flat.character_cameras())


def camera_data(flat: Flat, request: Request) -> Reply:
    """Where they are and how they project."""
    rows = []
    for index in request.intParams:
        camera = flat.look(flat.camera(index))
        rows.append({"index": index, **matrices(camera, 4 / 3)})
    return told(rows)


def camera_image(flat: Flat, request: Request) -> Reply:
    """What they see."""
    options = read(ImageOptions, request)
    if options.mode not in MODES:
        raise RefusedError(
            f"The camera mode {options.mode!r} does not exist; there are {', '.join(MODES)}."
        )
    classes = {node.id: node.class_name for node in flat.world.nodes()}
    rgb = options.mode == "normal"
    pictures = []
    for index in request.intParams:
        frame = flat.take(index, options.image_width, options.image_height, rgb=rgb)
        pictures.append(encode(frame, options.mode, classes))
    return Reply(success=True, message_list=tuple(pictures))


def instance_colors(flat: Flat, request: Request) -> Reply:
    """The colour of every node in pictures of instances."""
    ids = [node.id for node in flat.world.nodes()]
    return told({str(i): [channel / 255 for channel in color_of(i)] for i in ids})


def observation(flat: Flat, request: Request) -> Reply:
    """Which nodes a camera sees."""
    if len(request.intParams) != 1:
        raise RefusedError("observation takes one camera index.")
    frame = flat.take(request.intParams[0], 160, 120, rgb=False)
    seen = {node_of(frame.names[i]) for i in set(frame.ids.ravel().tolist()) - {-1}}
    names = {node.id: node.class_name for node in flat.world.nodes()}
    return told({str(i): names[i] for i in sorted(seen)})


def add_camera(flat: Flat, request: Request) -> Reply:
    """Put one somewhere."""
    number = flat.add_camera(read(CameraPlace, request))
    return done(f"New camera created. Id:{number}")


def update_camera(flat: Flat, request: Request) -> Reply:
    """Put one elsewhere."""
    if len(request.intParams) != 1:
        raise RefusedError("update_camera takes one camera index.")
    flat.update_camera(request.intParams[0], read(CameraPlace, request))
    return done("Camera updated")


def add_character_camera(flat: Flat, request: Request) -> Reply:
    """Add one to those that go with the character."""
    flat.set_character_camera(read(CameraPlace, request), new=True)
    return done("New character camera created")


def update_character_camera(flat: Flat, request: Request) -> Reply:
    """Change one of those."""
    flat.set_character_camera(read(CameraPlace, request), new=False)
    return done("Character camera updated")
