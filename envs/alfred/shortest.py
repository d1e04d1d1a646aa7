"""Every first action of a shortest plan, where the goal is at most two actions away.

Exact among all that is offered: every plan of so few actions is tried in copies of the moment, but
for those that can't reach the goal whatever they come to. From farther away there are too many.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from envs.alfred.goals import conditions, is_wanted, treated
from envs.alfred.language import IT
from envs.alfred.objects import Thing
from envs.alfred.reference import Reference
from envs.alfred.situation import Situation
from envs.alfred.types import KNIVES
from envs.core import Action, Outcome

_PUTTING = frozenset({"put", "put down", "drop"})
_TREATING = frozenset({"turn on", "close"})
_TREATMENTS = frozenset(
    {
        "pick_clean_then_place_in_recep",
        "pick_heat_then_place_in_recep",
        "pick_cool_then_place_in_recep",
    }
)


class House(Protocol):
    """An environment whose moments can be copied."""

    def actions(self) -> Sequence[Action]:
        """What is offered."""
        ...

    def vocabulary(self) -> Sequence[Action]:
        """All that can be said."""
        ...

    def act(self, action: Action) -> Outcome:
        """Carry out one action."""
        ...

    def fork(self) -> Self:
        """A copy of this moment."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


H = TypeVar("H", bound=House)


def first_actions(house: H, situation: Callable[[H], Situation]) -> frozenset[Action] | None:
    """Every action that some shortest plan starts with, in all wordings that can be chosen from.

    Args:
        house: at the moment in question, in which nothing is changed.
        situation: what a house, or a copy of it, is in the midst of.

    Returns:
        None if the shortest plan has three actions or more, if there is none, or if all that is
        lacking is a sight of the lamp; empty if the goal is reached.
    """
    here = situation(house)
    met, total = conditions(here.goal, here.world, here.history)
    if met == total:
        return frozenset()
    state = _State.of(here)
    meanings = _meanings(here, house.actions())
    found = [key for key, a in meanings.items() if state.may_finish(a) and _solves(house, a)]
    if not found:
        found = [
            key
            for key, action in meanings.items()
            if state.may_precede(action) and _leads_on(house, action, situation)
        ]
    reference = here.reference()
    wordings = [*house.actions(), *house.vocabulary()]
    return frozenset(a for a in wordings if _meaning(reference, a) in found) or None


_Meaning = tuple[str, ...]
"""A verb, and THOR's id of the thing that it is done to; two actions of one meaning do the same."""


def _meaning(reference: Reference, action: Action) -> _Meaning | None:
    """None where it speaks of what was never seen."""
    if not action.arguments or action.arguments == (IT,) or action.verb == "find":
        return action.verb, *action.arguments
    thing = reference.resolve(action.verb, action.arguments[-1])
    return None if thing is None else (action.verb, thing.id)


def _meanings(here: Situation, offered: Sequence[Action]) -> dict[_Meaning, Action]:
    """One action for each thing that can be meant."""
    reference = here.reference()
    found: dict[_Meaning, Action] = {}
    for action in offered:
        if (meaning := _meaning(reference, action)) is not None:
            found.setdefault(meaning, action)
    return found


def _solves(house: House, action: Action) -> bool:
    copy = house.fork()
    try:
        outcome = copy.act(action)
    finally:
        copy.close()
    return outcome.reason is None and outcome.met == outcome.total


def _leads_on(house: H, action: Action, situation: Callable[[H], Situation]) -> bool:
    """Whether one more action may follow that makes the goal hold."""
    copy = house.fork()
    try:
        if copy.act(action).reason is not None:
            return False
        after = situation(copy)
        state, following = _State.of(after), _meanings(after, copy.actions())
        return any(state.may_finish(a) and _solves(copy, a) for a in following.values())
    finally:
        copy.close()


@dataclass(frozen=True, slots=True)
class _State:
    """What a moment says of which actions a short plan can be made of. It only rules out what
    can't be part of one, whatever the simulator makes of it.
    """

    here: Situation
    held: Thing | None
    carries: bool
    """What is in the hand, or lies in that, is wanted, and needs nothing but its place."""
    placed: bool
    """Something wanted is in its place, and lacks its treatment."""
    lit: bool
    """A lamp of the goal is on, whether or not it is seen."""

    @classmethod
    def of(cls, here: Situation) -> Self:
        """Read it off the moment."""
        goal, world, held = here.goal, here.world, here.held
        lamps = world.of_type(goal.toggle) if goal.toggle is not None else ()
        places = [t for t in world if t.receptacle and t.type == goal.parent]
        inside = frozenset[str]().union(*(world.inside(place) for place in places))
        return cls(
            here,
            held,
            held is not None and _is_ready(here, held),
            goal.type in _TREATMENTS and any(is_wanted(t, goal) and t.id in inside for t in world),
            any(lamp.on for lamp in lamps),
        )

    def may_finish(self, action: Action) -> bool:
        """Whether the action may make the goal hold by itself."""
        if self.here.goal.toggle is not None:
            return self._may_finish_light(action.verb)
        if action.verb in _PUTTING:
            return self.carries
        if action.verb == "slice":
            return self._cuts
        # What lies in its place already may be heated, cooled or cleaned there.
        return action.verb in _TREATING and self.placed

    def may_precede(self, action: Action) -> bool:
        """Whether the action may be the first of two that make the goal hold."""
        if self.here.goal.toggle is not None:
            return self._may_precede_light(action.verb)
        if self.placed:
            return True
        if action.verb == "pick up":
            thing = self.here.reference().resolve("pick up", action.arguments[-1])
            return thing is not None and (thing.type in KNIVES or _is_ready(self.here, thing))
        if action.verb in _PUTTING:  # and then treated where it lies
            return self.here.goal.type in _TREATMENTS
        return self.carries or self._cuts

    @property
    def _cuts(self) -> bool:
        return self.held is not None and self.held.type in KNIVES

    @property
    def _holds_wanted(self) -> bool:
        return self.held is not None and is_wanted(self.held, self.here.goal)

    def _may_finish_light(self, verb: str) -> bool:
        """Something wanted is held, a lamp is on, and that is seen."""
        if not self._holds_wanted:
            return verb == "pick up"
        return verb == "turn on" if not self.lit else verb not in _PUTTING

    def _may_precede_light(self, verb: str) -> bool:
        lacking = (not self._holds_wanted) + (not self.lit)
        if lacking == 0:  # Too much that may be looked at.
            return False
        if self.held is not None and not self._holds_wanted:
            return lacking == 1 and verb in _PUTTING
        if lacking == 2:
            return verb in ("pick up", "turn on")
        return verb not in _PUTTING


def _is_ready(here: Situation, thing: Thing) -> bool:
    """Whether a thing, or something in it, is wanted and treated as the goal asks."""
    goal, ids = here.goal, here.world.inside(thing) | {thing.id}
    wanted: Collection[str] = {t.id for t in here.world if t.id in ids and is_wanted(t, goal)}
    if goal.type in _TREATMENTS:
        wanted = treated(goal, here.history).intersection(wanted)
    return bool(wanted)
