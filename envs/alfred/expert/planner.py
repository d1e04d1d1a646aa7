"""The expert: plans by recipe, searches for what it has not seen, and plays recorded steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.expert.plan_draft import (
    HiddenError,
    NoPlanError,
    PlanDraft,
    PlanStep,
    to_actions,
)
from inhabit.envs.alfred.expert.recipes import solve
from inhabit.envs.alfred.language.verbs import BY_ACTION, choose, decode, say, vocabulary, word
from inhabit.envs.alfred.scenes.scene import (
    AlfredGoal,
    LowStep,
    RecordedStep,
    RecordedThing,
    is_wanted,
    present,
)
from inhabit.envs.alfred.skills.walking import Result, unsearched
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.world.things import KNIVES, PLACES, kind_of
from inhabit.envs.core import Action
from inhabit.envs.simulators.household.types.things import ENCLOSING
from inhabit.envs.world.rows import IT

_MOST_TRIES = 6
"""Plans that fail on a hidden object before the planner gives up."""


class AlfredPlanner:
    """Plans from any state with full knowledge of it."""

    def __init__(self, *, trying: bool = True) -> None:
        """A planner; `trying` as for `solve`."""
        self._trying = trying
        self._hidden: set[str] = set()

    def plan(self, episode: EpisodeState) -> Sequence[Action]:
        """A plan from the current state; empty if the task is solved or no plan is known."""
        for _ in range(_MOST_TRIES):
            try:
                steps = solve(episode, self._hidden, trying=self._trying)
                return to_actions(episode, _to_the_goal(steps))
            except HiddenError as error:
                self._hidden.add(error.thing.id)
            except NoPlanError:
                break
        return ()

    def note(self, episode: EpisodeState, action: Action, result: Result) -> None:
        """Take note of an executed action."""

    def copy(self) -> AlfredPlanner:
        """An independent copy."""
        twin = AlfredPlanner(trying=self._trying)
        twin._hidden = set(self._hidden)
        return twin


def _to_the_goal(steps: Sequence[PlanStep]) -> Sequence[PlanStep]:
    """The steps without a last tidying up: no goal is reached by closing a door or by going."""
    wanted = list(steps)
    while len(wanted) > 1 and wanted[-1].verb in ("close", "go to"):
        wanted.pop()
    return wanted


class RecordedPlanner(AlfredPlanner):
    """Follows a recorded plan with our skills. A failed step is not repeated.

    Before each interaction it goes to the object, unless the object is visible and within reach.
    It explores first if the object has not been seen yet: ALFRED's expert knew the room.
    """

    def __init__(self, episode: EpisodeState, plan: Sequence[RecordedStep]) -> None:
        super().__init__()
        things = [episode.recorded_ids.get(step.thing) for step in plan]
        self._left = [
            (step, episode.world[id] if id is not None else None)
            for step, id in zip(plan, things, strict=True)
        ]
        self._slices: dict[tuple[str, int | None], str] = {}

    def plan(self, episode: EpisodeState) -> Sequence[Action]:
        """The remaining steps, up to one whose object has no counterpart or cannot be found."""
        pose = episode.body.pose
        draft = PlanDraft(episode.world, episode.memory, pose.x, pose.z)
        for step, original in self._left:
            thing = self._present(episode.world, step, original)
            if thing is None:
                break
            if not _is_so_already(step.verb, thing, first=not draft.steps):
                draft.uncover(thing)
                draft.do(step.verb, thing)
        return to_actions(episode, draft.steps, as_far_as_possible=True)

    def note(self, episode: EpisodeState, action: Action, result: Result) -> None:
        """Mark a step as done, and the steps before it that had no effect."""
        verbs = [step.verb for step, _ in self._left]
        if action.verb in verbs:
            step, original = self._left[verbs.index(action.verb)]
            if action.verb == "pick up" and original is not None and episode.held is not None:
                self._slices[original.id, step.thing.slice] = episode.held.id
            del self._left[: verbs.index(action.verb) + 1]
        elif action.verb == "go to" and result.reason is not None:
            del self._left[:1]

    def _present(
        self, world: ThorObjects, step: RecordedStep, original: ThorObject | None
    ) -> ThorObject | None:
        """The object of a step now; for a slice, the one picked up or the next free one."""
        if original is None:
            return None
        if step.thing.slice is None or step.thing.type == original.type:
            return world.get(original.id)
        taken = {number: id for (cut, number), id in self._slices.items() if cut == original.id}
        there = present(world, step.thing, original.id, taken)
        if there is not None:
            return there
        future = f"{original.id}|{step.thing.type}_{step.thing.slice}"
        unseen = {**original.record, "visible": False}
        return replace(original, id=future, type=step.thing.type, record=unseen)

    def copy(self) -> RecordedPlanner:
        """An independent copy."""
        twin = RecordedPlanner.__new__(RecordedPlanner)
        twin._hidden = set(self._hidden)
        twin._left, twin._slices = list(self._left), dict(self._slices)
        return twin


def _is_so_already(verb: str, thing: ThorObject, *, first: bool) -> bool:
    """Whether the first step is already satisfied. For later steps this is not known yet."""
    return first and (
        (verb == "open" and thing.open)
        or (verb == "close" and not thing.open)
        or (verb == "turn on" and thing.on)
        or (verb == "turn off" and not thing.on)
    )


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


_MOVES: Mapping[str, str] = {
    "MoveAhead": "move ahead",
    "MoveBack": "move back",
    "MoveLeft": "move left",
    "MoveRight": "move right",
    "RotateLeft": "turn left",
    "RotateRight": "turn right",
    "LookUp": "look up",
    "LookDown": "look down",
}


class StepPlanner(AlfredPlanner):
    """Returns the next step of a recording, whether or not the last one succeeded."""

    def __init__(self, steps: Sequence[LowStep], by: Literal["id", "mask"]) -> None:
        super().__init__()
        self._steps = steps
        self._by = by
        self._next = 0
        self._slices: dict[tuple[str, int | None], str] = {}

    def plan(self, episode: EpisodeState) -> Sequence[Action]:
        """The next step; nothing at the end, and where a mask shows nothing that it could mean.

        What has no counterpart here is named by its type, and will not be found.
        """
        if self._next >= len(self._steps):
            return ()
        step = self._steps[self._next]
        if step.thing is None:
            verb = _MOVES.get(step.action)
            return (say(verb),) if verb is not None else ()
        if self._by == "mask" and step.mask:
            thing = choose(episode.body, decode(step.mask), step.action)
            if thing is None:
                return ()
        else:
            thing = self._original(episode, step.thing)
        name = word(step.thing.type) if thing is None else episode.names.of(thing.id)
        verb = BY_ACTION[step.action].name
        return (say(verb, IT, name) if verb == "put" else say(verb, name),)

    def _original(self, episode: EpisodeState, recorded: RecordedThing) -> ThorObject | None:
        whole = episode.recorded_ids.get(recorded)
        if whole is None:
            return None
        taken = {number: id for (cut, number), id in self._slices.items() if cut == whole}
        return present(episode.world, recorded, whole, taken)

    def note(self, episode: EpisodeState, action: Action, result: Result) -> None:
        """Go on to the next step."""
        if self._next >= len(self._steps):
            return
        step = self._steps[self._next]
        self._next += 1
        if step.action == "PickupObject" and step.thing is not None and episode.held is not None:
            whole = episode.recorded_ids.get(step.thing)
            if whole is not None:
                self._slices[whole, step.thing.slice] = episode.held.id

    def copy(self) -> StepPlanner:
        """The same recording at the same step, to go on apart."""
        twin = StepPlanner(self._steps, self._by)
        twin._next, twin._slices = self._next, dict(self._slices)
        return twin
