"""ALFRED's seven goals: their conditions, and which of them hold.

The counting is that of ALFRED's own evaluation (Shridhar et al. 2020, `env/tasks.py`), with two
differences. Types are compared as whole words, so a pencil is not a pen. An object on a plate in
the sink is in the sink, which THOR 2.1 derived from its colliders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from inhabit.envs.alfred.scenes.counterparts import SLICED
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.simulators.household.types.things import BASINS


@dataclass(frozen=True, slots=True)
class History:
    """Ids of the objects treated since the start. ALFRED judges a treatment by past actions."""

    heated: frozenset[str] = frozenset()
    cooled: frozenset[str] = frozenset()
    cleaned: frozenset[str] = frozenset()

    def after(self, action: str, object_id: str, world: ThorObjects) -> History:
        """The history after THOR's `action` on an object succeeded; `world` is the state after
        it.
        """
        thing = world.get(object_id)
        if thing is None:
            return self
        if action == "ToggleObjectOn" and thing.type == "Microwave":
            return History(self.heated | world.inside(thing), self.cooled, self.cleaned)
        if action == "CloseObject" and thing.type == "Fridge":
            return History(self.heated, self.cooled | world.inside(thing), self.cleaned)
        if action == "ToggleObjectOn" and thing.type == "Faucet":
            basin = basin_of(thing, world)
            washed = world.inside(basin) if basin is not None else frozenset()
            return History(self.heated, self.cooled, self.cleaned | washed)
        return self


def basin_of(faucet: ThorObject, world: ThorObjects) -> ThorObject | None:
    """The nearest basin, into which a faucet's water runs."""

    def gap(basin: ThorObject) -> tuple[float, str]:
        return basin.reach(faucet.position[0], faucet.position[2]), basin.id

    return min(world.of_type(*BASINS.values()), key=gap, default=None)


def is_wanted(thing: ThorObject, goal: AlfredGoal) -> bool:
    """Whether an object is of the target type."""
    if not thing.pickupable:
        return False
    if goal.sliced:
        return thing.type == f"{goal.object}{SLICED}"
    return thing.type in (goal.object, f"{goal.object}{SLICED}")


def conditions(goal: AlfredGoal, world: ThorObjects, history: History) -> tuple[int, int]:
    """The number of conditions that hold, and their total."""
    wanted = [thing for thing in world if is_wanted(thing, goal)]
    case = _Case(goal, world, history, wanted)
    met, total = _CONDITIONS[goal.type](case)
    if goal.sliced:
        slices = 2 if goal.type == "pick_two_obj_and_place" else 1
        return met + min(len(wanted), slices), total + slices
    return met, total


def treated(goal: AlfredGoal, history: History) -> frozenset[str]:
    """Ids of the objects with the goal's treatment."""
    return {
        "pick_heat_then_place_in_recep": history.heated,
        "pick_cool_then_place_in_recep": history.cooled,
        "pick_clean_then_place_in_recep": history.cleaned,
    }.get(goal.type, frozenset())


@dataclass(frozen=True, slots=True)
class _Case:
    goal: AlfredGoal
    world: ThorObjects
    history: History
    wanted: Sequence[ThorObject]

    @property
    def places(self) -> Sequence[ThorObject]:
        """The goal's receptacles."""
        return [t for t in self.world if t.receptacle and t.type == self.goal.parent]

    def placed(self, things: Sequence[ThorObject], places: Sequence[ThorObject]) -> set[str]:
        """Ids of the objects among `things` that are in or on one of `places`."""
        inside = frozenset[str]().union(*(self.world.inside(place) for place in places))
        return {thing.id for thing in things if thing.id in inside}


def _simple(case: _Case) -> tuple[int, int]:
    return int(bool(case.placed(case.wanted, case.places))), 1


def _two(case: _Case) -> tuple[int, int]:
    """Both objects must be in the same receptacle."""
    return min(max((len(case.placed(case.wanted, [p])) for p in case.places), default=0), 2), 2


def _look(case: _Case) -> tuple[int, int]:
    held = any(thing.held for thing in case.wanted)
    lit = any(lamp.on and lamp.visible for lamp in case.world.of_type(str(case.goal.toggle)))
    return held + lit, 2


def _treated(case: _Case) -> tuple[int, int]:
    """In place; treated; and both for the same object."""
    placed = case.placed(case.wanted, case.places)
    ready = {thing.id for thing in case.wanted} & treated(case.goal, case.history)
    return bool(placed) + bool(ready) + bool(placed & ready), 3


def _movable(case: _Case) -> tuple[int, int]:
    """A target in a movable receptacle; a movable receptacle in place; both for the same one."""
    movables = [t for t in case.world.of_type(str(case.goal.movable)) if t.pickupable]
    loaded = {m.id for m in movables if case.placed(case.wanted, [m])}
    placed = case.placed(movables, case.places)
    return bool(loaded) + bool(placed) + bool(loaded & placed), 3


_CONDITIONS: Mapping[str, Callable[[_Case], tuple[int, int]]] = {
    "pick_and_place_simple": _simple,
    "pick_two_obj_and_place": _two,
    "look_at_obj_in_light": _look,
    "pick_clean_then_place_in_recep": _treated,
    "pick_heat_then_place_in_recep": _treated,
    "pick_cool_then_place_in_recep": _treated,
    "pick_and_place_with_movable_recep": _movable,
}
