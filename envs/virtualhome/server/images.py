"""Images that clients ask for, and replies without them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from inhabit.envs.entries import first_problem
from inhabit.envs.pictures import base64_png
from inhabit.envs.plain_data import seed_of
from inhabit.envs.simulators.render.stage import Frame
from inhabit.envs.virtualhome.drawing.picture import node_of
from inhabit.envs.virtualhome.server.cameras import matrices
from inhabit.envs.virtualhome.server.flat import Flat
from inhabit.envs.virtualhome.unity.protocol import (
    CameraPlace,
    ImageOptions,
    ProtocolReply,
    ProtocolRequest,
)

_M = TypeVar("_M", bound=BaseModel)


class BadRequestError(ValueError):
    """A request cannot be executed. One sentence."""


def done(message: str = "") -> ProtocolReply:
    """A success."""
    return ProtocolReply(success=True, message=message)


def json_reply(value: object) -> ProtocolReply:
    """A reply in JSON."""
    return ProtocolReply(success=True, message=json.dumps(value))


def read(model: type[_M], request: ProtocolRequest, number: int = 0) -> _M:
    """A parameter in JSON."""
    if len(request.stringParams) <= number:
        raise BadRequestError(f"{request.action} lacks its string parameter {number}.")
    try:
        return model.model_validate_json(request.stringParams[number])
    except ValidationError as error:
        raise BadRequestError(f"{request.action}, {first_problem(error)}.") from error


MODES = ("normal", "seg_inst", "seg_class", "depth")
_MILLIMETRES = 1000.0
_FARTHEST = 65535
_SPREAD = 0x9E3779B1
"""Odd, so that ids up to 2^24 get distinct colours."""


def color_of(id_: int) -> tuple[int, int, int]:
    """The colour of a node in instance masks."""
    code = (id_ * _SPREAD ^ 0x5A5A5A) & 0xFFFFFF
    return code >> 16, code >> 8 & 0xFF, code & 0xFF


def encode(frame: Frame, mode: str, classes: Mapping[int, str]) -> str:
    """An image as base64-encoded PNG.

    Args:
        frame: with its colours if the mode is "normal".
        mode: of `MODES`. Depth is 16 bits, in millimetres along the optical axis; 65535 is beyond.
        classes: id -> class name, for "seg_class".
    """
    if mode == "normal":
        assert frame.rgb is not None
        return base64_png(frame.rgb)
    if mode == "depth":
        return base64_png(np.minimum(frame.depth * _MILLIMETRES, _FARTHEST).astype(np.uint16))
    return base64_png(_painted(frame, mode, classes))


def _painted(frame: Frame, mode: str, classes: Mapping[int, str]) -> NDArray[np.uint8]:
    """Every body in its node's colour; walls and floors in that of their room."""
    colors = np.full((len(frame.names) + 1, 3), 255, np.uint8)
    for index, name in enumerate(frame.names):
        id_ = node_of(name)
        seed = id_ if mode == "seg_inst" else seed_of(classes[id_]) & 0xFFFFFF
        colors[index] = color_of(seed)
    return colors[frame.ids]


def camera_count(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """The number of cameras."""
    return ProtocolReply(success=True, value=len(flat.cameras))


def character_cameras(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Names of the cameras that move with the character."""
    return json_reply(flat.character_cameras())


def camera_data(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Poses and projections of cameras."""
    rows = []
    for index in request.intParams:
        camera = flat.look(flat.camera(index))
        rows.append({"index": index, **matrices(camera, 4 / 3)})
    return json_reply(rows)


def camera_image(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Images of cameras."""
    options = read(ImageOptions, request)
    if options.mode not in MODES:
        raise BadRequestError(
            f"The camera mode {options.mode!r} does not exist; there are {', '.join(MODES)}."
        )
    classes = {node.id: node.class_name for node in flat.world.nodes()}
    rgb = options.mode == "normal"
    pictures = []
    for index in request.intParams:
        frame = flat.take(index, options.image_width, options.image_height, rgb=rgb)
        pictures.append(encode(frame, options.mode, classes))
    return ProtocolReply(success=True, message_list=tuple(pictures))


def instance_colors(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """The colour of every node in instance masks."""
    ids = [node.id for node in flat.world.nodes()]
    return json_reply({str(i): [channel / 255 for channel in color_of(i)] for i in ids})


def observation(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """The nodes in view of a camera."""
    if len(request.intParams) != 1:
        raise BadRequestError("observation takes one camera index.")
    frame = flat.take(request.intParams[0], 160, 120, rgb=False)
    seen = {node_of(frame.names[i]) for i in set(frame.ids.ravel().tolist()) - {-1}}
    names = {node.id: node.class_name for node in flat.world.nodes()}
    return json_reply({str(i): names[i] for i in sorted(seen)})


def add_camera(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Add a fixed camera."""
    number = flat.add_camera(read(CameraPlace, request))
    return done(f"New camera created. Id:{number}")


def update_camera(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Move a fixed camera."""
    if len(request.intParams) != 1:
        raise BadRequestError("update_camera takes one camera index.")
    flat.update_camera(request.intParams[0], read(CameraPlace, request))
    return done("Camera updated")


def add_character_camera(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Add a camera that moves with the character."""
    flat.set_character_camera(read(CameraPlace, request), new=True)
    return done("New character camera created")


def update_character_camera(flat: Flat, request: ProtocolRequest) -> ProtocolReply:
    """Move a camera that moves with the character."""
    flat.set_character_camera(read(CameraPlace, request), new=False)
    return done("Character camera updated")
