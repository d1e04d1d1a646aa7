"""Actions of cameras: third-party cameras, the map view, the field of view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    SomeAxes,
    Vector,
)
from inhabit.envs.simulators.household.episode.house import House
from inhabit.envs.simulators.household.state.agent import FixedCamera

_LEVEL = Vector()
_MOST = 8
"""Maximum number of cameras in a room."""


def add(
    house: House,
    *,
    position: Vector,
    rotation: Vector = _LEVEL,
    field_of_view: Number = 90.0,
    orthographic: bool = False,
    orthographic_size: Number | None = None,
    parent: str = "world",
) -> None:
    """Add a camera. Every later event includes its image."""
    if parent != "world":
        raise Refusal(f"The parent of a camera must be 'world'; got {parent!r}.")
    if len(house.cameras) >= _MOST:
        raise Refusal(f"At most {_MOST} third-party cameras are supported.")
    size = _size(orthographic, orthographic_size)
    made = _turned(FixedCamera((position.x, position.y, position.z), half_height=size), rotation)
    house.cameras = (*house.cameras, _widened(made, field_of_view))


def update(
    house: House,
    *,
    third_party_camera_id: int = 0,
    position: SomeAxes | None = None,
    rotation: SomeAxes | None = None,
    field_of_view: Number | None = None,
    orthographic: bool | None = None,
    orthographic_size: Number | None = None,
) -> None:
    """Update a camera. Missing arguments keep their values."""
    if not 0 <= third_party_camera_id < len(house.cameras):
        raise Refusal(
            f"There is no third-party camera {third_party_camera_id}: there are "
            f"{len(house.cameras)}."
        )
    camera = house.cameras[third_party_camera_id]
    if position is not None:
        place = position.over(camera.position)
        camera = replace(camera, position=(place.x, place.y, place.z))
    if rotation is not None:
        camera = _turned(camera, rotation.over((camera.pitch, camera.yaw, 0.0)))
    if field_of_view is not None:
        camera = _widened(camera, field_of_view)
    if orthographic is not None or orthographic_size is not None:
        flat = orthographic is not False
        size = camera.half_height if orthographic_size is None else orthographic_size
        camera = replace(camera, half_height=_size(flat, size))
    cameras = list(house.cameras)
    cameras[third_party_camera_id] = camera
    house.cameras = tuple(cameras)


def map_view(house: House) -> JsonValue:
    """The camera parameters of a map view, for AddThirdPartyCamera."""
    (x, y, z), half_height = house.from_above()
    return {
        "position": {"x": x, "y": y, "z": z},
        "rotation": {"x": 90.0, "y": 0.0, "z": 0.0},
        "fieldOfView": 60.0,
        "orthographic": True,
        "orthographicSize": half_height,
    }


def _size(flat: bool, size: float | None) -> float | None:
    if not flat:
        return None
    if size is None or not 0.1 <= size <= 50.0:
        raise Refusal(
            f"orthographicSize (half the image height) must be 0.1 to 50 metres; got {size}."
        )
    return size


def _turned(camera: FixedCamera, rotation: Vector) -> FixedCamera:
    pitch = (rotation.x + 180.0) % 360.0 - 180.0
    if rotation.z % 360.0 or not -90.0 <= pitch <= 90.0:
        raise Refusal(
            "Roll is not supported: rotation z must be 0, and x between -90 and 90; "
            f"got {rotation.z:g} and {rotation.x:g}."
        )
    return replace(camera, pitch=pitch, yaw=rotation.y % 360.0)


def _widened(camera: FixedCamera, field_of_view: float) -> FixedCamera:
    if not 1.0 <= field_of_view <= 179.0:
        raise Refusal("fov must be set to (0, 180) noninclusive.")
    return replace(camera, field_of_view=field_of_view)


def toggle_map_view(house: House) -> None:
    """Show the room from above through the agent's camera; once more, through its eye again."""
    house.settings = replace(house.settings, map_view=not house.settings.map_view)


def change_fov(house: House, *, field_of_view: Number) -> None:
    """Change the field of view of the agent's camera."""
    if not 1 <= field_of_view < 180:
        raise Refusal("fov must be set to (0, 180) noninclusive.")
    house.settings = replace(house.settings, field_of_view=field_of_view)


ACTIONS: Mapping[str, ActionFunction] = {
    "AddThirdPartyCamera": add,
    "UpdateThirdPartyCamera": update,
    "GetMapViewCameraProperties": map_view,
    "ToggleMapView": toggle_map_view,
    "ChangeFOV": change_fov,
}
