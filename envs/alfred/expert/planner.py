"""The expert: a planner of our own, or ALFRED's recorded plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from envs.alfred.counterparts import counterpart
from envs.alfred.expert.draft import Draft, HiddenError, NoPlanError
from envs.alfred.expert.recipes import solve
from envs.alfred.expert.words import put_in_words
from envs.alfred.goals import SLICED
from envs.alfred.objects import Thing, World
from envs.alfred.scene import RecordedStep, RecordedThing
from envs.alfred.situation import Situation
from envs.alfred.skills.result import Result
from envs.core import Action

_MOST_TRIES = 6
"""Plans that may turn out to need something hidden, before the planner gives up."""


class Planner:
    """Plans from any state."""

    def __init__(self) -> None:
        self._hidden: set[str] = set()

    def plan(self, here: Situation) -> Sequence[Action]:
        """A solution from here; empty when solved, or when there is none."""
        for _ in range(_MOST_TRIES):
            try:
                return put_in_words(here, solve(here, self._hidden))
            except HiddenError as error:
                self._hidden.add(error.thing.id)
            except NoPlanError:
                break
        return ()

    def note(self, action: Action, result: Result) -> None:
        """Hear of an action that was tried."""

    def copy(self) -> Planner:
        """A planner that knows the same, to go on apart."""
        twin = Planner()
        twin._hidden = set(self._hidden)
        return twin


class RecordedPlanner(Planner):
    """Says what is left of a recorded plan, through our skills. What failed is not tried again.

    Before each interaction it goes to the thing, unless that is in view and in reach anyway; and
    where the thing has not been seen yet, it explores first: ALFRED's expert knew the room.
    """

    def __init__(self, world: World, plan: Sequence[RecordedStep]) -> None:
        super().__init__()
        things = list(world)
        self._left = [(step, counterpart(_whole(step), things)) for step in plan]

    def plan(self, here: Situation) -> Sequence[Action]:
        """The rest of the plan; empty once something in it has no counterpart in the room."""
        pose = here.body.pose
        draft = Draft(here.world, here.memory, pose.x, pose.z)
        for step, meant in self._left:
            thing = _present(here.world, step, meant)
            if thing is None:
                return ()
            if not _is_so_already(step.verb, thing, first=not draft.steps):
                draft.do(step.verb, thing)
        try:
            return put_in_words(here, draft.steps)
        except NoPlanError:
            return ()

    def note(self, action: Action, result: Result) -> None:
        """Tick off a step that was tried, and those before it that needed nothing."""
        verbs = [step.verb for step, _ in self._left]
        if action.verb in verbs:
            del self._left[: verbs.index(action.verb) + 1]
        elif action.verb == "go to" and result.reason is not None:
            del self._left[:1]

    def copy(self) -> RecordedPlanner:
        """The same plan, to go on apart."""
        twin = RecordedPlanner(World(()), ())
        twin._left = list(self._left)
        return twin


def _whole(step: RecordedStep) -> RecordedThing:
    return step.thing.model_copy(update={"type": step.thing.type.removesuffix(SLICED)})


def _present(world: World, step: RecordedStep, meant: Thing | None) -> Thing | None:
    """The thing of a step as it is now; of a slice, one of those that were cut, or will be."""
    if meant is None:
        return None
    if step.thing.type == meant.type or not step.thing.type.endswith(SLICED):
        return world.get(meant.id)
    slices = [t for t in world.of_type(step.thing.type) if t.id.startswith(f"{meant.id}|")]
    free = [t for t in slices if not t.held] or slices
    if free:
        return min(free, key=lambda t: (not t.visible, t.id))
    return replace(meant, id=f"{meant.id}|{step.thing.type}_1", type=step.thing.type, visible=False)


def _is_so_already(verb: str, thing: Thing, *, first: bool) -> bool:
    """Whether nothing needs to be done; of later steps that is not known yet."""
    return first and (
        (verb == "open" and thing.open)
        or (verb == "close" and not thing.open)
        or (verb == "turn on" and thing.on)
        or (verb == "turn off" and not thing.on)
    )
