"""The ways to evolve a MineDojo task."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from inhabit.envs.minedojo.evolution.scenes import (
    ANIMALS,
    CLUTTER,
    around,
    creatures,
    land,
)
from inhabit.envs.minedojo.evolution.workshop import (
    draw_goal,
    held,
    inventory,
    made_from,
    needed_for,
)
from inhabit.envs.minedojo.expert.topology import FURNACE, TABLE
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
    """Carry what an ingredient is made of instead of it, so that it has to be made."""
    carried = held(scene)
    made = [name for name in sorted(carried) if _is_stuff(name) and made_from(name)]
    if not made:
        return None
    name = rng.choice(made)
    count = carried.pop(name)
    parts = made_from(name)
    for part, each in parts.items():
        carried[part] = carried.get(part, 0) + (1 if part == "coal" else each * count)
    if "coal" in parts:
        carried["cobblestone"] = carried.get("cobblestone", 0) + 8
    return {"initial_inventory": inventory(carried, rng)}


def _more(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    """Want one more, and carry what that needs."""
    if scene.task != "harvest":
        return None
    carried = held(scene)
    for item in scene.target_names:
        for station in (FURNACE, TABLE):
            for name, count in needed_for(item, 1, station).items():
                carried[name] = carried.get(name, 0) + count
    return {
        "target_quantities": {n: c + 1 for n, c in scene.quantities.items()},
        "initial_inventory": inventory(carried, rng),
    }


def _combined(scene: MineDojoScene, rng: random.Random) -> dict[str, object] | None:
    """The goals of two scenes in one, with the inventory of both."""
    other = draw_goal(rng)
    if scene.task != "harvest" or other.task != "harvest":
        return None
    if set(scene.target_names) & set(other.target_names):
        return None
    first, second = held(scene), held(other)
    carried = {n: first.get(n, 0) + second.get(n, 0) for n in {*first, *second}}
    here = {block.offset for block in scene.blocks}
    return {
        "target_names": (*scene.target_names, *other.target_names),
        "target_quantities": {**scene.quantities, **other.quantities},
        "initial_inventory": inventory(carried, rng),
        "blocks": (*scene.blocks, *(b for b in other.blocks if b.offset not in here)),
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
