"""Shortest plans by the recipes, where they can be proven to be shortest.

Two searches run over the inventory and the objects nearby. The pessimistic one assumes minimum
drops, only the blocks that were seen, and that stations stay behind after walking. The optimistic
one assumes maximum drops, unlimited blocks of the kinds seen, and that one look around shows
everything. Every plan of the first is executable if a path exists; every executable plan is a plan
of the second. So if both agree on the length and on the first actions, the result is exact. Blocks
dug on the way to a target are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from inhabit.envs.core import Action
from inhabit.envs.minedojo.expert.topology import FURNACE, TABLE, Acquisition, better, ways
from inhabit.envs.minedojo.luanti.content import FUEL
from inhabit.envs.minedojo.tasks.language import say
from inhabit.envs.minedojo.tasks.scene import MineDojoScene
from inhabit.envs.minedojo.world.game_state import GameState

_MOST = 20_000
"""Maximum number of states per search."""
_LONGEST = 16
"""Maximum number of actions per plan."""
_AWAY = 12.5
"""Distance in blocks at which a station nearby is left behind: 4.2 to reach the target, and 4 on
either side of a station."""
_AROUND = 40.0
"""Radius in blocks within which mobs are hunted."""
_BURNED = ("coal", "log", "log2", "planks", "stick")
"""Items that are collected as fuel."""
_EXPLORE = say("explore")
_NOTHING = (0, 0, False)


@dataclass(frozen=True, slots=True)
class Shortest:
    """What is known about the shortest plans from a state."""

    plan: tuple[Action, ...]
    """One of the shortest plans."""
    best: frozenset[Action]
    """The first actions of all shortest plans."""


@dataclass(frozen=True, slots=True)
class _There:
    """The available resources, as a cache key."""

    held: tuple[tuple[str, int], ...]
    seen: tuple[tuple[str, int, int, bool], ...]
    """Block or mob, number known, number within reach, and whether all are far away."""
    table: bool
    furnace: bool
    heat: int
    """Fuel in halves of one smelting operation."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The effect of an action on the inventory; numbers are indices in the list of items."""

    action: Action
    needs: tuple[tuple[int, int], ...] = ()
    gains: tuple[tuple[int, int], ...] = ()
    tools: tuple[int, ...] = ()
    """Tools of which one must be held; empty for none."""
    station: str | None = None
    source: str | None = None
    """The block or mob that the action consumes."""
    sets_up: str | None = None
    """The station that is nearby afterwards."""


_EXPLORING = _Step(_EXPLORE)


class _State(NamedTuple):
    """A node of the search: a tuple, since most of the time goes into making and hashing them."""

    held: tuple[int, ...]
    left: tuple[int, ...]
    table: bool
    furnace: bool
    heat: int
    moved: bool = False
    """Whether the agent has walked, so that objects may no longer be near."""
    shown: bool = False


def shortest(
    scene: MineDojoScene, first: GameState, now: GameState, findable: frozenset[str]
) -> Shortest | None:
    """The shortest plans from a state; None if they are unknown.

    Args:
        scene: the goal.
        first: the initial state.
        now: this one.
        findable: blocks and mobs that exploration may find.
    """
    there = _there(now)
    if scene.task == "combat":
        return _hunt(scene, now)
    if scene.task == "harvest":
        goal = {n: first.carried.get(n, 0) + count for n, count in scene.quantities.items()}
        return _agreed(tuple(sorted(goal.items())), there, findable)
    item = scene.tech_item
    if scene.task == "techtree" and item and not now.carried.get(item):
        known = _agreed(((item, 1),), there, findable)
        # A held item is used, however it was obtained.
        return known and Shortest((*known.plan, say("use", item)), known.best)
    return None


def _hunt(scene: MineDojoScene, now: GameState) -> Shortest | None:
    """Every kill takes one hunt, which succeeds while a mob is around."""
    plan: list[Action] = []
    for name, count in sorted(scene.quantities.items()):
        wanted = count - now.killed.get(name, 0)
        if wanted > sum(m["name"] == name and m["far"] < _AROUND for m in now.mobs):
            return None
        plan += [say("hunt", name)] * wanted
    return Shortest(tuple(plan), frozenset(plan)) if plan else None


def _there(now: GameState) -> _There:
    seen = [(name, now.counts[name], now.near[name], far > _AWAY)
            for name, far in now.blocks.items()]  # fmt: skip
    around = Counter(str(mob["name"]) for mob in now.mobs if mob["far"] < _AROUND)
    seen += [(name, count, 0, False) for name, count in around.items()]
    return _There(
        held=tuple(sorted(now.carried.items())),
        seen=tuple(sorted(seen)),
        table=bool(now.raw["table_near"]),
        furnace=bool(now.raw["furnace_near"]),
        heat=round(2 * now.raw["heat"]),
    )


