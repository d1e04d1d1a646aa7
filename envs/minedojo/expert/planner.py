"""Plans a task by the recipes: ingredients first, with the right tools and stations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from inhabit.envs.core import Action
from inhabit.envs.minedojo.expert.topology import (
    FURNACE,
    TABLE,
    Acquisition,
    better,
    cheapest,
    costs,
)
from inhabit.envs.minedojo.luanti.content import content
from inhabit.envs.minedojo.tasks.language import gathers, say
from inhabit.envs.minedojo.tasks.scene import MineDojoScene
from inhabit.envs.minedojo.world.game_state import GameState

_DEEPEST = 40
"""Maximum depth of ingredients in a plan."""
_FUEL = (("coal", 8.0), ("planks", 1.5), ("log", 1.5), ("log2", 1.5))
_REACH, _ARM = 4.6, 5.0
_TIRED, _HUNGRY = 8.0, 14.0
_ROAMING = {
    "plains": ("cow", "pig", "sheep", "chicken", "horse"),
    "forest": ("cow", "pig", "sheep", "chicken", "wolf"),
    "taiga": ("wolf", "rabbit", "sheep", "cow"),
    "jungle": ("chicken", "pig", "cow"),
    "desert": ("rabbit",),
    "savanna": ("horse", "llama", "cow", "sheep"),
    "swampland": ("cow", "pig", "chicken", "slime"),
    "extreme_hills": ("cow", "sheep", "pig", "llama"),
    "ice_plains": ("rabbit",),
    "ocean": ("squid",),
    "mushroom_island": ("mooshroom",),
    "nether": ("zombie_pigman",),
    "the_end": ("enderman",),
}
"""Biome look -> the mobs that spawn there, as in `mobs.lua`."""


class _NoWayError(Exception):
    """Something cannot be obtained here."""


@dataclass(slots=True)
class _Draft:
    """A plan under construction, with the inventory after its steps."""

    held: dict[str, float]
    table: bool
    furnace: bool
    heat: float
    best: Mapping[str, Acquisition]
    reached: frozenset[str]
    """Blocks and mobs within reach now."""
    mobs: frozenset[str]
    """Mobs that can be found."""
    hand: str
    """The held item."""
    actions: list[Action] = field(default_factory=list)

    def find(self, name: str) -> None:
        """Go there unless the agent is there already."""
        if self.actions or name not in self.reached:
            self.move()
            self.do("find", name)

    def do(self, verb: str, *about: str) -> None:
        self.actions.append(say(verb, *about))

    def move(self) -> None:
        """Moving away picks up the stations that were placed."""
        for name, here in ((TABLE, self.table), (FURNACE, self.furnace)):
            if here and (name == TABLE or self.tool("wooden_pickaxe")):
                self.do("mine", name)
                self.held[name] = self.held.get(name, 0) + 1
        self.table = self.furnace = False

    def tool(self, least: str) -> bool:
        return any(self.held.get(one, 0) >= 1 for one in better(least))

    def obtain(self, item: str, count: float, depth: int = 0) -> None:
        """Extend the plan to obtain a number of an item; the inventory counts."""
        while self.held.get(item, 0) < count - 1e-9:
            if depth > _DEEPEST or item not in self.best:
                raise _NoWayError(item)
            way = self.best[item]
            if way.tool is not None and not self.tool(way.tool):
                self.obtain(way.tool, 1, depth + 1)
            missing = count - self.held.get(item, 0)
            times = math.ceil(missing / max(1.0, math.floor(way.yields)))
            for name, each in sorted(way.needs.items(), key=lambda n: (n[0] != "log", n[0])):
                self.obtain(name, each * times, depth + 1)
            # Obtaining one item may have used up another.
            if any(self.held.get(n, 0) < each for n, each in way.needs.items()):
                continue
            if way.verb == "smelt":
                self._fuel(times, depth)
            if way.station is not None:
                self._station(way.station, depth)
            if any(self.held.get(n, 0) < each for n, each in way.needs.items()):
                continue
            self._apply(item, way)

    def _apply(self, item: str, way: Acquisition) -> None:
        if gathers(way.verb):
            self.find(way.about)
        if way.verb == "smelt":
            self._burn()
        shears = way.verb == "mine" and way.tool == "shears"
        if shears and self.hand != "shears":
            self.do("equip", "shears")
        self.hand = "shears" if shears else ""
        self.do(way.verb, way.about)
        for name, each in way.needs.items():
            self.held[name] -= each
        self.held[item] = self.held.get(item, 0) + max(1.0, math.floor(way.yields))

    def _station(self, name: str, depth: int) -> None:
        if self.table if name == TABLE else self.furnace:
            return
        self.obtain(name, 1, depth + 1)
        self.do("place", name)
        self.held[name] -= 1
        self.table, self.furnace = self.table or name == TABLE, self.furnace or name == FURNACE

    def _fuel(self, times: int, depth: int) -> None:
        if self.heat + self.held.get("coal", 0) * 8 >= times:
            return
        if "coal" in self.best and self.best["coal"].verb == "mine":
            self.obtain("coal", math.ceil((times - self.heat) / 8), depth + 1)
        else:
            wood = "planks" if "planks" in self.best else "log"
            need = math.ceil((times - self.heat) / 1.5)
            self.obtain(wood, self.held.get(wood, 0) + need, depth + 1)

    def _burn(self) -> None:
        while self.heat < 1:
            name, heat = next((f for f in _FUEL if self.held.get(f[0], 0) >= 1), ("", 1.0))
            if name:
                self.held[name] -= 1
            self.heat += heat
        self.heat -= 1


def plan(
    scene: MineDojoScene, first: GameState, now: GameState, ground: frozenset[str]
) -> Sequence[Action]:
    """A plan from the current state; empty if there is none.

    Args:
        scene: the goal.
        first: the initial state.
        now: this one.
        ground: blocks that stand around here, seen or not. Privileged.
    """
    mobs = mobs_around(scene, now)
    cost = costs(ground, mobs)
    draft = _Draft(
        held={name: float(count) for name, count in now.carried.items()},
        table=bool(now.raw["table_near"]),
        furnace=bool(now.raw["furnace_near"]),
        heat=float(now.raw["heat"]),
        best=cheapest(cost, ground, mobs),
        reached=_reached(now),
        mobs=mobs,
        hand=now.equipment[0].name,
    )
    try:
        _aim(draft, scene, first, now)
    except _NoWayError:
        return ()
    return draft.actions


def mobs_around(scene: MineDojoScene, now: GameState) -> frozenset[str]:
    """The mobs that are here or spawn eventually."""
    here = {str(mob["name"]) for mob in now.mobs}
    if scene.allow_mob_spawn:
        here |= set(_ROAMING[str(now.raw["looks"])])
    return frozenset(here)


def recovers(now: GameState) -> bool:
    """Whether the plan eats first, if there is food."""
    return bool(now.raw["food"] <= _HUNGRY or (now.raw["life"] < _TIRED and now.raw["food"] < 20))


def _reached(now: GameState) -> frozenset[str]:
    blocks = {name for name, far in now.blocks.items() if far < _REACH}
    return frozenset(blocks | {str(mob["name"]) for mob in now.mobs if mob["far"] < _ARM})


def _aim(draft: _Draft, scene: MineDojoScene, first: GameState, now: GameState) -> None:
    _recover(draft, now)
    if scene.task == "harvest":
        wanted = {n: first.carried.get(n, 0) + count for n, count in scene.quantities.items()}
        for name in [*wanted] * len(wanted):  # One may be made of another, which is used up then.
            draft.obtain(name, wanted[name])
    elif scene.task == "combat":
        for name, count in scene.quantities.items():
            if name not in draft.mobs and now.killed.get(name, 0) < count:
                raise _NoWayError(name)
            for _ in range(count - now.killed.get(name, 0)):
                draft.find(name)
                draft.do("hunt", name)
    elif scene.task == "techtree" and scene.tech_item:
        draft.obtain(scene.tech_item, 1)
        draft.do("use", scene.tech_item)
    elif scene.task == "survival" and scene.target_days:
        night = 12541 < now.raw["time"] < 23458
        draft.do("sleep" if night and draft.held.get("bed") else "wait")


def _recover(draft: _Draft, now: GameState) -> None:
    """Eat as long as it helps."""
    if not recovers(now):
        return
    foods = content()["items"]
    held = [n for n in sorted(draft.held) if "food" in foods.get(n, {}) and draft.held[n] >= 1]
    if held:
        draft.do("eat", max(held, key=lambda name: foods[name]["food"]["points"]))
