"""What is true of the toy house, in the form that every environment has for it."""

from __future__ import annotations

from collections.abc import Sequence

from envs.core import Thing
from envs.toy.house import CONTAINERS, HAND, OPENABLE, House
from envs.toy.picture import shown


def things(house: House, pixels: int) -> Sequence[Thing]:
    """Containers, then items; `pixels` is the side of the picture that they are counted in."""
    seen = shown(house, pixels)
    found = [
        Thing(
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
            Thing(
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
