"""The objects of a toy house in the form common to all environments."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.core import SceneObject
from inhabit.envs.toy.house import CONTAINERS, HAND, OPENABLE, ToyHouse
from inhabit.envs.toy.picture import shown


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
