"""MineDojo's success criteria and rewards, from the first and the current state."""

from __future__ import annotations

from collections.abc import Mapping

from inhabit.envs.minedojo.tasks.scene import MineDojoScene
from inhabit.envs.minedojo.world.game_state import GameState

_OBTAIN, _USE = 1.0, 10.0
"""MineDojo's reward weights of a tech item: for obtaining and for using it."""


def conditions(scene: MineDojoScene, first: GameState, now: GameState) -> tuple[int, int]:
    """The number of goal conditions that hold, and their total (>= 1).

    harvest: a number of each target gained since the start; combat: a number killed; techtree: the
    item was used; survival: a condition for each day. Open-ended and creative tasks have a single
    condition that nothing here can judge.
    """
    wanted = scene.quantities
    if scene.task == "harvest":
        gained = {name: now.carried.get(name, 0) - first.carried.get(name, 0) for name in wanted}
        return _sum(gained, wanted), sum(wanted.values())
    if scene.task == "combat":
        return _sum(now.killed, wanted), sum(wanted.values())
    if scene.task == "techtree" and scene.tech_item:
        had = now.carried.get(scene.tech_item, 0) > 0 or bool(now.used.get(scene.tech_item))
        return int(had) + int(bool(now.used.get(scene.tech_item))), 2
    if scene.task == "survival" and scene.target_days:
        return min(int(now.raw["days"]), scene.target_days), scene.target_days
    return 0, 1


def reward(scene: MineDojoScene, before: GameState, now: GameState) -> float:
    """MineDojo's reward of a step: the weighted progress since `before`."""
    weights = scene.reward_weights
    names = scene.target_names

    def weight(name: str) -> float:
        return weights.get(name, 0.0) if isinstance(weights, Mapping) else weights

    if scene.task == "harvest":
        return sum(weight(n) * (now.carried.get(n, 0) - before.carried.get(n, 0)) for n in names)
    if scene.task == "combat":
        return sum(weight(n) * (now.killed.get(n, 0) - before.killed.get(n, 0)) for n in names)
    if scene.task == "techtree" and (item := scene.tech_item):
        gained = max(0, now.carried.get(item, 0) - before.carried.get(item, 0))
        return _OBTAIN * gained + _USE * (now.used.get(item, 0) - before.used.get(item, 0))
    if scene.task == "survival":
        return float(int(now.raw["days"]) - int(before.raw["days"]))
    return 0.0


def _sum(have: Mapping[str, int], wanted: Mapping[str, int]) -> int:
    return sum(max(0, min(have.get(name, 0), count)) for name, count in wanted.items())
