"""Builds the views of a goal and an inventory as scenes that only their images tell apart."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

from inhabit.envs.minedojo.evolution.crossing import crossed
from inhabit.envs.minedojo.evolution.views import AheadView, clutter, predictions
from inhabit.envs.minedojo.expert.topology import FURNACE, TABLE
from inhabit.envs.minedojo.tasks.scene import MineDojoScene, PlacedBlock

LEAST = 3
"""Views of a group."""
_NEAR = ((-1, 2), (1, 2), (0, 3))
_FAR = ((-3, 7), (0, 7), (3, 8), (-2, 8), (2, 7))
_SIDES = ((-5, 9), (5, 9), (-6, 8), (6, 8))
"""Columns, in blocks to the right and ahead: within reach, out of reach, and at the sides."""
_BEAST = (2, 5)
"""Where an animal stands: to the left or to the right, and ahead."""
_LOOKS = (
    "blocks", "initial_mobs", "initial_mob_spawn_range_low", "initial_mob_spawn_range_high"
)  # fmt: skip
"""Fields in which the scenes of one goal differ."""


def views(scene: MineDojoScene, count: int, rng: random.Random) -> Sequence[MineDojoScene]:
    """Scenes with the goal, inventory and land of another one, each with its own best action.

    Args:
        scene: whose placed blocks and animals give way; kinds of no use stay, at the sides.
        count: number of scenes, at most.
        rng: the source of randomness.
    """
    known = predictions(scene, rng)
    if len(known) < LEAST:
        return []
    chosen = rng.sample(known, min(count, len(known)))
    sides = _sides(clutter(scene), rng)
    return [_placed(scene, one.view, sides, rng) for one in chosen]


def crossed_scenes(scene: MineDojoScene, rng: random.Random) -> Sequence[tuple[MineDojoScene, ...]]:
    """For each of two goals, scenes in which it has another best action; empty if there are none.

    Args:
        scene: with one of the goals; as for `views`.
        rng: the source of randomness.
    """
    found = crossed(scene, rng)
    if found is None:
        return ()
    goals, views = found
    sides = _sides([kind for kind in clutter(goals[0]) if kind in clutter(goals[1])], rng)
    placed = [_placed(goals[0], view, sides, rng) for view in views]
    looks = [{name: getattr(one, name) for name in _LOOKS} for one in placed]
    return [tuple(goal.model_copy(update=look) for look in looks) for goal in goals]


def _sides(kinds: Sequence[str], rng: random.Random) -> Sequence[tuple[str, tuple[int, int]]]:
    """What stands aside, and where."""
    aside = rng.sample([*kinds], min(len(kinds), len(_SIDES)))
    return list(zip(aside, rng.sample(_SIDES, len(aside)), strict=True))


def steps(scene: MineDojoScene) -> int | None:
    """The length of the plan where the wanted things stand out of reach; None if unknown."""
    known = predictions(scene, random.Random(0))
    return max((one.length for one in known), default=None)


def _placed(
    scene: MineDojoScene,
    view: AheadView,
    sides: Sequence[tuple[str, tuple[int, int]]],
    rng: random.Random,
) -> MineDojoScene:
    columns = [
        *zip(view.near, rng.sample(_NEAR, len(view.near)), strict=True),
        *zip(view.far, rng.sample(_FAR, len(view.far)), strict=True),
        *sides,
    ]
    blocks = {block.offset: block for kind, spot in columns for block in _column(kind, spot, scene)}
    aside, ahead = _turned(rng.choice((-1, 1)) * _BEAST[0], _BEAST[1], scene)
    place = (float(aside), 1.0, float(ahead))
    beasts: dict[str, object] = {"initial_mobs": view.beasts}
    if view.beasts:
        beasts |= {"initial_mob_spawn_range_low": place, "initial_mob_spawn_range_high": place}
    fields = {**dict(scene), "blocks": tuple(blocks.values()), **beasts}
    return MineDojoScene.model_validate(fields)


def _column(kind: str, spot: tuple[int, int], scene: MineDojoScene) -> Iterator[PlacedBlock]:
    """The blocks of a kind at a place: a station alone, a trunk, or a heap."""
    right, ahead = spot
    heap = kind not in (TABLE, FURNACE)
    heights = (-1, 0, 1, 2) if kind == "log" else (-1, 0)
    for lane in (right, right + 1) if heap and kind != "log" else (right,):
        east, south = _turned(lane, ahead, scene)
        for up in heights if heap else (0,):
            yield PlacedBlock(name=kind, offset=(east, up, south))


def _turned(right: int, ahead: int, scene: MineDojoScene) -> tuple[int, int]:
    """Blocks east and south, for blocks to the right and ahead."""
    yaw = math.radians(scene.start_yaw or 0.0)
    east, south = -round(math.sin(yaw)), round(math.cos(yaw))
    return ahead * east - right * south, ahead * south + right * east
