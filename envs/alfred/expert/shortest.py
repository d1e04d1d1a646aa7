"""The best actions: a search two steps deep, and which actions it tries."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from inhabit.envs.alfred.episode.state import EpisodeState, Reference, out_of_order, unmet
from inhabit.envs.alfred.language.verbs import VERBS
from inhabit.envs.alfred.scenes.scene import is_wanted
from inhabit.envs.alfred.skills.walking import can_look_for, vantage
from inhabit.envs.alfred.thor.body import HIGHEST, HORIZON_STEP, LOWEST, REACH, STEP, AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.things import KNIVES
from inhabit.envs.core import Action, Env, Forkable
from inhabit.envs.simulators.household.types.things import ENCLOSING
from inhabit.envs.template import ActionKind
from inhabit.envs.world.rows import IT

_PUTTING = frozenset(v.name for v in VERBS if v.kind in (ActionKind.PUT, ActionKind.DROP))
_NEAR = REACH + STEP
"""Metres along the floor beyond which no interaction is possible, with a margin: the simulator
measures visibility from the eyes."""
_NODDING = ("open", "turn on", "turn off")
"""Verbs after which the agent may at most have to tilt its head, if they uncover nothing."""
_BESIDE = 0.35
"""Metres beside a receptacle's box at which a dropped object may still fall into it."""


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """The facts of a state that decide which actions can be part of a short plan.

    That holds of the embedded household, in which nothing moves by itself.
    """

    episode: EpisodeState
    held: ThorObject | None
    carries: bool
    """The held object, or one inside it, is a target and needs only to be placed."""
    placed: bool
    """A target, or the object it is cut from, is in its receptacle and can be treated there."""
    lit: bool
    """The goal's lamp is on, whether or not it is in view."""
    places: frozenset[str]
    """Ids of the goal's receptacles and of what they hold; one of them may be held."""
    uncut: frozenset[str]
    """Ids of objects that are in place and would be targets once sliced."""
    treated: frozenset[str]
    """Ids of the appliances for the goal's treatment, and of their contents."""

    @classmethod
    def of(cls, episode: EpisodeState) -> Self:
        """Collect the facts of a state, for the goal that is left."""
        left = unmet(episode)
        if left and left[0] != episode.goal:
            episode = replace(episode, goal=left[0], also=())
        goal, world, held = episode.goal, episode.world, episode.held
        lamps = world.of_type(goal.toggle) if goal.toggle is not None else ()
        places = [t for t in world if t.receptacle and t.type == goal.parent]
        inside = frozenset[str]().union(*(world.inside(place) for place in places))
        treatment = goal.kind.treatment
        treating = world.of_type(*treatment.inside) if treatment is not None else ()
        treated = frozenset[str]().union(*(world.inside(t) | {t.id} for t in treating))
        in_place = [t for t in world if t.id in inside]
        return cls(
            episode,
            held,
            held is not None and _is_ready(episode, held),
            any(t.id in treated for t in in_place if is_wanted(t, goal) or t.type == goal.object),
            any(lamp.on for lamp in lamps),
            inside.union(place.id for place in places),
            frozenset(t.id for t in in_place if t.type == goal.object),
            treated,
        )

    def may_finish(self, action: Action) -> bool:
        """Whether the action alone may solve the task."""
        if self.episode.goal.toggle is not None:
            return self._may_finish_light(action.verb)
        if action.verb == "put":
            return self.carries and self._aim(action) in self.places
        if action.verb == "put down":
            return self.carries and any(place.visible for place in self._open_places)
        if action.verb == "drop":
            return self.carries and self._falls_into_place(self.episode.body.pose)
        if action.verb == "slice":
            return self._cuts and self._aim(action) in self.uncut
        # What lies in its place already may be heated, cooled or cleaned there.
        return self.placed and self._treats(action)

    def may_precede(self, action: Action) -> bool:
        """Whether the action may be the first of two that solve the task."""
        if self.episode.goal.toggle is not None:
            return self._may_precede_light(action)
        if action.verb == "pick up":
            thing = self._thing(action)
            if thing is not None and (_is_ready(self.episode, thing) or thing.type in KNIVES):
                return True
        if action.verb in _PUTTING and self._may_be_treated_after(action):
            return True
        return (
            (self.carries and self._leads_to_place(action))
            or (self._cuts and self._leads_to(action, self._things(self.uncut)))
            or (self.placed and self._leads_to(action, self._treating))
        )

    @property
    def _treating(self) -> Sequence[ThorObject]:
        """The appliances to switch or close for the goal's treatment."""
        treatment = self.episode.goal.kind.treatment
        return () if treatment is None else self.episode.world.of_type(treatment.by)

    @property
    def _cuts(self) -> bool:
        # Slices are new things: what was done to the whole does not count for them.
        cutting = self.held is not None and self.held.type in KNIVES
        return cutting and bool(self.uncut) and self.episode.goal.kind.treatment is None

    @property
    def _holds_wanted(self) -> bool:
        return self.held is not None and is_wanted(self.held, self.episode.goal)

    @property
    def _open_places(self) -> Sequence[ThorObject]:
        """The receptacles that accept an object without being opened first."""
        world = self.episode.world
        return [t for t in self._things(self.places) if not t.shut and world.shut_in(t) is None]

    def _things(self, ids: Iterable[str]) -> Sequence[ThorObject]:
        return [self.episode.world[id] for id in sorted(ids)]

    def _thing(self, action: Action) -> ThorObject | None:
        """The object of an action."""
        return self.episode.reference().resolve(action.verb, action.arguments[-1])

    def _aim(self, action: Action) -> str | None:
        thing = self._thing(action)
        return None if thing is None else thing.id

    def _treats(self, action: Action) -> bool:
        treatment = self.episode.goal.kind.treatment
        right = treatment is not None and action.verb == treatment.verb
        return right and self._aim(action) in {thing.id for thing in self._treating}

    def _may_be_treated_after(self, action: Action) -> bool:
        """Whether a dropped object may be in place, and be treated by one more action."""
        where = self.places & self.treated
        if self.held is not None and self.held.id in self.places:  # A bowl with an apple, say.
            where = self.treated
        near = self._within(_NEAR, self._things(where))
        return near and (action.verb != "put" or self._aim(action) in where)

    def _may_finish_light(self, verb: str) -> bool:
        """A target is held and a lamp is on and in view."""
        if not self._holds_wanted:
            return verb == "pick up"
        return verb == "turn on" if not self.lit else verb not in _PUTTING

    def _may_precede_light(self, action: Action) -> bool:
        verb, goal, world = action.verb, self.episode.goal, self.episode.world
        lacking = (not self._holds_wanted) + (not self.lit)
        if lacking == 0:  # Too much that may be looked at.
            return False
        if self.held is not None and not self._holds_wanted:
            return lacking == 1 and verb in _PUTTING
        if lacking == 2:
            return verb in ("pick up", "turn on")
        last = world.of_type(str(goal.toggle)) if self._holds_wanted else _wanted(self.episode)
        return verb not in _PUTTING and self._leads_to(action, last)

    def _leads_to_place(self, action: Action) -> bool:
        """Whether the held object may reach its receptacle after an action."""
        if action.verb in _PUTTING:
            return False
        if action.verb == "open" and self._uncovers(action, self._things(self.places)):
            return True
        if action.verb == "go to":
            pose = self._pose_after(action)
            if pose is not None and self._falls_into_place(pose):
                return True
        return self._leads_to(action, self._open_places)

    def _leads_to(self, action: Action, things: Sequence[ThorObject]) -> bool:
        """Whether the agent may interact with one of these objects after an action."""
        if action.verb in ("explore", "find"):
            return bool(things)
        if action.verb == "open" and self._uncovers(action, things):
            return True
        if action.verb in _NODDING:
            return self._within(_NEAR, things) and any(self._comes_in_view(t) for t in things)
        if action.verb != "go to":
            return self._within(_NEAR, things)
        if not things or (pose := self._pose_after(action)) is None:
            return False
        visible = self.episode.views.visible(pose)
        return any(t.id in visible or can_look_for(self.episode, pose, t) for t in things)

    def _uncovers(self, action: Action, things: Sequence[ThorObject]) -> bool:
        """Whether opening a receptacle may bring one of these objects within reach."""
        aim = self._thing(action)
        if aim is None:
            return False
        if aim.type not in ENCLOSING:  # What is behind a curtain is not said to be in it.
            return self._within(_NEAR, things)
        outer = (self.episode.world.shut_in(thing) for thing in things)
        return aim.id in {thing.id for thing in (*things, *outer) if thing is not None}

    def _comes_in_view(self, thing: ThorObject) -> bool:
        """Whether tilting the head brings an object into view and reach."""
        episode = self.episode
        with episode.views.away():
            return any(
                thing.id in episode.views.visible(pose) for pose in _tilted(episode.body.pose)
            )

    def _within(self, metres: float, things: Iterable[ThorObject]) -> bool:
        pose = self.episode.body.pose
        return any(thing.reach(pose.x, pose.z) <= metres for thing in things)

    def _pose_after(self, action: Action) -> AgentPose | None:
        """The pose that navigation to an object ends in, if there is one."""
        thing = self._thing(action)
        if thing is None or thing.held or self.episode.world.shut_in(thing) is not None:
            return None
        with self.episode.views.away():
            pose = vantage(self.episode, thing)
            if pose is not None:
                self.episode.views.visible(pose)
        return pose

    def _falls_into_place(self, pose: AgentPose) -> bool:
        """Whether an object dropped in a pose may land in a goal receptacle."""
        if self.held is None:
            return False
        now, hand = self.episode.body.pose, self.held.center
        arm = math.hypot(hand[0] - now.x, hand[2] - now.z)
        turn = math.radians(pose.rotation)
        x, z = pose.x + arm * math.sin(turn), pose.z + arm * math.cos(turn)
        return any(
            place.reach(x, z) <= _BESIDE + _drawn_out(place)
            and place.center[1] - place.size[1] / 2 <= hand[1]
            for place in self._things(self.places - {self.held.id})
        )


