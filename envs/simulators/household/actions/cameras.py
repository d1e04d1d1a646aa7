"""Actions of cameras and of looks: third-party cameras, colours, materials."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field, JsonValue

from inhabit.envs.simulators.household.actions.arguments import (
    ActionFunction,
    Number,
    Refusal,
    SomeAxes,
    Vector,
)
from inhabit.envs.simulators.household.drawing.picture import Randomization
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
        camera = replace(camera, half_height=_size(flat, orthographic_size))
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


Range = Annotated[list[Number], Field(min_length=2, max_length=2)]
"""Minimum and maximum."""


def randomize_materials(house: House, *, random_seed: int | None = None) -> None:
    """Randomize all materials; without a seed, use the next variant."""
    salt = house.randomization.materials + 1 if random_seed is None else 1 + abs(random_seed)
    house.randomization = replace(house.randomization, materials=salt)


def randomize_colors(house: House) -> None:
    """Randomize all colours, and the materials with them."""
    randomize_materials(house)


def reset_materials(house: House) -> None:
    """Restore the original materials."""
    house.randomization = replace(house.randomization, materials=0)


def randomize_lighting(
    house: House,
    *,
    brightness: Range | None = None,
    randomize_color: bool = True,
    hue: Range | None = None,
    saturation: Range | None = None,
    random_seed: int = 0,
) -> None:
    """Randomize the brightness and, optionally, the colour of the light.

    Args:
        house: where.
        brightness: factor, by default 0.5 to 1.5.
        randomize_color: whether the colour changes too.
        hue: 0 to 1, by default any.
        saturation: 0 to 1, by default 0.1 to 0.4. THOR's default is 0.5 to 1; of its lamps there
            are many, and here is one.
        random_seed: chooses.
    """
    choose = np.random.default_rng([abs(random_seed), 0x11647])
    factor = _from(choose, brightness or [0.5, 1.5], "brightness", 10.0)
    tone = _from(choose, hue or [0.0, 1.0], "hue", 1.0)
    strength = _from(choose, saturation or [0.1, 0.4], "saturation", 1.0)
    color = colorsys.hsv_to_rgb(tone, strength, 1.0) if randomize_color else Randomization().color
    house.randomization = replace(house.randomization, brightness=factor, color=color)


def _from(choose: np.random.Generator, limits: list[float], name: str, most: float) -> float:
    low, high = limits
    if not 0.0 <= low <= high <= most:
        raise Refusal(f"{name} must be a range within 0 to {most:g}; got {limits}.")
    return float(choose.uniform(low, high))


def reset_lighting(house: House) -> None:
    """Restore the original light."""
    house.randomization = Randomization(materials=house.randomization.materials)


ACTIONS: Mapping[str, ActionFunction] = {
    "AddThirdPartyCamera": add,
    "UpdateThirdPartyCamera": update,
    "GetMapViewCameraProperties": map_view,
    "ToggleMapView": toggle_map_view,
    "ChangeFOV": change_fov,
    "RandomizeMaterials": randomize_materials,
    "ResetMaterials": reset_materials,
    "RandomizeLighting": randomize_lighting,
    "ResetLighting": reset_lighting,
    "RandomizeColors": randomize_colors,
    "ResetColors": reset_materials,
}