@lru_cache(maxsize=256)
def _agreed(
    goal: tuple[tuple[str, int], ...], there: _There, findable: frozenset[str]
) -> Shortest | None:
    seen = frozenset(name for name, *_ in there.seen)
    sure = _Search(goal, there, seen, hopeful=False).run()
    if sure is None:
        return None
    hoped = _Search(goal, there, seen | findable, hopeful=True).run()
    agree = hoped is not None and (len(hoped.plan), hoped.best) == (len(sure.plan), sure.best)
    return sure if agree else None


class _Search:
    """Breadth-first search from a state to the goal."""

    def __init__(
        self,
        goal: tuple[tuple[str, int], ...],
        there: _There,
        sources: frozenset[str],
        *,
        hopeful: bool,
    ) -> None:
        held = dict(there.held)
        self._hopeful = hopeful
        relevant = _relevant([name for name, _ in goal], held, sources)
        self._place = {item: i for i, item in enumerate(sorted(relevant))}
        self._seen = {name: (count, near, away) for name, count, near, away in there.seen}
        self._sources = {name: i for i, name in enumerate(sorted(self._seen))}
        self._goal = [(self._place[name], count) for name, count in goal if name in self._place]
        self._possible = len(self._goal) == len(goal)
        self._steps = sorted(self._all_steps(sources), key=lambda step: step.action.text)
        self._at = {
            (table, furnace): [step for step in self._steps if _fits(step, table, furnace)]
            for table, furnace in product((False, True), repeat=2)
        }
        texts = Counter(step.action.text for step in self._steps)
        self._ambiguous = {text for text, count in texts.items() if count > 1}
        self._fuel = [(self._place[n], round(2 * h)) for n, h in FUEL if n in self._place]
        self._start = _State(
            tuple(held.get(item, 0) for item in sorted(relevant)),
            tuple(self._seen[name][0] for name in sorted(self._seen)),
            there.table,
            there.furnace,
            there.heat,
        )

    def run(self) -> Shortest | None:
        """The shortest plans; None if there are none, or the search grew too large."""
        if not self._possible:
            return None
        layer: dict[_State, frozenset[Action]] = {self._start: frozenset()}
        came: dict[_State, tuple[_State, Action] | None] = {self._start: None}
        for _ in range(_LONGEST):
            following: dict[_State, frozenset[Action]] = {}
            for state, firsts in layer.items():
                for action, after in self._after(state):
                    if after in following or after not in came:
                        begun = firsts or frozenset((action,))
                        following[after] = following.get(after, frozenset()) | begun
                        came.setdefault(after, (state, action))
            if found := [state for state in following if self._reached(state)]:
                best = frozenset().union(*(following[state] for state in found))
                return Shortest(_way_to(found[0], came), best)
            if not following or len(came) > _MOST:
                return None
            layer = following
        return None

    def _reached(self, state: _State) -> bool:
        return all(state.held[place] >= count for place, count in self._goal)

    def _all_steps(self, sources: frozenset[str]) -> Iterator[_Step]:
        merged: dict[tuple[object, ...], tuple[Acquisition, list[tuple[int, int]]]] = {}
        for item in self._place:
            for way in ways().get(item, ()):
                # Shearing leaves requires holding the shears, which is an extra action.
                sheared = way.verb == "mine" and way.tool == "shears"
                there = _source(way) is None or _source(way) in sources
                if there and (self._hopeful or not sheared):
                    key = (way.verb, way.about, tuple(way.needs.items()), way.tool)
                    count = way.most if self._hopeful else way.least
                    merged.setdefault(key, (way, []))[1].append((self._place[item], count))
        for way, gains in merged.values():
            tools = better(way.tool) if way.tool is not None else ()
            if all(name in self._place for name in way.needs):
                yield _Step(
                    say(way.verb, way.about),
                    tuple((self._place[name], count) for name, count in way.needs.items()),
                    tuple(gains),
                    tuple(self._place[tool] for tool in tools if tool in self._place),
                    way.station,
                    _source(way),
                )
        for station in (TABLE, FURNACE):
            if station in self._place:
                needs = ((self._place[station], 1),)
                yield _Step(say("place", station), needs, sets_up=station)
            if station in self._seen:
                yield _Step(say("find", station), source=station, sets_up=station)
        if self._hopeful:
            yield _EXPLORING

    def _after(self, state: _State) -> Iterator[tuple[Action, _State]]:
        """Every possible action with its result."""
        steps = self._at[state.table, state.furnace]
        can = [step for step in steps if self._can(step, state)]
        for step in can:
            # With two possible recipes for an item, the action does not say which is used.
            doubtful = (
                not self._hopeful
                and step.action.text in self._ambiguous
                and sum(s.action == step.action for s in can) > 1
            )
            after = None if doubtful else self._applied(step, state)
            if after is not None:
                yield step.action, after

    def _can(self, step: _Step, state: _State) -> bool:
        if step is _EXPLORING:
            return not state.shown
        held = state.held
        for place, count in step.needs:
            if held[place] < count:
                return False
        if step.tools and not any(held[tool] for tool in step.tools):
            return False
        return step.source is None or self._is_there(step, state)

    def _is_there(self, step: _Step, state: _State) -> bool:
        assert step.source is not None
        if step.source not in self._sources:
            return state.shown
        return self._hopeful or state.left[self._sources[step.source]] > 0

    def _applied(self, step: _Step, state: _State) -> _State | None:
        """The result of a step; None without fuel."""
        if step is _EXPLORING:
            return state._replace(moved=True, shown=True)
        held, left, heat = list(state.held), list(state.left), state.heat
        for place, count in step.needs:
            held[place] -= count
        if step.action.verb == "smelt":
            for place, gives in self._fuel:
                while heat < 2 and held[place]:
                    held[place] -= 1
                    heat += gives
            if heat < 2:
                return None
            heat -= 2
        for place, count in step.gains:
            held[place] += count
        table, furnace, moved = state.table, state.furnace, state.moved
        if step.source is not None and not self._at_hand(step, state):
            if not self._hopeful or (not moved and self._seen.get(step.source, _NOTHING)[2]):
                table = furnace = False
            moved = True
        if step.source in self._sources and step.sets_up is None:
            place = self._sources[step.source]
            left[place] = max(0, left[place] - 1)
        table, furnace = table or step.sets_up == TABLE, furnace or step.sets_up == FURNACE
        return _State(tuple(held), tuple(left), table, furnace, heat, moved, state.shown)

    def _at_hand(self, step: _Step, state: _State) -> bool:
        """Whether it takes no walk from the initial position."""
        assert step.source is not None
        count, near, _ = self._seen.get(step.source, _NOTHING)
        if state.moved or not near:
            return False
        return count - state.left[self._sources[step.source]] < near


