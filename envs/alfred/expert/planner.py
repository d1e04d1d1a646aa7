"""The expert: a planner of our own, or ALFRED's recorded plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inhabit.envs.alfred.expert.draft import HiddenError, NoPlanError, PlanDraft
from inhabit.envs.alfred.expert.recipes import solve
from inhabit.envs.alfred.expert.words import put_in_words
from inhabit.envs.alfred.scenes.counterparts import present
from inhabit.envs.alfred.scenes.scene import RecordedStep
from inhabit.envs.alfred.skills.result import Result
from inhabit.envs.alfred.skills.situation import Situation
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.core import Action

_MOST_TRIES = 6
"""Plans that may turn out to need something hidden, before the planner gives up."""


class AlfredPlanner:
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

    def note(self, here: Situation, action: Action, result: Result) -> None:
        """Hear of an action that was tried."""

    def copy(self) -> AlfredPlanner:
        """A planner that knows the same, to go on apart."""
        twin = AlfredPlanner()
        twin._hidden = set(self._hidden)
        return twin


class RecordedPlanner(AlfredPlanner):
    """Says what is left of a recorded plan, through our skills. What failed is not tried again.

    Before each interaction it goes to the thing, unless that is in view and in reach anyway; and
    where the thing has not been seen yet, it explores first: ALFRED's expert knew the room.
    """

    def __init__(self, here: Situation, plan: Sequence[RecordedStep]) -> None:
        super().__init__()
        things = [here.meant.get(step.thing) for step in plan]
        self._left = [
            (step, here.world[id] if id is not None else None)
            for step, id in zip(plan, things, strict=True)
        ]
        self._slices: dict[tuple[str, int | None], str] = {}

    def plan(self, here: Situation) -> Sequence[Action]:
        """The rest of the plan, up to what has no counterpart in the room or can't be found."""
        pose = here.body.pose
        draft = PlanDraft(here.world, here.memory, pose.x, pose.z)
        for step, meant in self._left:
            thing = self._present(here.world, step, meant)
            if thing is None:
                break
            if not _is_so_already(step.verb, thing, first=not draft.steps):
                draft.uncover(thing)
                draft.do(step.verb, thing)
        return put_in_words(here, draft.steps, as_far_as_possible=True)

    def note(self, here: Situation, action: Action, result: Result) -> None:
        """Tick off a step that was tried, and those before it that needed nothing."""
        verbs = [step.verb for step, _ in self._left]
        if action.verb in verbs:
            step, meant = self._left[verbs.index(action.verb)]
            if action.verb == "pick up" and meant is not None and here.held is not None:
                self._slices[meant.id, step.thing.slice] = here.held.id
            del self._left[: verbs.index(action.verb) + 1]
        elif action.verb == "go to" and result.reason is not None:
            del self._left[:1]

    def _present(
        self, world: ThorObjects, step: RecordedStep, meant: ThorObject | None
    ) -> ThorObject | None:
        """The thing of a step as it is now; of a slice, the one that was taken, or will be."""
        if meant is None:
            return None
        if step.thing.slice is None or step.thing.type == meant.type:
            return world.get(meant.id)
        taken = {number: id for (cut, number), id in self._slices.items() if cut == meant.id}
        there = present(world, step.thing, meant.id, taken)
        if there is not None:
            return there
        future = f"{meant.id}|{step.thing.type}_{step.thing.slice}"
        unseen = {**meant.record, "visible": False}
        return replace(meant, id=future, type=step.thing.type, record=unseen)

    def copy(self) -> RecordedPlanner:
        """The same plan, to go on apart."""
        twin = RecordedPlanner.__new__(RecordedPlanner)
        twin._hidden = set(self._hidden)
        twin._left, twin._slices = list(self._left), dict(self._slices)
        return twin


def _is_so_already(verb: str, thing: ThorObject, *, first: bool) -> bool:
    """Whether nothing needs to be done; of later steps that is not known yet."""
    return first and (
        (verb == "open" and thing.open)
        or (verb == "close" and not thing.open)
        or (verb == "turn on" and thing.on)
        or (verb == "turn off" and not thing.on)
    )
