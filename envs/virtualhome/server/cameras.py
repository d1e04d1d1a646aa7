"""The cameras of a scene: in room corners, above rooms, at the character, and the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import cos, radians, sin, tan
from typing import Any

import numpy as np

from inhabit.envs.simulators.render.camera import Camera
from inhabit.envs.simulators.render.mesh import Vector
from inhabit.envs.virtualhome.drawing import picture
from inhabit.envs.virtualhome.drawing.figure import Figure
from inhabit.envs.virtualhome.drawing.layout import DrawnBox
from inhabit.envs.virtualhome.unity.protocol import CameraPlace

CORNERS = 4
"""Number of cameras in a room's corners; one more looks down from above it."""

CHARACTER_CAMERAS = (
    "PERSON_TOP",
    "FIRST_PERSON",
    "PERSON_FROM_LEFT",
    "PERSON_FROM_RIGHT",
    "PERSON_FRONT",
    "PERSON_FROM_BACK",
)
"""Cameras of a character, in order. `UnityEnvironment` expects six; its view is the second."""


@dataclass(frozen=True, slots=True)
class RoomCamera:
    """A camera of a room."""

    room: int
    number: int
    """Number of the camera: 0..3 for the corners, 4 for the one above."""


@dataclass(frozen=True, slots=True)
class UserCamera:
    """A camera placed by the user."""

    place: CameraPlace


@dataclass(frozen=True, slots=True)
class CharacterCamera:
    """A camera that moves with the character."""

    name: str
    place: CameraPlace | None = None
    """Pose of a user's camera relative to the character's feet."""


AnyCamera = RoomCamera | UserCamera | CharacterCamera


class CameraError(ValueError):
    """There is no such camera, or its parameters are invalid."""


def looking(
    camera: AnyCamera,
    home: Mapping[int, DrawnBox],
    figure: Figure | None,
    can_be_at: Callable[[Vector], bool],
) -> Camera:
    """The current pose of a camera.

    Args:
        camera: which.
        home: the rooms' places, by id.
        figure: the character as it is drawn.
        can_be_at: whether a point is in the character's room and in nothing that stands there.

    Raises:
        CameraError: it goes with a character that is nowhere.
    """
    if isinstance(camera, RoomCamera):
        room = home[camera.room]
        return (
            picture.corner(room, camera.number)
            if camera.number < CORNERS
            else picture.top_down(room)
        )
    if isinstance(camera, UserCamera):
        return _placed(camera.place, DrawnBox(0.0, 0.0, 0.0, (1.0, 1.0, 1.0)))
    if figure is None:
        raise CameraError(f"The camera {camera.name} goes with a character that is in no room.")
    if camera.place is not None:
        x, z = figure.place.x, figure.place.z
        return _placed(camera.place, DrawnBox(x, 0.0, z, (1.0, 1.0, 1.0), figure.place.yaw))
    return _about(camera.name, figure, can_be_at)


def _about(name: str, figure: Figure, can_be_at: Callable[[Vector], bool]) -> Camera:
    if name == "FIRST_PERSON":
        return picture.first_person(figure)
    body = figure.place
    if name == "PERSON_TOP":
        return Camera((body.x, 4.6, body.z), body.yaw, 89.9, fov=60.0, far=40.0)
    aside, ahead, turn = {
        "PERSON_FROM_LEFT": (-1.6, 0.0, 90.0),
        "PERSON_FROM_RIGHT": (1.6, 0.0, -90.0),
        "PERSON_FRONT": (0.0, 1.6, 180.0),
        "PERSON_FROM_BACK": (0.4, -1.2, -8.0),
    }[name]
    up = 1.75 - body.y
    near = [body.out(k * aside, up, k * ahead) for k in (1.0, 0.7, 0.5, 0.35)]
    at = next((spot for spot in near if can_be_at(spot)), near[-1])
    return Camera(at, body.yaw + turn, 16.0, fov=66.0, far=40.0)


def _placed(place: CameraPlace, origin: DrawnBox) -> Camera:
    """Relative to the floor at the origin."""
    x, _, z = origin.out(place.position.x, 0.0, place.position.z)
    pitch = (place.rotation.x + 180.0) % 360.0 - 180.0
    if abs(pitch) > 90.0 or place.rotation.z % 360.0:
        raise CameraError("Cameras here neither roll (rotation z) nor pitch beyond 90 degrees.")
    at = (x, place.position.y, z)
    return Camera(at, origin.yaw + place.rotation.y, pitch, fov=place.field_view, far=60.0)


def sees_from_above(camera: Camera, home: Mapping[int, DrawnBox]) -> bool:
    """Whether it is above the rooms, where ceilings would block its view."""
    return camera.position[1] > max(place.top for place in home.values()) - 0.05


def matrices(camera: Camera, aspect: float) -> dict[str, Any]:
    """A camera's matrices in OpenGL's convention, as in Unity: it looks along its own -z."""
    right, up, ahead = camera.axes
    turn = np.stack((right, up, -ahead))
    world = np.eye(4)
    world[:3, :3], world[:3, 3] = turn, -turn @ np.array(camera.position)
    scale = 1 / tan(radians(camera.fov) / 2)
    near, far = camera.near, camera.far
    projection = np.zeros((4, 4))
    projection[0, 0], projection[1, 1] = scale / aspect, scale
    projection[2, 2], projection[2, 3] = (
        -(far + near) / (far - near),
        -2 * far * near / (far - near),
    )
    projection[3, 2] = -1.0
    yaw, pitch = radians(camera.yaw) / 2, radians(camera.pitch) / 2
    rotation = (cos(yaw) * sin(pitch), sin(yaw) * cos(pitch), -sin(yaw) * sin(pitch),
                cos(yaw) * cos(pitch))  # fmt: skip
    return {
        "position": list(camera.position),
        "rotation": list(rotation),
        "field_view": camera.fov,
        "aspect": aspect,
        "near": near,
        "far": far,
        "world_to_camera_matrix": world.tolist(),
        "projection_matrix": projection.tolist(),
    }