def _fits(step: _Step, table: bool, furnace: bool) -> bool:
    """Whether a step is possible, and of use, beside these stations."""
    if (step.station, table) == (TABLE, False) or (step.station, furnace) == (FURNACE, False):
        return False
    return (step.sets_up, table) != (TABLE, True) and (step.sets_up, furnace) != (FURNACE, True)


def _way_to(
    state: _State, came: Mapping[_State, tuple[_State, Action] | None]
) -> tuple[Action, ...]:
    plan: list[Action] = []
    while (step := came[state]) is not None:
        state, action = step
        plan.append(action)
    return tuple(reversed(plan))


def _source(way: Acquisition) -> str | None:
    return way.about if way.verb not in ("craft", "smelt") else None


def _relevant(
    goal: Sequence[str], held: Mapping[str, int], sources: frozenset[str]
) -> frozenset[str]:
    """The relevant items: the goal's ingredients, recursively, that can be obtained."""
    can = _obtainable(frozenset(held), sources)
    found: set[str] = set()
    open_ = [item for item in goal if item in can]
    while open_:
        item = open_.pop()
        if item in found or item not in can:
            continue
        found.add(item)
        for way in ways().get(item, ()):
            if not _possible(way, can, sources):
                continue
            open_ += way.needs
            open_ += better(way.tool) if way.tool is not None else ()
            if way.station is not None:
                open_.append(way.station)
            if way.verb == "smelt":
                open_ += [*_BURNED, *(name for name, _ in FUEL if name in held)]
    return frozenset(found)


@lru_cache(maxsize=256)
def _obtainable(held: frozenset[str], sources: frozenset[str]) -> frozenset[str]:
    """Every item that can be obtained."""
    can, grown = set(held), True
    while grown:
        grown = False
        for item, all_ in ways().items():
            if item not in can and any(_possible(way, can, sources) for way in all_):
                can.add(item)
                grown = True
    return frozenset(can)


def _possible(way: Acquisition, can: frozenset[str] | set[str], sources: frozenset[str]) -> bool:
    source = _source(way)
    if source is not None and source not in sources:
        return False
    if way.tool is not None and not any(tool in can for tool in better(way.tool)):
        return False
    return all(name in can for name in way.needs)
