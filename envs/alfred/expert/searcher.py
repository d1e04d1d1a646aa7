"""An expert that knows only what it has seen, for demonstrations that can be learned from.

The other planner walks straight to the drawer with the spoon, which an agent without that knowledge
cannot learn. This one looks around, and then searches where such objects are usually kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.expert.plan_draft import NoPlanError, PlanStep
from inhabit.envs.alfred.expert.planner import AlfredPlanner
from inhabit.envs.alfred.expert.recipes import solve
from inhabit.envs.alfred.language.grammar import say
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.alfred.language.vocabulary import vocabulary
from inhabit.envs.alfred.scenes.goals import is_wanted
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.skills.exploration import unsearched
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.rooms import kind_of
from inhabit.envs.alfred.world.things import KNIVES, PLACES
from inhabit.envs.core import Action
from inhabit.envs.simulators.household.types.things import ENCLOSING
from inhabit.envs.world.language import IT

_LOOKS = 3
"""Viewpoints to explore before receptacles are searched one by one."""


class Searcher(AlfredPlanner):
    """Plans one action at a time, with names that need no number where possible."""

    def plan(self, episode: EpisodeState) -> Sequence[Action]:
        """The next action; empty if the task is solved or nothing is left to search."""
        unseen = frozenset(_unseen(episode))
        try:
            steps = solve(episode, unseen)
        except NoPlanError:
            step = self._search(episode)
            return () if step is None else (step,)
        return (_said(episode, steps[0]),) if steps else ()

    def copy(self) -> Searcher:
        """A new planner: it has no memory of its own."""
        return Searcher()

    def _search(self, episode: EpisodeState) -> Action | None:
        searched = episode.memory.searched
        if not searched:
            return say("look around")
        if len(searched) < _LOOKS and unsearched(episode) is not None:
            return say("explore")
        place = next(iter(sorted(_places(episode), key=lambda p: _promise(episode, p))), None)
        if place is None:
            return None if unsearched(episode) is None else say("explore")
        if place.shut and place.visible and episode.memory.focus == place.id:
            return _said(episode, PlanStep("open", place))
        return _said(episode, PlanStep("go to", place))


def _unseen(episode: EpisodeState) -> Iterator[str]:
    """The required objects that have not been seen."""
    seen = episode.memory.seen
    for thing in episode.world:
        if thing.id not in seen and not any(id in seen for id in episode.world.inside(thing)):
            yield thing.id


def _places(episode: EpisodeState) -> Iterator[ThorObject]:
    """The places left to search: closed receptacles, and those not yet visited."""
    memory = episode.memory
    for thing in episode.world:
        known = thing.id in memory.seen and thing.receptacle and not thing.pickupable
        refused = {f"go to {thing.id}", f"open {thing.id}"} & memory.refused.keys()
        if not known or refused:
            continue
        if thing.id not in memory.visited or (thing.shut and thing.type in ENCLOSING):
            yield thing


def _promise(episode: EpisodeState, place: ThorObject) -> tuple[object, ...]:
    """Sort key of the search order: near places first, then likely ones."""
    pose = episode.body.pose
    kept = [type for object in _sought(episode) for type in PLACES.get(object, ())]
    before = episode.memory.focus == place.id and place.visible
    likely = kept.index(place.type) if place.type in kept else len(kept)
    return (
        not before,
        place.id in episode.memory.visited,
        likely,
        place.type,
        round(place.reach(pose.x, pose.z), 2),
        place.id,
    )


def _sought(episode: EpisodeState) -> Sequence[str]:
    """The types that are still unknown; the first is searched for first."""
    goal, seen = episode.goal, episode.memory.seen
    known = [thing for thing in episode.world if thing.id in seen or thing.held]
    if not any(is_wanted(t, goal) for t in known) and not _sliceable(goal, known):
        return [str(goal.object)]
    types = {thing.type for thing in known}
    if goal.sliced and not types & KNIVES and not any(is_wanted(t, goal) for t in known):
        return sorted(KNIVES)
    if goal.movable is not None and goal.movable not in types:
        return [goal.movable]
    return [str(goal.object)]


def _sliceable(goal: AlfredGoal, known: Sequence[ThorObject]) -> bool:
    return bool(goal.sliced) and any(t.type == goal.object for t in known)


def _said(episode: EpisodeState, step: PlanStep) -> Action:
    """The step in the action vocabulary, with the shortest unambiguous name."""
    if step.verb == "drop":
        return say("drop")
    extra = (IT,) if step.verb == "put" else ()
    action = say(step.verb, *extra, episode.reference().name(step.verb, step.thing))
    if action in vocabulary(kind_of(t.type for t in episode.world)):
        return action
    return say(step.verb, *extra, word(step.thing.type))
