"""The first actions of all shortest plans, for goals at most two actions away.

The result is exact: every plan of at most two actions is tried in copies of the current state,
except those that cannot reach the goal. Longer plans are too many to try.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self, TypeVar

from inhabit.envs.alfred.episode.progress import out_of_order, unmet
from inhabit.envs.alfred.episode.reference import Reference
from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.expert.candidate_filter import CandidateFilter
from inhabit.envs.core import Action, Outcome
from inhabit.envs.world.language import IT


class ForkableHouse(Protocol):
    """An environment whose state can be copied."""

    def actions(self) -> Sequence[Action]:
        """The plausible actions."""
        ...

    def vocabulary(self) -> Sequence[Action]:
        """The full vocabulary."""
        ...

    def act(self, action: Action) -> Outcome:
        """Execute one action."""
        ...

    def fork(self) -> Self:
        """A copy of the current state."""
        ...

    def close(self) -> None:
        """Release the copy."""
        ...


H = TypeVar("H", bound=ForkableHouse)


def first_actions(house: H, state_of: Callable[[H], EpisodeState]) -> frozenset[Action] | None:
    """Every action that starts a shortest plan, in every wording that is offered.

    Args:
        house: at the moment in question, in which nothing is changed.
        state_of: what a house, or a copy of it, is in the midst of.

    Returns:
        None if the shortest plan has three actions or more, if there is none, or if all that is
        lacking is a sight of the lamp; empty if the goal is reached.
    """
    episode = state_of(house)
    left = unmet(episode)
    if len(left) > 1 or out_of_order(episode):
        return None  # Two goals take three actions at least.
    if not left:
        return frozenset()
    offered = house.actions()
    meanings = _meanings(episode, offered)
    # What may be part of a plan is found out before any is tried: trying takes the simulator
    # into a copy, and asking for the situation brings it back.
    state = CandidateFilter.of(episode)
    last = [key for key, action in meanings.items() if state.may_finish(action)]
    found = [key for key in last if _solves(house, meanings[key], state_of)]
    if not found:
        state_of(house)
        first = [key for key, action in meanings.items() if state.may_precede(action)]
        found = [key for key in first if _leads_on(house, meanings[key], state_of)]
    if not found:
        return None
    reference = state_of(house).reference()
    return frozenset(a for a in [*offered, *house.vocabulary()] if _meaning(reference, a) in found)


_Meaning = tuple[str, ...]
"""A verb and THOR's id of its object; two actions with the same meaning have the same effect."""


def _meaning(reference: Reference, action: Action) -> _Meaning | None:
    """None if it refers to an object that was never seen."""
    if not action.arguments or action.arguments == (IT,) or action.verb == "find":
        return action.verb, *action.arguments
    thing = reference.resolve(action.verb, action.arguments[-1])
    return None if thing is None else (action.verb, thing.id)


def _meanings(episode: EpisodeState, offered: Sequence[Action]) -> dict[_Meaning, Action]:
    """One action for each object that the name may refer to."""
    reference = episode.reference()
    found: dict[_Meaning, Action] = {}
    for action in offered:
        if (meaning := _meaning(reference, action)) is not None:
            found.setdefault(meaning, action)
    return found


def _solves(house: H, action: Action, state_of: Callable[[H], EpisodeState]) -> bool:
    copy = house.fork()
    try:
        state_of(copy).unobserved = True
        outcome = copy.act(action)
    finally:
        copy.close()
    return outcome.reason is None and outcome.met == outcome.total


def _leads_on(house: H, action: Action, state_of: Callable[[H], EpisodeState]) -> bool:
    """Whether one more action may follow that makes the goal hold."""
    copy = house.fork()
    try:
        if copy.act(action).reason is not None:
            return False
        after = state_of(copy)
        state, following = CandidateFilter.of(after), _meanings(after, copy.actions()).values()
        last = [action for action in following if state.may_finish(action)]
        return any(_solves(copy, action, state_of) for action in last)
    finally:
        copy.close()
