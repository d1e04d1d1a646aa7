"""ALFRED's seven goals: their conditions, and which of them hold.

The counting is that of ALFRED's own evaluation (Shridhar et al. 2020, `env/tasks.py`), with two
differences. Types are compared as whole words, so a pencil is not a pen. An object on a plate in
the sink is in the sink, which THOR 2.1 derived from its colliders.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from inhabit.envs.alfred.language.verbs import BY_NAME as VERBS
from inhabit.envs.alfred.scenes.counterparts import SLICED
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.world.kinds import TREATMENTS, Treatment
from inhabit.envs.simulators.household.types.things import BASINS


@dataclass(frozen=True, slots=True)
class History:
    """Ids of the objects treated since the start. ALFRED judges a treatment by past actions."""

    treated: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By the treatment's name."""

    def of(self, treatment: Treatment | None) -> frozenset[str]:
        """Ids of the objects that had a treatment."""
        return frozenset() if treatment is None else self.treated.get(treatment.name, frozenset())

    def after(self, action: str, object_id: str, world: ThorObjects) -> History:
        """The history after THOR's `action` on an object succeeded; `world` is the state after
        it.
        """
        thing = world.get(object_id)
        for one in TREATMENTS:
            if thing is None or thing.type != one.by or action != VERBS[one.verb].asks:
                continue
            place = thing if one.by in one.inside else basin_of(thing, world)
            inside = world.inside(place) if place is not None else frozenset()
            return History({**self.treated, one.name: self.of(one) | inside})
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
    view = _View(goal, world, history)
    counts = [condition(view) for condition in goal.kind.conditions(goal.sliced)]
    return sum(met for met, _ in counts), sum(total for _, total in counts)


@dataclass(frozen=True, slots=True)
class _View:
    """The parameters of a goal in a state."""

    goal: AlfredGoal
    world: ThorObjects
    history: History

    def fill(self, parameter: str) -> Sequence[ThorObject]:
        if parameter == "object":
            return [thing for thing in self.world if is_wanted(thing, self.goal)]
        found = self.world.of_type(str(getattr(self.goal, parameter)))
        if parameter == "parent":
            return [thing for thing in found if thing.receptacle]
        return [thing for thing in found if thing.pickupable or parameter != "movable"]

    def inside(self, place: ThorObject) -> frozenset[str]:
        return self.world.inside(place)

    def treated(self, treatment: str) -> frozenset[str]:
        return self.history.treated.get(treatment, frozenset())
