"""Exhaustive search in worlds that are small enough for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from inhabit.envs.core import Action

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
