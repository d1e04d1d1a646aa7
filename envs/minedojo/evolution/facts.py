"""The objects of a MineDojo scene in the form common to all environments.

A kind of block is one object, "log", whatever the number of blocks; every mob, "cow_3", and every
carried item, "log_0", is an object of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from inhabit.envs.core import SceneObject
from inhabit.envs.minedojo.luanti.game import BAR, FOV
from inhabit.envs.minedojo.world.game_state import Backend, GameState

STATES: Mapping[str, tuple[str, str]] = {"shorn": ("shorn", "woolly")}
"""State of a mob -> adjectives for "holds" and "does not hold"."""
_IN_HAND = 0.02
"""Approximate share of the image that a held item covers."""
_ACROSS, _DOWN = 48, 30
"""Rays over the image, each of which stands for its share of the pixels."""
_WIDEST, _TALLEST = 1.6, 1.4
"""Luanti widens the view of windows narrower than 16:10 by the square root of the ratio, up to
this."""


@dataclass(frozen=True, slots=True)
class PixelView:
    """Approximate number of pixels of each block and mob in the image."""

    hand: int
    blocks: Mapping[str, int]
    mobs: Mapping[int, int]


def look(world: Backend, width: int, height: int) -> PixelView:
    """Estimate what the current image shows, by ray casting.

    Args:
        world: as it is now.
        width: of the image, in pixels.
        height: likewise.
    """
    window = height + 2 * BAR
    wider = min(_TALLEST, max(1.0, math.sqrt(_WIDEST * window / width)))
    half = math.tan(math.radians(FOV) * wider / 2)
    seen = world.ask(
        "view", across=_ACROSS, down=_DOWN, wide=half * width / window, high=half * height / window
    )
    each = width * height / (_ACROSS * _DOWN)
    return PixelView(
        round(_IN_HAND * width * height),
        {name: round(rays * each) for name, rays in (seen["blocks"] or {}).items()},
        {int(mob["id"]): round(mob["rays"] * each) for mob in seen["mobs"] or ()},
    )


def things(now: GameState, view: PixelView) -> tuple[SceneObject, ...]:
    """Every known object, in a fixed order.

    Args:
        now: the current state.
        view: what the image of it shows.
    """
    stations = [
        name
        for name, near in (("crafting_table", "table_near"), ("furnace", "furnace_near"))
        if now.raw[near]
    ]
    blocks = sorted({*now.blocks, *view.blocks, *stations})
    hand = now.equipment[0].name if now.equipment[0].quantity else None
    return (
        *(SceneObject(name, plain(name), {}, pixels=view.blocks.get(name, 0)) for name in blocks),
        *(
            SceneObject(
                f"{mob['name']}_{int(mob['id'])}",
                plain(str(mob["name"])),
                {"shorn": bool(mob["shorn"])} if mob["name"] == "sheep" else {},
                pixels=view.mobs.get(int(mob["id"]), 0),
            )
            for mob in now.mobs
        ),
        *(_carried(name, name == hand, view) for name in sorted(now.carried)),
    )


def _carried(name: str, held: bool, view: PixelView) -> SceneObject:
    return SceneObject(f"{name}_0", plain(name), {}, held=held, pixels=view.hand if held else 0)


def plain(name: str) -> str:
    """A name in English: "crafting table"."""
    return name.replace("_", " ")