def _drawn_out(place: ThorObject) -> float:
    """Metres that a drawer extends beyond its box at most. The box does not move."""
    drawn = place.type == "Drawer" and place.open
    return max(place.size[0], place.size[2]) if drawn else 0.0


def _tilted(pose: AgentPose) -> Sequence[AgentPose]:
    """The same pose with every tilt of the head."""
    levels = {pose.horizon, *range(HIGHEST, LOWEST + 1, HORIZON_STEP)}
    return [replace(pose, horizon=float(level)) for level in sorted(levels)]


def _wanted(episode: EpisodeState) -> Sequence[ThorObject]:
    return [thing for thing in episode.world if is_wanted(thing, episode.goal)]


def _is_ready(episode: EpisodeState, thing: ThorObject) -> bool:
    """Whether an object, or one inside it, is a target with the required treatment."""
    goal, ids = episode.goal, episode.world.inside(thing) | {thing.id}
    wanted: Collection[str] = {t.id for t in _wanted(episode) if t.id in ids}
    if goal.kind.treatment is not None:
        wanted = episode.history.of(goal.kind.treatment).intersection(wanted)
    return bool(wanted)


def first_actions(house: Env, state_of: Callable[[Any], EpisodeState]) -> frozenset[Action] | None:
    """Every action that starts a shortest plan, in every wording that is offered.

    Args:
        house: one that can be forked, at the moment in question, in which nothing is changed.
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


def _solves(house: Env, action: Action, state_of: Callable[[Any], EpisodeState]) -> bool:
    copy = cast(Forkable, house).fork()
    try:
        state_of(copy).unobserved = True
        outcome = copy.act(action)
    finally:
        copy.close()
    return outcome.reason is None and outcome.met == outcome.total


def _leads_on(house: Env, action: Action, state_of: Callable[[Any], EpisodeState]) -> bool:
    """Whether one more action may follow that makes the goal hold."""
    copy = cast(Forkable, house).fork()
    try:
        if copy.act(action).reason is not None:
            return False
        after = state_of(copy)
        state, following = CandidateFilter.of(after), _meanings(after, copy.actions()).values()
        last = [action for action in following if state.may_finish(action)]
        return any(_solves(copy, action, state_of) for action in last)
    finally:
        copy.close()
