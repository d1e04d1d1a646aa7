"""What may stand ahead in a scene, and which action is then best: predicted without a simulator.

A goal and an inventory have several views. In each, other stations, blocks and animals stand ahead,
and the recipes make another action best. Only the image shows which view it is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inhabit.envs.core import Action
from inhabit.envs.minedojo.expert.shortest import shortest
from inhabit.envs.minedojo.expert.topology import FURNACE, TABLE, Acquisition, better, ways
from inhabit.envs.minedojo.tasks.language import COMMON
from inhabit.envs.minedojo.tasks.scene import MineDojoScene
from inhabit.envs.minedojo.world.game_state import GameState, Stack

SOURCES = frozenset(
    (
        *("beetroots", "brown_mushroom", "cactus", "carrots", "clay", "coal_ore", "diamond_ore"),
        *("gold_ore", "gravel", "iron_ore", "lapis_ore", "log", "melon_block", "potatoes"),
        *("pumpkin", "red_mushroom", "redstone_ore", "reeds", "sand", "sandstone", "stone", "web"),
        *("wheat", "wool", "planks", "coal_block", "iron_block", "gold_block", "diamond_block"),
        *("redstone_block", "hay_block", "cobblestone", "snow", "bone_block", "bookshelf"),
    )
)
"""Blocks that a view may have to gather from."""
BEASTS = frozenset(("cow", "pig", "sheep", "chicken", "rabbit", "mooshroom", "horse", "llama"))
"""Animals that a view may have."""
STATIONS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    ((), ()), ((), ()), ((TABLE,), ()), ((), (TABLE,)), ((FURNACE,), ()), ((), (FURNACE,)),
    ((TABLE, FURNACE), ()), ((TABLE,), (FURNACE,)), ((FURNACE,), (TABLE,)),
)  # fmt: skip
"""Stations within reach, and farther away."""
_NEAR, _FAR = 2.0, 7.0
"""Distances in blocks of what is within reach, and of what is farther away."""
_VIEWS = 40
"""Views that are tried for one goal and inventory."""
_COUNT = 4
"""Blocks of a kind that can be seen."""
_DEEPEST = 4
"""Steps of recipes that are followed from the goal."""


@dataclass(frozen=True, slots=True)
class AheadView:
    """What stands ahead."""

    near: tuple[str, ...] = ()
    """Stations within reach."""
    far: tuple[str, ...] = ()
    """Stations and blocks that are farther away."""
    beasts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Predicted:
    """A view with its best action."""

    view: AheadView
    answer: Action
    length: int
    """Of the shortest plan, in actions."""


def predictions(scene: MineDojoScene, rng: random.Random, enough: int = 5) -> Sequence[Predicted]:
    """Views of a goal and an inventory in which different actions are best, one for each action.

    Args:
        scene: the goal and the inventory.
        rng: the source of randomness.
        enough: number of actions from which on no more views are tried.
    """
    found: dict[str, Predicted] = {}
    for view in _views(scene, rng):
        if len(found) >= enough:
            break
        known = predicted(scene, view)
        if known is not None and known.answer.arguments:
            found.setdefault(known.answer.text, known)
    return list(found.values())


def predicted(scene: MineDojoScene, view: AheadView) -> Predicted | None:
    """The best action of a view; None if it is not certain, or several are equally good."""
    now = _state(scene, view)
    known = shortest(scene, now, now, frozenset((*COMMON, *view.far)))
    if known is None or len(known.best) != 1:
        return None
    return Predicted(view, next(iter(known.best)), len(known.plan))


def clutter(scene: MineDojoScene) -> Sequence[str]:
    """Kinds of placed blocks that are of no use for the goal."""
    used, _, _ = useful(scene)
    kinds = dict.fromkeys(block.name for block in scene.blocks)
    return [k for k in kinds if k in SOURCES and k not in used and not _is_fuel(k)]


def _is_fuel(kind: str) -> bool:
    return kind in ("log", "coal_ore", "coal_block", "planks")


def _views(scene: MineDojoScene, rng: random.Random) -> Iterator[AheadView]:
    blocks, beasts, stations = useful(scene)
    others = [b for b in sorted(BEASTS) if b not in beasts]
    sets: list[tuple[tuple[str, ...], tuple[str, ...]]] = [((), ()), ((), ())]
    sets += [((block,), ()) for block in blocks] + [((), (beast,)) for beast in beasts]
    places = [p for p in STATIONS if {*p[0], *p[1]} <= stations]
    pairs = [(place, what) for place in dict.fromkeys(places) for what in dict.fromkeys(sets)]
    for (near, far), (kinds, wanted) in rng.sample(pairs, min(len(pairs), _VIEWS)):
        # An animal of no use stands in some views where none of use does.
        stray = rng.sample(others, 1) if beasts and not wanted and rng.random() < 0.7 else ()
        yield AheadView(near, (*far, *kinds), (*wanted, *stray))


def useful(scene: MineDojoScene) -> tuple[Sequence[str], Sequence[str], frozenset[str]]:
    """Blocks, animals and stations that a plan for the goal may use, in a fixed order."""
    held = {item.name for item in scene.initial_inventory}
    open_ = [*scene.target_names] or [str(scene.tech_item)]
    passed: set[str] = set()
    blocks: dict[str, None] = {}
    beasts: dict[str, None] = {}
    stations: set[str] = set()
    for _ in range(_DEEPEST):
        following: list[str] = []
        for item in open_:
            if item in passed:
                continue
            passed.add(item)
            for way in ways().get(item, ()):
                if not _is_certain(way, held):
                    continue
                if way.about in SOURCES and way.verb in ("mine", "collect"):
                    blocks[way.about] = None
                elif way.about in BEASTS and way.verb in ("hunt", "milk", "shear"):
                    beasts[way.about] = None
                if way.station is not None:
                    stations.add(way.station)
                    following.append(way.station)
                following += sorted(way.needs)
        open_ = following
    return list(blocks), list(beasts), frozenset(stations)


def _is_certain(way: Acquisition, held: set[str]) -> bool:
    """Whether it always yields something, with the tools that are held."""
    if way.verb in ("craft", "smelt"):
        return True
    return way.least >= 1 and (way.tool is None or not held.isdisjoint(better(way.tool)))


def _state(scene: MineDojoScene, view: AheadView) -> GameState:
    stacks = [Stack(i.name, i.variant, i.quantity, -1, -1) for i in scene.initial_inventory]
    raw = {
        "table_near": TABLE in view.near,
        "furnace_near": FURNACE in view.near,
        "heat": 0,
        "food": 20,
        "life": 20,
    }
    far = dict.fromkeys(view.near, _NEAR) | dict.fromkeys(view.far, _FAR)
    return GameState(
        raw=raw,
        inventory=stacks,
        equipment=[Stack("air", 0, 0, -1, -1)] * 6,
        killed={},
        used={},
        blocks=far,
        counts={name: 1 if name in (TABLE, FURNACE) else _COUNT for name in far},
        near={name: int(name in view.near) for name in far},
        mobs=[{"name": name, "far": _FAR} for name in view.beasts],
    )
