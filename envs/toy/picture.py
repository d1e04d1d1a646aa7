"""Draws the current room from above, in rectangles, and tells what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import SceneObject
from inhabit.envs.toy.house import CONTAINERS, HAND, ITEMS, OPENABLE, ROOMS, ToyHouse

_FLOOR = {"kitchen": (222, 214, 196), "hall": (201, 186, 158), "bedroom": (188, 198, 214)}
_CONTAINER = {"fridge": (236, 240, 242), "shelf": (150, 108, 66), "chest": (120, 74, 46)}
_ITEM = {
    "apple": (204, 52, 44),
    "ball": (44, 106, 204),
    "book": (54, 140, 84),
    "cup": (240, 180, 40),
}
_INSIDE = (58, 50, 44)
_WALL = (92, 88, 84)
_N = 16
"""Cells along each side; a cell is scaled up to pixels."""


def draw(house: ToyHouse, pixels: int) -> NDArray[np.uint8]:
    """The image, uint8 (pixels, pixels, 3): walls, doors, container, visible items and hand."""
    cells = np.empty((_N, _N, 3), np.uint8)
    cells[:] = _WALL
    cells[1:-1, 1:-1] = _FLOOR[house.room]
    i = ROOMS.index(house.room)
    if i > 0:
        cells[6:10, 0] = _FLOOR[ROOMS[i - 1]]
    if i < len(ROOMS) - 1:
        cells[6:10, -1] = _FLOOR[ROOMS[i + 1]]
    visible = house.visible()
    for container, room in CONTAINERS.items():
        if room == house.room:
            cells[1:5, 3:13] = _CONTAINER[container]
            if house.is_open(container):
                cells[2:5, 4:12] = _INSIDE
    for item, place in zip(house.items, house.places, strict=True):
        k = ITEMS.index(item)
        if place == HAND:
            cells[13:15, 7:9] = _ITEM[item]
        elif item in visible:
            row = 3 if place in CONTAINERS else 8
            column = 4 + 2 * k if place in CONTAINERS else 3 + 3 * k
            cells[row : row + 2, column : column + 2] = _ITEM[item]
    rows = np.arange(pixels) * _N // pixels
    return np.ascontiguousarray(cells[rows][:, rows])


def shown(house: ToyHouse, pixels: int) -> Mapping[str, int]:
    """The number of pixels of `draw(house, pixels)` that show each container and item, by
    colour.
    """
    picture = draw(house, pixels)
    return {
        name: int((picture == np.array(colour, np.uint8)).all(axis=2).sum())
        for name, colour in {**_CONTAINER, **_ITEM}.items()
    }


def things(house: ToyHouse, pixels: int) -> Sequence[SceneObject]:
    """Containers, then items, with their pixels in an image of side `pixels`."""
    seen = shown(house, pixels)
    found = [
        SceneObject(
            name=container,
            kind=container,
            states={"open": container in house.open} if container in OPENABLE else {},
            pixels=seen[container],
        )
        for container in CONTAINERS
    ]
    for item, place in zip(house.items, house.places, strict=True):
        support = place if place in CONTAINERS else None
        found.append(
            SceneObject(
                name=item,
                kind=item,
                states={},
                support=support,
                inside=support is not None,
                held=place == HAND,
                pixels=seen[item],
            )
        )
    return found
