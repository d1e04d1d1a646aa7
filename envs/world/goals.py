"""Conditions of goals, and the shortest way to meet them in worlds small enough to search.

A condition is over the parameters that a goal has. It counts: how much of it holds, and how much
there is to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from inhabit.envs.core import Action


class GoalFacts(Protocol):
    """What a goal is judged by."""

    def fill(self, parameter: str) -> Sequence[Any]:
        """The objects that may stand for a parameter of the goal. Each has an `id`."""
        ...

    def inside(self, place: Any) -> frozenset[str]:
        """Ids of the objects in or on another one."""
        ...

    def treated(self, treatment: str) -> frozenset[str]:
        """Ids of the objects that had a treatment."""
        ...


Condition = Callable[[GoalFacts], tuple[int, int]]
Test = Callable[[GoalFacts, Any], bool]


def each(parameter: str, *tests: Test) -> Condition:
    """Counts tests that some object meets; of several tests, one more if one object meets all."""

    def count(view: GoalFacts) -> tuple[int, int]:
        things = view.fill(parameter)
        passed = [{thing.id for thing in things if test(view, thing)} for test in tests]
        if len(passed) > 1:
            passed.append(set.intersection(*passed))
        return sum(map(bool, passed)), len(passed)

    return count


def there(parameter: str, n: int, *tests: Test) -> Condition:
    """Counts one for each object that meets all tests, up to `n`."""

    def count(view: GoalFacts) -> tuple[int, int]:
        things = view.fill(parameter)
        return min(sum(all(test(view, t) for test in tests) for t in things), n), n

    return count


def together(parameter: str, place: str, n: int, *tests: Test) -> Condition:
    """Counts objects that meet all tests in one and the same place, the fullest, up to `n`."""

    def count(view: GoalFacts) -> tuple[int, int]:
        good = {t.id for t in view.fill(parameter) if all(test(view, t) for test in tests)}
        most = max((len(good & view.inside(where)) for where in view.fill(place)), default=0)
        return min(most, n), n

    return count


def at(place: str) -> Test:
    """Whether a thing is in or on an object of another parameter."""
    return lambda view, thing: any(thing.id in view.inside(where) for where in view.fill(place))


def holds(parameter: str) -> Test:
    """Whether an object of another parameter is in or on a thing."""
    return lambda view, thing: any(one.id in view.inside(thing) for one in view.fill(parameter))


def treated(treatment: str) -> Test:
    """Whether a thing had a treatment."""
    return lambda view, thing: thing.id in view.treated(treatment)


S = TypeVar("S", bound=Hashable)


def shortest(
    start: S,
    successors: Callable[[S], Iterable[tuple[Action, S]]],
    solved: Callable[[S], bool],
) -> tuple[Sequence[Action], frozenset[Action]] | None:
    """Breadth-first search over the states that can be reached.

    Args:
        start: the state to begin in.
        successors: every action that succeeds in a state, with the state after it.
        solved: whether a state is one that is looked for.

    Returns:
        A shortest plan, and every action that some shortest plan starts with; both empty if `start`
        is solved. None if nothing that is looked for can be reached.
    """
    plans: dict[S, tuple[Action, ...]] = {start: ()}
    firsts: dict[S, frozenset[Action]] = {start: frozenset()}
    level = [start]
    while level:
        found = [here for here in level if solved(here)]
        if found:
            return plans[found[0]], frozenset().union(*(firsts[here] for here in found))
        following: list[S] = []
        depth = len(plans[level[0]]) + 1
        for here in level:
            for action, after in successors(here):
                if after not in plans:
                    plans[after] = (*plans[here], action)
                    firsts[after] = frozenset()
                    following.append(after)
                if len(plans[after]) == depth:
                    firsts[after] |= firsts[here] or {action}
        level = following
    return None
