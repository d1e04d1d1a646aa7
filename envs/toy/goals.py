"""The goals of toy tasks, and their shortest plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from inhabit.envs.core import Action
from inhabit.envs.toy.house import HAND, ToyHouse, apply, successors, walk_cost
from inhabit.envs.world.planning import shortest


@dataclass(frozen=True, slots=True)
class ToyGoal:
    """Items that must lie in containers, and containers that must be closed."""

    inside: tuple[tuple[str, str], ...]
    closed: tuple[str, ...] = ()

    def met(self, house: ToyHouse) -> int:
        """Number of conditions that hold."""
        put = sum(house.place(item) == container for item, container in self.inside)
        return put + sum(not house.is_open(container) for container in self.closed)

    @property
    def total(self) -> int:
        """Number of conditions."""
        return len(self.inside) + len(self.closed)


@lru_cache(maxsize=10_000)
def solve(house: ToyHouse, goal: ToyGoal) -> tuple[Sequence[Action], frozenset[Action]]:
    """Breadth-first search over the reachable states of the house.

    Only items that the goal names or the hand holds are searched over: the others cannot matter.

    Returns:
        A shortest plan, and every action that some shortest plan starts with; both empty if the
        goal is met.
    """
    wanted = {item for item, _ in goal.inside} | {house.held()}
    kept = [i for i, item in enumerate(house.items) if item in wanted]
    start = replace(
        house,
        items=tuple(house.items[i] for i in kept),
        places=tuple(house.places[i] for i in kept),
    )
    found = shortest(start, successors, lambda here: goal.met(here) == goal.total)
    if found is not None:
        return found
    raise ValueError(
        f"No way leads from {house} to {goal}: a name in the goal is not in the house."
    )


def cost(plan: Sequence[Action], house: ToyHouse) -> int:
    """Low-level steps of a plan: rooms walked, and one for any other action."""
    total = 0
    for action in plan:
        after, _, _ = apply(house, action)
        total += walk_cost(house.room, after.room) or 1
        house = after
    return total


def in_hand(house: ToyHouse) -> str:
    """The text of an observation: the held item."""
    return f"You have a {house.held()} in your hand." if HAND in house.places else ""
