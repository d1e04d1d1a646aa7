"""The ways to evolve a MineDojo task."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from inhabit.envs.minedojo.evolution.scenes import (
    ANIMALS,
    CLUTTER,
    around,
    creatures,
    draw_scene,
    land,
)
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.scene import MineDojoScene

_MOST_MOBS = 8
_FAR = 30


def changed(scene: MineDojoScene, change: str, rng: random.Random) -> MineDojoScene | None:
    """The changed scene; None if the change is not possible."""
    fields = _CHANGES[change](scene, rng)
    return None if fields is None else MineDojoScene.model_validate({**dict(scene), **fields})


def _another_land(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    return land(rng)


def _another_hour(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    return {
        "start_time": rng.randrange(0, 13_000),
        "initial_weather": rng.choice(("clear", "rain", "thunder")),
    }


def _distractors(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    here = {block.offset for block in scene.blocks}
    more = [b for b in around(rng.sample(CLUTTER, 3), rng) if b.offset not in here]
    who = [*scene.initial_mobs, *rng.sample(ANIMALS, 2)]
    if len(who) > _MOST_MOBS or len(more) + len(here) > _FAR * 4:
        return None
    return {"blocks": (*scene.blocks, *more), **creatures(who)}


def _emptier(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    """Remove one item of a stack, so that more has to be gathered or made."""
    stacks = [one for one in scene.initial_inventory if _is_stuff(one.name)]
    if not stacks:
        return None
    less = rng.choice(stacks)
    left = [
        one.model_copy(update={"quantity": one.quantity - 1}) if one == less else one
        for one in scene.initial_inventory
    ]
    return {"initial_inventory": tuple(one for one in left if one.quantity)}


def _more(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    if scene.task != "harvest":
        return None
    return {"target_quantities": {n: c + 1 for n, c in scene.quantities.items()}}


def _combined(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    """The goals of two scenes in one, with the inventory of both."""
    other = draw_scene(rng)
    if scene.task != "harvest" or other.task != "harvest":
        return None
    if set(scene.target_names) & set(other.target_names):
        return None
    held = {one.name: one for one in (*other.initial_inventory, *scene.initial_inventory)}
    here = {block.offset for block in scene.blocks}
    return {
        "target_names": (*scene.target_names, *other.target_names),
        "target_quantities": {**scene.quantities, **other.quantities},
        "initial_inventory": tuple(
            one.model_copy(update={"slot": slot}) for slot, one in enumerate(held.values())
        ),
        "blocks": (*scene.blocks, *(b for b in other.blocks if b.offset not in here)),
        **creatures(sorted({*scene.initial_mobs, *other.initial_mobs})),
    }


def _is_stuff(name: str) -> bool:
    about = content()["items"].get(name, {})
    return not ("tool" in about or "slot" in about)


_CHANGES: Mapping[str, Callable[[MineDojoScene, random.Random], dict[str, object] | None]] = {
    "another land": _another_land,
    "another hour": _another_hour,
    "distractors": _distractors,
    "emptier hands": _emptier,
    "more of it": _more,
    "combined goals": _combined,
}
CHANGES: tuple[str, ...] = tuple(_CHANGES)
"""Name of a change -> the function that makes it."""
HARDER = frozenset({"emptier hands", "more of it", "combined goals"})
"""Changes after which more has to be done."""
